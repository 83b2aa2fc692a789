"""Compiled code on disk: where it is kept, what it stands for, and who compiles it when several processes start at once.

Code comes from a folder beside this file where the wheel brought some that fits this machine, else from the user's cache. Both
are named by a digest of everything that compiled code depends on, so that stale code is never served.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numba.core.config

_config: Any = numba.core.config  # its options are set at run time, unknown to type checkers
SHIPPED = Path(__file__).parent / "machine"  # code that came with the wheel (tools/build_wheel.py)
QUIET = "OKGIN_ENV_QUIET"  # environment variable: nothing is said while the game is compiled
_SUM = hashlib.sha256().digest_size  # bytes of the check sum that a file begins with
_PATIENCE = 600.0  # seconds to wait for another process that compiles
_SILENCE = 1.0  # seconds of compiling before it is said


@cache
def source_digest() -> str | None:
    """Digest of the kernel's sources and of what compiles them; None where there are no sources (a frozen application)."""
    built = f"{numba.__version__} {sys.implementation.cache_tag} {platform.system()} {platform.machine()} {_config.BOUNDSCHECK}"
    sha = hashlib.sha256(built.encode())
    try:
        kernel = resources.files("okgin_env.kernel")
        files = [f for f in kernel.iterdir() if f.name.endswith(".py")]
        for source in sorted(
            [*files, resources.files("okgin_env") / "layout.py"], key=lambda f: f.name
        ):
            sha.update(source.name.encode() + source.read_bytes())
    except OSError:
        return None
    return sha.hexdigest()[:16] if files else None


def _processor() -> tuple[str, set[str]]:
    """The processor that code is compiled for: its name, and the features it has."""
    name = _config.CPU_NAME or llvm.get_host_cpu_name()
    if _config.CPU_FEATURES is not None:
        return name, {f[1:] for f in _config.CPU_FEATURES.split(",") if f[:1] == "+"}
    return name, {f for f, there in llvm.get_host_cpu_features().items() if there}


def describe() -> dict[str, Any]:
    """What code that is compiled now stands for, as it lies beside shipped code."""
    return {"digest": source_digest(), "features": sorted(_processor()[1])}


@cache
def shipped_folder() -> Path | None:
    """The folder with the wheel's own compiled code, if it is of these sources and this processor can run it."""
    try:
        about = json.loads((SHIPPED / "about.json").read_text(encoding="utf-8"))
        fits = about["digest"] == source_digest() and set(about["features"]) <= _processor()[1]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return SHIPPED if fits else None


def _cache_root() -> Path:
    """The folder for compiled code: the user's choice, the user's cache, or a temporary folder."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


@cache
def cache_folder() -> Path | None:
    """A writable folder for this version of the kernel on this processor, or None when there is none."""
    digest = source_digest()
    if digest is None:
        return None
    name, features = _processor()
    target = hashlib.sha256(f"{name} {sorted(features)}".encode()).hexdigest()[:8]
    user = os.getuid() if hasattr(os, "getuid") else "user"
    private = Path(tempfile.gettempdir()) / f"okgin_env-{user}"
    for root in (_cache_root, lambda: private):
        try:
            folder = root() / "okgin_env" / f"kernel-{digest}-{target}"
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=folder):
                pass
            # Code is loaded from here: never from a folder that somebody else could have made, or could replace.
            made = [folder, folder.parent, private] if private in folder.parents else [folder]
            if not hasattr(os, "getuid") or {f.stat().st_uid for f in made} == {os.getuid()}:
                return folder
        except (OSError, RuntimeError):  # RuntimeError: no home folder
            continue
    return None


class Kept:
    """The compiled code of one function on disk, a file for each signature.

    Args:
        function: The Python function.
        source: Text that the code depends on, too; of the kernel's own functions "", they are in the folder's name.
    """

    def __init__(self, function: Callable[..., Any], source: str) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._source = source

    def load(self, args: Any) -> Any:
        """What `save` was given; None if there is nothing."""
        for folder in (shipped_folder(), cache_folder()):
            if folder is not None:
                with suppress(OSError):
                    content = (folder / self._file(args)).read_bytes()
                    if hashlib.sha256(content[_SUM:]).digest() == content[:_SUM]:
                        return pickle.loads(content[_SUM:])
        return None

    def save(self, args: Any, dumped: bytes) -> None:
        """Keeps what was pickled, whole or not at all."""
        folder = cache_folder()
        if folder is None:
            return
        with suppress(OSError), tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(hashlib.sha256(dumped).digest() + dumped)
        with suppress(OSError):
            os.replace(file.name, folder / self._file(args))

    def _file(self, args: Any) -> str:
        return f"{self._name}-{hashlib.sha256(f'{args} {self._source}'.encode()).hexdigest()[:16]}"


def say(text: str) -> None:
    """Says something on standard error, unless that is not wanted."""
    if not os.environ.get(QUIET):
        print(f"okgin_env: {text}", file=sys.stderr, flush=True)


_said = threading.Event()


@contextmanager
def saying_so() -> Iterator[None]:
    """Says once, when it has gone on for a second, that the game is being compiled."""

    def speak() -> None:
        if not _said.is_set():
            _said.set()
            folder = cache_folder()
            kept = f"kept in {folder}" if folder else "kept nowhere, as no folder can be written"
            say(f"compiling the game once, about 12 s, {kept}")

    timer = threading.Timer(_SILENCE, speak)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Waits until no other process compiles; goes ahead after ten minutes, and where files cannot be locked."""
    folder = cache_folder()
    file = None
    if folder is not None:
        with suppress(OSError):
            file = open(folder / "lock", "ab")
    try:
        if file is not None:
            _wait_for(file)
        yield
    finally:
        if file is not None:
            file.close()  # lets the lock go


def _wait_for(file: Any) -> None:
    began, told = time.monotonic(), False
    while time.monotonic() < began + _PATIENCE:
        try:
            if _lock(file):
                return
        except OSError:
            return
        if not told and time.monotonic() > began + _SILENCE:
            told = True
            say("another process compiles the game, waiting for it")
        time.sleep(0.05)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: Any) -> bool:
        """Whether an open file could be locked; raises where files cannot be."""
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _lock(file: Any) -> bool:
        """Whether an open file could be locked; raises where files cannot be."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
