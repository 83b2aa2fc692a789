"""The arrays that a step of many games writes, and their rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import N_ACTIONS

_INT8 = np.dtype(np.int8)  # arrays are made of it faster than of its class


class Outputs(NamedTuple):
    """The arrays that a step writes.

    Attributes:
        observations: (N, D) int8.
        masks: (N, 108) int8; ones where an episode is over.
        rewards: (N,) float64.
        dones: (N,) bool.
        final_observations: (N, D) int8, last observations where an episode was over and reset at once. The
            one array that is not fresh: copy the rows that are kept.
    """

    observations: NDArray[np.int8]
    masks: NDArray[np.int8]
    rewards: NDArray[np.float64]
    dones: NDArray[np.bool_]
    final_observations: NDArray[np.int8]


class Buffers:
    """Gives fresh arrays to write in.

    Args:
        n_games: N.
        size: Features of an observation.
        written: Whether observations and masks are written; if not they have one row.
    """

    def __init__(self, n_games: int, size: int, written: bool) -> None:
        rows = n_games if written else 1
        self._wide, self._masks = (rows, size), (rows, N_ACTIONS)
        self._none = np.empty((1, size), np.int8)
        self._rewards, self._dones = np.zeros(n_games), np.zeros(n_games, np.bool_)
        self._last_rows = np.empty(self._wide, np.int8)

    def fresh(self, autoreset: bool) -> Outputs:
        """All but `final_observations` are fresh; without `autoreset` nothing is written to those."""
        return Outputs(
            np.empty(self._wide, _INT8),
            np.empty(self._masks, _INT8),
            self._rewards.copy(),
            self._dones.copy(),
            self._last_rows if autoreset else self._none,
        )


class Rows(tuple[NDArray[Any], ...]):
    """The rows of an array, which `np.stack` puts together again in one copy.

    MaskablePPO stacks one mask a game at every step; row by row that takes four times as long for hundreds of games.

    Attributes:
        whole: (N, …), the array.
    """

    whole: NDArray[Any]

    def __new__(cls, whole: NDArray[Any]) -> Rows:
        """The rows of an array."""
        first, *others = whole
        rows = super().__new__(cls, (first.view(_First), *others))
        rows.whole = whole
        return rows


class _First(np.ndarray):
    """A first row, which NumPy asks how to stack what it stands in."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.stack and not kwargs and len(args) == 1 and isinstance(args[0], Rows):
            return args[0].whole.copy()
        return super().__array_function__(func, types, args, kwargs)
