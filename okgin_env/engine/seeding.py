"""Seeds of many games, as if each were a single environment seeded with seed + i."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from okgin_env.utils.errors import shown


def check_seed(seed: Any) -> int | None:
    """A seed as a plain number, or None: by chance.

    Raises:
        ValueError: It is no whole number, or negative.
    """
    whole = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if seed is not None and not (whole and seed >= 0):
        raise ValueError(f"seed={shown(seed)}; allowed: a whole number, 0 or more")
    return None if seed is None else int(seed)


def game_seeds(seed: int | None, n_games: int) -> NDArray[np.uint64]:
    """(n_games,) stream seeds: of game i what `OklahomaGinEnv.reset(seed=seed + i)` draws.

    Raises:
        ValueError: A bad seed.
    """
    first = check_seed(seed)
    seeds = np.zeros(n_games, np.uint64)
    for i in range(n_games):
        generator, _ = seeding.np_random(None if first is None else first + i)
        seeds[i] = generator.integers(0, 2**64, dtype=np.uint64)
    return seeds
