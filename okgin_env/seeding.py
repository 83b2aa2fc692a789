"""Seeds of many games, as if each were a single environment seeded with seed + i."""

from __future__ import annotations

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray


def game_seeds(seed: int | None, n_games: int) -> NDArray[np.uint64]:
    """(n_games,) stream seeds: of game i what `OklahomaGinEnv.reset(seed=seed + i)` draws."""
    seeds = np.zeros(n_games, np.uint64)
    for i in range(n_games):
        generator, _ = seeding.np_random(None if seed is None else seed + i)
        seeds[i] = generator.integers(0, 2**64, dtype=np.uint64)
    return seeds
