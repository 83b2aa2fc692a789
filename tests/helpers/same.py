"""Deep equality of what environments return, and legal moves for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_same(ours: Any, theirs: Any, where: str) -> None:
    """Asserts the equality of observations, arrays and infos, types of arrays included."""
    if isinstance(theirs, tuple):
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            check_same(a, b, f"{where}[{k}]")
    elif isinstance(theirs, dict):
        assert set(ours) == set(theirs), (where, set(ours) ^ set(theirs))
        for key, value in theirs.items():
            check_same(ours[key], value, f"{where}[{key}]")
    elif isinstance(theirs, np.ndarray) and theirs.dtype == object:
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            check_same(a, b, f"{where}[{k}]")
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype, where
        assert np.array_equal(ours, theirs), where
    else:
        assert ours == theirs, where


def legal_actions(
    rng: np.random.Generator, masks: NDArray[Any], illegal: float = 0.0
) -> NDArray[np.int64]:
    """(N,) random legal actions, a few of them any action at all."""
    chosen = [int(rng.choice(np.flatnonzero(mask))) for mask in masks]
    return np.array([a if rng.random() > illegal else int(rng.integers(108)) for a in chosen])
