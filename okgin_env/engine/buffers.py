"""The arrays that a step of many games writes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import N_ACTIONS, layout

_MAPPED_BYTES = 1 << 17  # from this size on glibc maps an array anew each time


class Written(NamedTuple):
    """What a step writes.

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


def unused(players: int, match: bool) -> Written:
    """Arrays of one row for `step_games` where no seat is a learner's and nothing is written."""
    size = layout(players, match).size
    return Written(
        np.zeros((1, size), np.int8),
        np.zeros((1, N_ACTIONS), np.int8),
        np.zeros(1),
        np.zeros(1, np.bool_),
        np.zeros((1, size), np.int8),
    )


class Blank:
    """Gives fresh arrays to write in, for N games with observations of D features."""

    def __init__(self, n_games: int, size: int) -> None:
        self._n, self._size = n_games, size
        self._none = np.empty((1, size), np.int8)
        self._last_rows = np.empty((n_games, size), np.int8)
        if self._last_rows.nbytes > _MAPPED_BYTES:
            _keep_big_arrays_in_the_heap()

    def rows(self, autoreset: bool) -> Written:
        """All but `final_observations` are fresh; without `autoreset` nothing is written to those."""
        n = self._n
        return Written(
            np.empty((n, self._size), np.int8),
            np.empty((n, N_ACTIONS), np.int8),
            np.zeros(n),
            np.zeros(n, np.bool_),
            self._last_rows if autoreset else self._none,
        )


def _keep_big_arrays_in_the_heap() -> None:
    """Makes glibc keep the memory of arrays of a step for the next step.

    Fresh arrays of some hundred kilobytes are mapped anew each time, which costs more than filling them. Once a bigger block
    has been freed, glibc takes blocks up to its size from the heap and keeps them there.
    """
    block = np.empty(31 << 20, np.uint8)
    block[:: 1 << 20] = 0
    del block
