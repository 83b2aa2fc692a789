"""Runs a program, and sees to it that nothing of it outlives whoever wanted it: a script, started by `program.Program`.

Called as ``python -I -S guardian.py PARENT FD COMMAND...`` with the program's own stdin, stdout and stderr. FD is a socket
shared with the process PARENT. The guardian writes a line to it when the program has exited, and when PARENT closes it, or
is gone, kills the program and all that it has started. On Linux it adopts every orphan below it, so that a daemon that has
left the program's group and session is still its child; elsewhere it knows only the group. It ends with status 0 if
it knows that nothing is left.

It imports little, since every start of a bot waits for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

LINUX = sys.platform.startswith("linux")
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
NOT_STARTED = 127  # exit status of a program that could not be executed, as in a shell
_PARENT_EVERY_MS = 500  # how often to look whether the parent is still there
_KILLING_S = 10.0


def _prctl(option: int, value: int) -> None:
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
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for name in ("SIGINT", "SIGHUP", "SIGPIPE", "SIGXFSZ"):  # ignored ones would stay so
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _children() -> list[int]:
    """The guardian's own children, adopted ones too."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        pass
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parent = file.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == os.getpid():
                found.append(int(name))
    return found


def _kill(pid: int, group: bool) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        (os.killpg if group else os.kill)(pid, signal.SIGKILL)


def _reap() -> tuple[dict[int, int], bool]:
    """Exit statuses of children that have ended, and whether any is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, True
        ended[pid] = os.waitstatus_to_exitcode(status)


def _kill_all(program: int) -> bool:
    """Kills the program and all below it; returns whether it is certain that nothing is left."""
    end = time.monotonic() + _KILLING_S
    _kill(program, group=True)
    while time.monotonic() < end:
        for pid in _children() if LINUX else [program]:
            _kill(pid, group=False)
        if not _reap()[1]:
            return LINUX
        time.sleep(0.002)
    return False


def _guard(program: int, parent: int, control: int, wakeup: int) -> None:
    """Returns when the parent has closed the socket or is gone."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wakeup, select.POLLIN)
    while os.getppid() == parent:
        for fd, _ in poll.poll(_PARENT_EVERY_MS):
            if fd == control:
                return
            if signal.SIGTERM in os.read(wakeup, 4096):
                return
        ended, _ = _reap()
        if program in ended:
            os.write(control, b"%d\n" % ended[program])


def main(argv: list[str]) -> int:
    """Runs the command until the parent has had enough; returns the exit status."""
    parent, control, command = int(argv[0]), int(argv[1]), argv[2:]
    os.set_inheritable(control, False)
    wakeup, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    program = _start(command)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):  # the program's pipes close when the program closes them
        os.dup2(nowhere, fd)
    with contextlib.suppress(OSError):  # a broken socket: the parent is gone
        _guard(program, parent, control, wakeup)
    return 0 if _kill_all(program) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
