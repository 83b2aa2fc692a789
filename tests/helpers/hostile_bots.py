"""Bots that do what bots do when they go wrong: ``python -S hostile_bots.py BEHAVIOUR [FILE]``.

Those that start other processes write their ids to FILE, one a line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path


def say(message: object) -> None:
    print(json.dumps(message), flush=True)


def hear() -> dict:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def until_request() -> dict:
    """Answers hello, and reads on to the first request."""
    while (message := hear())["type"] != "request":
        if message["type"] == "hello":
            say({"type": "hello", "name": sys.argv[1]})
    return message


def hang() -> None:
    while True:
        time.sleep(1)


def note(pid: int) -> None:
    with open(sys.argv[2], "a") as file:
        file.write(f"{pid}\n")


def child_that_hangs(daemon: bool) -> None:
    """Leaves a process behind that ignores all it can; a daemon leaves the group and the family, too."""
    read, write = os.pipe()
    if os.fork() == 0:
        if daemon:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.environ.clear()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        note(os.getpid())
        os.write(write, b"x")
        hang()
    os.read(read, 1)  # it is up
    if daemon:
        os.wait()


def play_legally() -> None:
    while True:
        message = hear()
        if message["type"] == "request":
            say({"type": "move", "id": message["id"], "move": message["legal"][0]})


def crash_mid_hand() -> None:
    request = until_request()
    say({"type": "move", "id": request["id"], "move": request["legal"][0]})
    while hear()["type"] != "request":
        pass
    raise RuntimeError("broken in the middle")


def flood(text: str) -> None:
    until_request()
    while True:
        sys.stdout.write(text)


def answer(line: str) -> None:
    request = until_request()
    sys.stdout.write(line.replace("ID", str(request["id"])))
    sys.stdout.flush()


def leak(daemon: bool) -> None:
    request = until_request()
    child_that_hangs(daemon)
    say({"type": "move", "id": request["id"], "move": request["legal"][0]})
    play_legally()


def early() -> None:
    """Answers the first request before it comes, and never again."""
    hear()
    say({"type": "hello"})
    for number in range(1, 4):
        say({"type": "move", "id": number, "move": "take"})
    hang()


def chatter() -> None:
    """Fills stderr, and plays."""
    request = until_request()
    sys.stderr.write("chatter " * 50_000 + "the end")
    sys.stderr.flush()
    say({"type": "move", "id": request["id"], "move": request["legal"][0]})
    play_legally()


def other_ids() -> None:
    """Answers other requests first."""
    request = until_request()
    for number in (request["id"] - 1, 0, request["id"]):
        say({"type": "move", "id": number, "move": request["legal"][0]})
    play_legally()


def gaps() -> None:
    """Writes empty lines before and after each of its answers, flushed apart."""
    while True:
        message = hear()
        if message["type"] in ("hello", "request"):
            answer = {"type": "hello"}
            if message["type"] == "request":
                answer = {"type": "move", "id": float(message["id"]), "move": message["legal"][0]}
            print(flush=True)
            say(answer)
            print(" \r", flush=True)
            print(flush=True)


def unasked(text: str) -> None:
    """Writes something between two questions, for the first that follows takes it in, then answers on a new line."""
    request = until_request()
    say({"type": "move", "id": request["id"], "move": request["legal"][0]})
    sys.stdout.write(text)
    sys.stdout.flush()
    request = until_request()
    sys.stdout.write(" and so on\n")
    say({"type": "move", "id": request["id"], "move": request["legal"][0]})
    play_legally()


def kill_guardian() -> None:
    """Leaves a daemon, then kills its own parent."""
    until_request()
    child_that_hangs(daemon=False)
    os.kill(os.getppid(), signal.SIGKILL)
    hang()


def escape() -> None:
    """Leaves a daemon with another program and no environment, then kills its own parent."""
    until_request()
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        note(os.getpid())
        os.set_inheritable(write, False)  # it closes when the other program begins
        os.execve(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(1000)"], {})
    os.close(write)
    os.read(read, 1)
    os.wait()
    os.kill(os.getppid(), signal.SIGKILL)
    hang()


def stop_guardian() -> None:
    """Stops its own parent, and plays on."""
    request, parent = until_request(), os.getppid()
    os.kill(parent, signal.SIGSTOP)
    while Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.01)
    say({"type": "move", "id": request["id"], "move": request["legal"][0]})
    play_legally()


def up_and_hang() -> None:
    until_request()
    note(os.getpid())
    child_that_hangs(daemon=True)
    hang()


BEHAVIOURS = {
    "crash-at-start": lambda: sys.exit("\x1b[31mno such\nluck"),
    "hang-at-start": hang,
    "nonsense-at-start": lambda: (say({"type": "hi"}), hang()),
    "exit-early": lambda: (until_request(), sys.exit(0)),
    "crash-mid-hand": crash_mid_hand,
    "hang": lambda: (until_request(), hang()),
    "flood": lambda: flood("x" * 10_000),
    "flood-lines": lambda: flood('{"type":"move","id":0,"move":"draw"}\n' * 100),
    "flood-nonsense": lambda: flood("y\n" * 5_000),
    "half-line": lambda: (answer('{"type":"move","id":ID,"mo'), hang()),
    "half-line-exit": lambda: answer('{"type":"move","id":ID,"mo'),
    "wrong-json": lambda: (answer('{"type":"move","id":ID,"move":}\n'), hang()),
    "deep-json": lambda: (answer("[" * 60_000 + "\n"), hang()),
    "not-text": lambda: (until_request(), os.write(1, b"\xff\xfe\n"), hang()),
    "wrong-types": lambda: (answer('{"type":"move","id":ID,"move":["draw"]}\n'), hang()),
    "wrong-id": lambda: (answer('{"type":"move","id":true,"move":"draw"}\n'), hang()),
    "illegal": lambda: (answer('{"type":"move","id":ID,"move":"discard As"}\n'), hang()),
    "no-action": lambda: (answer('{"type":"move","id":ID,"move":"fly"}\n'), hang()),
    "closes-input": lambda: (until_request(), os.close(0), play_legally()),
    "leak-child": lambda: leak(daemon=False),
    "daemon": lambda: leak(daemon=True),
    "early": early,
    "chatter": chatter,
    "other-ids": other_ids,
    "gaps": gaps,
    "begun-line": lambda: unasked('{"type":"mo'),
    "full-pipe": lambda: unasked("thinking " * 8_000),
    "kill-guardian": kill_guardian,
    "escape": escape,
    "stop-guardian": stop_guardian,
    "up-and-hang": up_and_hang,
}

if __name__ == "__main__":
    BEHAVIOURS[sys.argv[1]]()
