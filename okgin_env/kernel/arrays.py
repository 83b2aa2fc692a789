"""Arrays by their address: one argument of a compiled call in place of many."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np.numpy_support import carray
from numpy.typing import NDArray

from okgin_env.kernel.jit import PLAIN, as_word, compiled
from okgin_env.kernel.state import as_records


@intrinsic
def _pointer(typingctx: Any, address: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = as_word(context, builder, signature, args)
        return builder.inttoptr(word, context.get_value_type(types.voidptr))

    return types.voidptr(address), build


@compiled
def _array_at(address, shape, dtype):
    """The array that lies at an address; nothing keeps it alive but its owner."""
    return carray(_pointer(address), shape, dtype)  # pyright: ignore


def _plain_array_at(address: int, shape: Any, dtype: Any) -> NDArray[Any]:
    """The same for uncompiled runs."""
    found: Any = carray(ctypes.c_void_p(int(address)), shape, np.dtype(dtype))
    return as_records(found) if found.dtype.names else found


array_at: Callable[[Any, Any, Any], Any] = _plain_array_at if PLAIN else _array_at  # pyright: ignore


class Places:
    """Where arrays lie, for compiled code that takes them by `array_at`.

    Args:
        arrays: Arrays that are written into, never replaced: they are kept alive from here, and copies go to their own copies.
        numbers: What else is handed over.

    Attributes:
        table: (K,) int64, the addresses of the arrays, then the numbers.
    """

    def __init__(self, arrays: tuple[NDArray[Any], ...], numbers: tuple[int, ...]) -> None:
        assert all(array.flags.c_contiguous for array in arrays)
        self._arrays, self._numbers = arrays, numbers
        self.table = np.array([*(array.ctypes.data for array in arrays), *numbers], np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and saved as the arrays, whose copies lie elsewhere."""
        return type(self), (self._arrays, self._numbers)
