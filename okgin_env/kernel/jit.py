"""One way to compile a kernel function.

Every kernel function goes through `compiled`: linked as one program (`okgin_env.kernel.linking`) and kept on disk
(`okgin_env.kernel.cache`). ``NUMBA_DISABLE_JIT=1`` runs everything as plain Python, ``OKGIN_ENV_COMPILER=njit`` compiles each
function by itself with `numba.njit`, as is done where Numba's inner classes are not those that `linking` knows.
(A function that calls itself crashes when it comes from the cache: there is no recursion in the kernel.)
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numba.core.config
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from okgin_env.kernel import cache

try:
    from okgin_env.kernel.linking import Function
except (ImportError, AttributeError):  # another Numba
    Function = None
if os.environ.get("OKGIN_ENV_COMPILER") == "njit":
    Function = None

_config: Any = numba.core.config  # its options are set at run time, unknown to type checkers
_Function = TypeVar("_Function", bound=Callable[..., Any])
PLAIN = bool(_config.DISABLE_JIT)
_lock = threading.Lock()


def compiled(function: _Function) -> _Function:
    """Compiles a kernel function: cached on disk, without the interpreter's lock."""
    if PLAIN:

        @functools.wraps(function)
        def plain(*args: Any) -> Any:
            with np.errstate(over="ignore"):  # random streams wrap around, as they do compiled
                return function(*args)

        return plain  # pyright: ignore[reportReturnType]
    if Function is not None:
        return Function(function)  # pyright: ignore[reportReturnType]
    folder = cache.cache_folder()
    if folder is None:
        return numba.njit(nogil=True)(function)  # pyright: ignore[reportReturnType]
    # The folder is read when a function is decorated, so it is set for that moment only.
    with _lock:
        before, _config.CACHE_DIR = _config.CACHE_DIR, str(folder)
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
