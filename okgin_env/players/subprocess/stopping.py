"""Ending a program for good: itself, its children, and whatever has slipped out of its group."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

TAG = "OKGIN_BOT"  # environment variable, different for each start: whoever has it belongs to that program
_STOP_S = 12.0  # the guardian has this long; then the sweep goes over it
_MAX_SWEEPS = 20


def stop(
    guardian: subprocess.Popen, control: socket.socket, open_ends: Sequence, tag: str, owner: int
) -> None:
    """Lets the guardian kill its program, then kills what it may have missed.

    Args:
        guardian: The process of `guardian.py`.
        control: The socket shared with it.
        open_ends: What else is to be closed.
        tag: The value of `TAG` in the program's environment.
        owner: Id of the process that started it. In another one, forked since, copies are closed and no more.
    """
    if os.getpid() != owner:  # a forked copy: the program is the other process's
        guardian.returncode = 0  # nor is the guardian ours to wait for
        for end in (control, *open_ends):
            end.close()
        return
    import psutil

    below: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        below = psutil.Process(guardian.pid).children(recursive=True)
    with contextlib.suppress(OSError):
        control.shutdown(socket.SHUT_RDWR)  # unlike closing it, heard even if a fork has a copy
    control.close()
    try:
        guardian.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        guardian.kill()
        guardian.wait()
    for end in open_ends:
        end.close()
    _kill_each(below, lambda process: True)
    for _ in range(_MAX_SWEEPS):  # what is killed may just have started something
        if not _kill_each(psutil.process_iter(), lambda process: _has_tag(process, tag)):
            return


def _has_tag(process: psutil.Process, tag: str) -> bool:
    import psutil

    return process.environ().get(TAG) == tag and process.status() != psutil.STATUS_ZOMBIE


def _kill_each(
    processes: Iterable[psutil.Process], chosen: Callable[[psutil.Process], bool]
) -> int:
    """Kills the chosen of some processes that are still running; returns how many it has killed."""
    import psutil

    n_killed = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.is_running() and process.pid != os.getpid() and chosen(process):
                process.kill()
                n_killed += 1
    return n_killed
