"""Runs a program, and sees to it that nothing of it outlives whoever wanted it: a script, started by `program.Program`.

Called as ``python -I -S guardian.py PARENT FD COMMAND...`` with the program's own stdin, stdout and stderr. FD is the writing
end of a pipe: the guardian writes a line with the program's status into it when the program has exited. On SIGTERM, or when the
process PARENT is gone, it kills the program and all that it has started. On Linux it adopts every orphan below it, so that a
daemon that has left the program's group and session is still its child; elsewhere it knows only the group.

It imports little, since every start of a bot waits for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator

LINUX = sys.platform.startswith("linux")
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
NOT_STARTED = 127  # exit status of a program that could not be executed, as in a shell
_PARENT_EVERY_S = 0.5  # how often to look whether the parent is still there
_KILLING_S = 10.0
_WAKING = (signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM)


def prctl(option: int, value: int) -> None:
    """Calls Linux's prctl; elsewhere does nothing."""
    if LINUX:
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _start(command: list[str]) -> int:
    """Starts the program in a session of its own; returns its process id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()  # its own group: it can neither get a terminal's Ctrl-C nor signal the guardian's
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for name in ("SIGINT", "SIGHUP", "SIGPIPE", "SIGXFSZ"):  # ignored ones would stay so
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAKING)
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _children() -> Iterator[int]:
    """The guardian's own children, adopted ones too, where /proc lists them."""
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                yield int(name)


def _reap() -> Iterator[tuple[int, int]]:
    """Ids and exit statuses of children that have ended.

    Raises:
        ChildProcessError: None is left.
    """
    while (ended := os.waitpid(-1, os.WNOHANG))[0]:
        yield ended[0], os.waitstatus_to_exitcode(ended[1])


def _kill_all(program: int) -> None:
    """Kills the program's group and all below the guardian, until none is left."""
    end = time.monotonic() + _KILLING_S
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < end:
            for pid in _children() if LINUX else [program]:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            for _ in _reap():
                pass
            time.sleep(0.002)


def _guard(program: int, parent: int, told: int) -> None:
    """Returns when the parent has had enough or is gone."""
    while os.getppid() == parent and signal.sigwait(_WAKING) != signal.SIGTERM:
        with contextlib.suppress(ChildProcessError):
            for pid, status in _reap():
                if pid == program:
                    os.write(told, b"%d\n" % status)


def main(argv: list[str]) -> None:
    """Runs the command until the parent has had enough."""
    parent, told, command = int(argv[0]), int(argv[1]), argv[2:]
    os.set_inheritable(told, False)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAKING)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would keep exit statuses back
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    program = _start(command)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):  # the program's pipes close when the program closes them
        os.dup2(nowhere, fd)
    signal.setitimer(signal.ITIMER_REAL, _PARENT_EVERY_S, _PARENT_EVERY_S)
    with contextlib.suppress(OSError):  # a broken pipe: the parent is gone
        _guard(program, parent, told)
    _kill_all(program)


if __name__ == "__main__":
    main(sys.argv[1:])
