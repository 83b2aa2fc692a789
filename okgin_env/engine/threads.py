"""Compiled calls on shares of many games, a share for each thread."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.utils.errors import shown

_MIN_PER_THREAD = 64  # fewer games than this are not worth handing to another thread


class Threads:
    """The calling thread and those beside it, which start when they are first needed.

    Attributes:
        n: How many threads there are at most, the calling one among them.

    Raises:
        ValueError: No whole number of 1 or more.
    """

    def __init__(self, threads: int, n_games: int) -> None:
        if not isinstance(threads, (int, np.integer)) or threads < 1:
            raise ValueError(f"threads={shown(threads)}; allowed: 1 or more")
        self.n = min(int(threads), max(1, n_games // _MIN_PER_THREAD))
        self._pool: ThreadPoolExecutor | None = None
        self._owner = 0

    def call(
        self, function: Callable[..., object], tables: Any, games: NDArray[np.int64], *more: Any
    ) -> None:
        """Calls `function(tables, games, *more)`, or that in each thread with its share of the games."""
        if self.n == 1 or len(games) < 2 * _MIN_PER_THREAD:
            function(tables, games, *more)
            return
        if self._pool is None or self._owner != os.getpid():  # threads do not survive a fork
            self._pool = ThreadPoolExecutor(self.n - 1)
            self._owner = os.getpid()
        ends = [len(games) * k // self.n for k in range(self.n + 1)]
        own, *others = (games[begin:end] for begin, end in pairwise(ends))
        started = [self._pool.submit(function, tables, part, *more) for part in others]
        function(tables, own, *more)
        for part in started:
            part.result()

    def close(self) -> None:
        """Ends the threads; they start again when they are needed."""
        if self._pool is not None and self._owner == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the threads, which do not travel."""
        return {**self.__dict__, "_pool": None}
