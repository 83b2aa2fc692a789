"""A program on the other end of two pipes: lines sent, lines read, by the clock, and no trace left when it is stopped.

POSIX only. Nothing here knows what the lines mean.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import uuid
import weakref
from collections.abc import Sequence
from pathlib import Path

from okgin_env.players.subprocess.command import need_psutil
from okgin_env.players.subprocess.stopping import TAG, stop

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
        tag = uuid.uuid4().hex
        own, theirs = socket.socketpair()
        guardian = [sys.executable, "-I", "-S", str(Path(__file__).with_name("guardian.py"))]
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [*guardian, str(self._owner), str(theirs.fileno()), *command],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            env={**os.environ, TAG: tag},
            start_new_session=True,
        )
        theirs.close()
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._selector = selectors.DefaultSelector()
        open_ends = (*pipes, self._selector)
        self._stop = weakref.finalize(self, stop, self._process, own, open_ends, tag, self._owner)
        own.setblocking(False)
        self._in, self._out, self._err = (_unblocked(pipe) for pipe in pipes)
        self._control = own
        self._unsent = bytearray()
        self._said = bytearray()
        self._n_said = 0  # bytes since `listen_afresh`
        self._ended = ""  # why nothing more can come
        self._exited = False  # the guardian has said so
        self.stderr = b""
        for fd in (self._out, self._err, own.fileno()):
            self._selector.register(fd, selectors.EVENT_READ)

    @property
    def is_ours(self) -> bool:
        """Whether this process has started it, and not one that it was forked from."""
        return self._owner == os.getpid()

    def send(self, data: bytes) -> None:
        """Queues bytes for the program and writes what it takes at once; the rest goes while a line is awaited."""
        self._unsent += data
        self._write()

    def listen_afresh(self) -> None:
        """Throws away what the program has said unasked.

        Raises:
            Trouble: It is too much ("flood").
        """
        self._n_said = 0
        while self._turn(0.0):
            self._check_flood()
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
                return line
            if len(self._said) > MAX_LINE:
                raise Trouble("flood", f"a line of over {MAX_LINE} bytes")
            self._check_flood()
            left = deadline - time.monotonic()
            if self._ended:
                if self._last_words():
                    continue
                raise Trouble("crash", self._ended)
            if left <= 0:
                raise Trouble("time", "no answer in time")
            self._turn(left)

    def keeps_talking(self, deadline: float) -> bool:
        """Whether the program goes on without a pause until it has said too much."""
        while not self._ended and time.monotonic() < deadline:
            if self._n_said > MAX_SAID:
                return True
            if not self._turn(_QUIET_S):
                return False
        return self._n_said > MAX_SAID

    def wait_end(self, deadline: float) -> None:
        """Ends the program's input and waits until it has ended by itself, or the deadline."""
        if not self._unsent:
            self._process.stdin.close()  # type: ignore[union-attr]
        while not self._ended and (left := deadline - time.monotonic()) > 0:
            self._turn(left)
            self._said.clear()

    def stop(self) -> None:
        """Kills the program and all that it has started, wherever it went; may be called twice."""
        self._stop()

    # --- moving bytes ---------------------------------------------------------------------------------

    def _last_words(self) -> bool:
        """Waits a little for why the program has ended; returns whether it has said something instead."""
        n_before, end = self._n_said, time.monotonic() + _LAST_WORDS_S
        while not self._exited and self._n_said == n_before and time.monotonic() < end:
            self._turn(max(0.0, end - time.monotonic()))
        self._turn(0.0)
        return self._n_said > n_before

    def _check_flood(self) -> None:
        if self._n_said > MAX_SAID:
            raise Trouble("flood", f"over {MAX_SAID} bytes without an answer")

    def _turn(self, wait: float) -> bool:
        """Waits for the pipes and moves what is there; returns whether the program has said something."""
        n_before = self._n_said
        for key, _ in self._selector.select(wait):
            if key.fd == self._in:
                self._write()
            elif key.fd == self._out:
                data = self._read(self._out)
                self._said += data
                self._n_said += len(data)
            elif key.fd == self._err:
                self.stderr = (self.stderr + self._read(self._err))[-MAX_STDERR:]
            else:
                self._read_status()
        return self._n_said > n_before

    def _read(self, fd: int) -> bytes:
        try:
            data = os.read(fd, MAX_LINE)
        except BlockingIOError:
            return b""
        if not data:
            self._selector.unregister(fd)
            if fd == self._out:
                self._ended = self._ended or "it has closed its output"
        return data

    def _read_status(self) -> None:
        """Reads from the guardian that the program has exited, or that the guardian itself is gone."""
        with contextlib.suppress(BlockingIOError):
            try:
                said = self._control.recv(64)
            except ConnectionError:
                said = b""
            self._exited = True
            code = said.strip().decode()
            if code.startswith("-"):
                self._ended = f"it was killed by {_signal_name(-int(code))}"
            else:
                self._ended = f"it exited with status {code}" if code else "it is gone"
            self._selector.unregister(self._control.fileno())

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._in, self._unsent)]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent.clear()
            self._ended = self._ended or "it has closed its input"
        waits = self._in in self._selector.get_map()
        if self._unsent and not waits:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        elif not self._unsent and waits:
            self._selector.unregister(self._in)


def _unblocked(pipe: object) -> int:
    fd: int = pipe.fileno()  # type: ignore[attr-defined]
    os.set_blocking(fd, False)
    return fd


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
