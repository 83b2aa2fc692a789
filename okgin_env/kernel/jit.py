"""One way to compile a kernel function, with a cache that never serves stale code.

Numba's cache stamps only the file a function stands in: edit a callee in another file and the old machine
code of its callers is served. (A function that calls itself crashes when it comes from the cache: there is no recursion
in the kernel.) So every kernel function is compiled through `compiled`, which points the cache at a
folder named by a digest of all kernel sources. ``NUMBA_DISABLE_JIT=1`` runs everything as plain Python.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numba.core.config
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_config: Any = numba.core.config  # its options are set at run time, unknown to type checkers
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _digest() -> str:
    """Digest of everything that compiled code depends on."""
    folder = Path(__file__).parent
    built = f"{numba.__version__} {sys.version} {platform.machine()} {_config.BOUNDSCHECK}"
    sha = hashlib.sha256(built.encode())
    for source in sorted([*folder.glob("*.py"), folder.parent / "layout.py"]):
        sha.update(source.name.encode() + source.read_bytes())
    return sha.hexdigest()[:16]


def _cache_root() -> Path:
    """The folder for compiled code: the user's choice, the user's cache, or a temporary folder."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _cache_folder() -> str | None:
    """A writable folder for this version of the kernel, or None when there is none."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    private = Path(tempfile.gettempdir()) / f"okgin_env-{user}"
    for root in (_cache_root(), private):
        folder = root / "okgin_env" / f"kernel-{_digest()}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=folder):
                pass
            # Code is loaded from here: never from a folder that somebody else could have made, or could replace.
            made = [folder, folder.parent, root] if root == private else [folder]
            if not hasattr(os, "getuid") or {f.stat().st_uid for f in made} == {os.getuid()}:
                return str(folder)
        except (OSError, RuntimeError):  # RuntimeError: no home folder
            continue
    return None


PLAIN = bool(_config.DISABLE_JIT)
_CACHE = None if PLAIN else _cache_folder()
_lock = threading.Lock()


def compiled(function: _Function) -> _Function:
    """Compiles a kernel function: cached on disk, without the interpreter's lock."""
    if PLAIN:

        @functools.wraps(function)
        def plain(*args: Any) -> Any:
            with np.errstate(over="ignore"):  # random streams wrap around, as they do compiled
                return function(*args)

        return plain  # pyright: ignore[reportReturnType]
    if _CACHE is None:
        return numba.njit(nogil=True)(function)  # pyright: ignore[reportReturnType]
    # The folder is read when a function is decorated, so it is set for that moment only.
    with _lock:
        before, _config.CACHE_DIR = _config.CACHE_DIR, _CACHE
        try:
            return numba.njit(nogil=True, cache=True)(function)  # pyright: ignore[reportReturnType]
        finally:
            _config.CACHE_DIR = before


def _plain_popcount(mask: Any) -> int:
    """Number of set bits."""
    return int(mask).bit_count()


def _plain_lowest(mask: Any) -> int:
    """Index of the lowest set bit (of a mask that is not empty)."""
    return (int(mask) & -int(mask)).bit_length() - 1


def as_word(context: Any, builder: Any, signature: Any, args: Any, k: int = 0) -> Any:
    """Argument k of an intrinsic as a 64-bit word."""
    return context.cast(builder, args[k], signature.args[k], types.uint64)


@intrinsic
def _popcount(typingctx: Any, mask: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(as_word(context, builder, signature, args))

    return types.int64(mask), build


@intrinsic
def _lowest(typingctx: Any, mask: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        not_zero = ir.Constant(ir.IntType(1), 1)
        return builder.cttz(as_word(context, builder, signature, args), not_zero)

    return types.int64(mask), build


popcount: Callable[[Any], int] = _plain_popcount if PLAIN else _popcount  # pyright: ignore
lowest: Callable[[Any], int] = _plain_lowest if PLAIN else _lowest  # pyright: ignore
