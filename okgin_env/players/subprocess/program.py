"""A program on the other end of two pipes: lines sent, lines read, by the clock, and no trace left when it is stopped.

POSIX only. Nothing here knows what the lines mean.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
import uuid
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from okgin_env.players.subprocess.command import need_psutil
from okgin_env.players.subprocess.stopping import TAG, adopt, is_stopped, stop

MAX_LINE = 1 << 16  # bytes of a line
MAX_SAID = 1 << 18  # bytes between a question and its answer
MAX_STDERR = 2048  # bytes of stderr that are kept
_QUIET_S = 0.25  # a program that says nothing for so long has stopped talking
_LAST_WORDS_S = 0.5  # how long to wait for why a program has closed its pipes


class Trouble(Exception):
    """A program that does not do what it should.

    Attributes:
        fault: One of `players.base.FAULTS`.
    """

    def __init__(self, fault: str, text: str) -> None:
        super().__init__(text)
        self.fault = fault


class Program:
    """A running program.

    Args:
        command: The program's path and its arguments.

    Attributes:
        stderr: The last `MAX_STDERR` bytes the program wrote there.
    """

    def __init__(self, command: Sequence[str]) -> None:
        need_psutil()
        adopt()
        tag = uuid.uuid4().hex
        guardian = [sys.executable, "-I", "-S", str(Path(__file__).with_name("guardian.py"))]
        self._owner = os.getpid()
        ends = zip(os.pipe(), ("rb", "wb"), strict=True)
        status, told = (os.fdopen(fd, mode, 0) for fd, mode in ends)
        with told:
            process = subprocess.Popen(
                [*guardian, str(self._owner), str(told.fileno()), *command],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[told.fileno()],
                env={**os.environ, TAG: tag},
                start_new_session=True,
            )
        self._guardian = process.pid
        adopt(process.pid)
        pipes: tuple[Any, ...] = (process.stdin, process.stdout, process.stderr, status)
        self._stop = weakref.finalize(self, stop, process, pipes, tag, self._owner)
        self._input = pipes[0]
        self._in, self._out, self._err, self._status = (pipe.fileno() for pipe in pipes)
        os.set_blocking(self._in, False)
        self._open = {self._out, self._err, self._status}  # what is read from
        self._unsent = bytearray()
        self._said = bytearray()
        self._n_said = 0  # bytes since `listen_afresh`
        self._is_old = False  # the line that comes was begun before `listen_afresh`
        self._ended = ""  # why nothing more can come
        self.stderr = b""

    @property
    def is_ours(self) -> bool:
        """Whether this process has started it, and not one that it was forked from."""
        return self._owner == os.getpid()

    def send(self, data: bytes) -> None:
        """Queues bytes for the program and writes what it takes at once; the rest goes while a line is awaited."""
        self._unsent += data
        self._write()

    def listen_afresh(self) -> None:
        """Throws away what the program has said unasked; a line that it has begun will be thrown away whole.

        Raises:
            Trouble: It is too much ("flood"), or the program has stopped its guardian ("crash").
        """
        if is_stopped(self._guardian):
            raise Trouble("crash", "it has stopped its guardian")
        self._n_said = 0
        while self._turn(
            _QUIET_S if self._n_said >= MAX_LINE else 0.0
        ):  # it may wait for a full pipe
            self._check_flood()
        if self._said:
            self._is_old = not self._said.endswith(b"\n")
        self._said.clear()
        self._n_said = 0

    def line(self, deadline: float) -> bytes:
        """The next line, without its end.

        Args:
            deadline: When it must have come, by `time.monotonic`.

        Raises:
            Trouble: The program has ended ("crash"), is late ("time") or says too much ("flood").
        """
        while True:
            end = self._said.find(b"\n", 0, MAX_LINE + 1)
            if end >= 0:
                line = bytes(self._said[:end])
                del self._said[: end + 1]
                if not self._is_old:
                    return line
                self._is_old = False
                continue
            if self._is_old:
                self._said.clear()
            if len(self._said) > MAX_LINE:
                raise Trouble("flood", f"a line of over {MAX_LINE} bytes")
            self._check_flood()
            left = deadline - time.monotonic()
            if self._ended:
                if not self._last_words():
                    raise Trouble("crash", self._ended)
            elif left <= 0:
                raise Trouble("time", "no answer in time")
            else:
                self._turn(left)

    def keeps_talking(self, deadline: float) -> bool:
        """Whether the program goes on without a pause until it has said too much."""
        while self._n_said <= MAX_SAID and not self._ended and time.monotonic() < deadline:
            if not self._turn(_QUIET_S):
                return False
        return self._n_said > MAX_SAID

    def wait_end(self, deadline: float) -> None:
        """Ends the program's input and waits until it has ended by itself, or the deadline."""
        if not self._unsent:
            self._input.close()
        self._until(lambda: bool(self._ended), deadline)

    def stop(self) -> None:
        """Kills the program and all that it has started, wherever it went; may be called twice."""
        self._stop()

    # --- moving bytes ---------------------------------------------------------------------------------

    def _last_words(self) -> bool:
        """Waits a little for why the program has ended; returns whether it has said something instead."""
        n_before, end = self._n_said, time.monotonic() + _LAST_WORDS_S
        self._until(lambda: self._status not in self._open or self._n_said > n_before, end)
        return self._turn(0.0) or self._n_said > n_before

    def _check_flood(self) -> None:
        if self._n_said > MAX_SAID:
            raise Trouble("flood", f"over {MAX_SAID} bytes without an answer")

    def _until(self, is_so: Callable[[], bool], deadline: float) -> None:
        """Moves bytes until something is so, or the deadline."""
        while not is_so() and (left := deadline - time.monotonic()) > 0:
            self._turn(left)

    def _turn(self, wait: float) -> bool:
        """Waits for the pipes and moves what is there; returns whether the program has said something."""
        n_before, poll = self._n_said, select.poll()
        for fd in self._open:
            poll.register(fd, select.POLLIN)
        if self._unsent:
            poll.register(self._in, select.POLLOUT)
        for fd, _ in poll.poll(1000 * wait):
            if fd == self._in:
                self._write()
                continue
            data = os.read(fd, MAX_LINE)
            if fd == self._out:
                self._n_said += len(data)
                if self._n_said <= MAX_SAID + MAX_LINE:  # more is a flood, and is not kept
                    self._said += data
            elif fd == self._err:
                self.stderr = (self.stderr + data)[-MAX_STDERR:]
            if fd == self._status:
                self._ended = _ending(data.decode())
            elif fd == self._out and not data:
                self._ended = self._ended or "it has closed its output"
            if fd == self._status or not data:
                self._open.discard(fd)
        return self._n_said > n_before

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._in, self._unsent)]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent.clear()
            self._ended = self._ended or "it has closed its input"


def _ending(status: str) -> str:
    """The guardian's line about how the program has exited, in words; it is empty if the guardian itself is gone."""
    if not status.startswith("-"):
        return f"it exited with status {status.strip()}" if status else "it is gone"
    try:
        name = signal.Signals(-int(status)).name
    except ValueError:
        name = f"signal {-int(status)}"
    return f"it was killed by {name}"
