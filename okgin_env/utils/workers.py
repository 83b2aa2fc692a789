"""Worker processes that end with the process that wants them, even one that is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from multiprocessing.connection import Connection


def obey(leash: Connection) -> None:
    """Begins a worker: it ends when the parent lets go of the pipe's other end; Ctrl-C is the parent's business.

    Args:
        leash: The receiving end of a pipe of which the parent keeps the sending end, and never uses it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(leash,), daemon=True).start()


def _end_with_parent(leash: Connection) -> None:
    """Waits until the parent lets go of its end, by closing it or by dying; programs of players notice and end, too."""
    with contextlib.suppress(EOFError, OSError):
        leash.recv_bytes()
    os._exit(1)
