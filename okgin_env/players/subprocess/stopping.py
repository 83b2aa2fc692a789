"""The end of a program: its guardian kills it with all that it has started, and what the guardian missed is killed here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from okgin_env.players.subprocess.guardian import PR_SET_CHILD_SUBREAPER, prctl

if TYPE_CHECKING:
    import psutil

TAG = "OKGIN_BOT"  # environment variable, different for each start: whoever has it belongs to that program
_STOP_S = 12.0  # the guardian has this long; then the sweep goes over it
_REAP_S = 0.5  # how long to wait for what has been killed
_MAX_SWEEPS = 20
_guardians: set[int] = set()  # ids of those that this process has started


def adopt(guardian: int | None = None) -> None:
    """Has Linux give this process the children of a guardian that is killed, as long as it has guardians.

    Args:
        guardian: Id of one that has been started; None: one is about to be.
    """
    if guardian is not None:
        _guardians.add(guardian)
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def stop(guardian: subprocess.Popen, pipes: Iterable[IO[bytes]], tag: str, owner: int) -> None:
    """Lets the guardian kill its program, then kills what it may have missed.

    Args:
        guardian: The process of `guardian.py`.
        pipes: What is to be closed.
        tag: The value of `TAG` in the program's environment.
        owner: Id of the process that started it. In another one, forked since, copies are closed and no more.
    """
    if os.getpid() != owner:
        guardian.returncode = 0  # it is the other process's to wait for
        for pipe in pipes:
            pipe.close()
        return
    import psutil

    missed: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        missed = psutil.Process(guardian.pid).children(recursive=True)
    guardian.terminate()
    guardian.send_signal(signal.SIGCONT)  # it may have been stopped
    try:
        guardian.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        guardian.kill()
        guardian.wait()
    _guardians.discard(guardian.pid)
    for pipe in pipes:
        pipe.close()
    for _ in range(_MAX_SWEEPS):  # what is killed may just have started something
        adopted = _adopted() if guardian.returncode else []
        for process in (*missed, *adopted):
            with contextlib.suppress(psutil.Error):
                process.kill()  # not one that has its id from it: psutil compares when they began
        for process in adopted:
            with contextlib.suppress(psutil.Error):
                process.wait(_REAP_S)
        missed = [process for process in psutil.process_iter() if _has_tag(process, tag)]
        if not missed and not adopted:
            break
    if not _guardians:
        prctl(PR_SET_CHILD_SUBREAPER, 0)


def is_stopped(pid: int) -> bool:
    """Whether a child of this process has been stopped, by a signal such as SIGSTOP."""
    if not hasattr(os, "waitid"):
        return False
    with contextlib.suppress(ChildProcessError):  # it has ended
        stopped = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
        return stopped is not None
    return False


def _adopted() -> list[psutil.Process]:
    """The children that this process has from a guardian that was killed, which have left its session as all programs do.

    Not its own: workers stay in its session, and the other programs are below their guardians.
    """
    import psutil

    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(OSError):
            if child.pid not in _guardians and os.getsid(child.pid) != os.getsid(0):
                found.append(child)
    return found


def _has_tag(process: psutil.Process, tag: str) -> bool:
    """Whether a process is running and belongs to a program."""
    import psutil

    with contextlib.suppress(psutil.Error):
        is_running = process.status() != psutil.STATUS_ZOMBIE
        return is_running and process.environ().get(TAG) == tag
    return False
