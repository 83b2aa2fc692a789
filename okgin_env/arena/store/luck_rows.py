"""The luck of stored hands, in a table of its own that a file has once there is any: results without luck stay as they are."""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np

from okgin_env.arena.luck import MOST_COLUMNS, TIERS, Luck
from okgin_env.arena.plan import MOST, Task
from okgin_env.arena.store.rows import inflated

TABLE = """CREATE TABLE luck (
    seed TEXT, a TEXT, b TEXT, kind TEXT, first INTEGER,
    how TEXT NOT NULL, n_values INTEGER NOT NULL, n_columns INTEGER NOT NULL, columns BLOB NOT NULL, seconds REAL,
    PRIMARY KEY (seed, a, b, kind, first)
)"""
FIELDS = "how, n_values, n_columns, columns, seconds"
_MOST_POINTS = 1e6


def packed(luck: Luck) -> tuple[Any, ...]:
    """The `FIELDS` of some hands' luck."""
    content = zlib.compress(luck.columns.astype("<f4").tobytes(), 6)
    return luck.how, luck.n_values, luck.columns.shape[2], content, luck.seconds


def unpacked(
    task: Task, n_seats: int, how: Any, n_values: Any, n_columns: Any, content: Any, seconds: Any
) -> Luck:
    """The luck that was packed.

    Raises:
        ValueError: It is damaged.
    """
    if not (isinstance(how, str) and re.fullmatch(f"({'|'.join(TIERS[1:])}) [0-9a-f]{{16}}", how)):
        raise ValueError("luck: how it was measured")
    sizes = isinstance(n_values, int) and isinstance(n_columns, int)
    if not sizes or not 1 <= n_values <= n_columns <= MOST_COLUMNS:
        raise ValueError("luck: its number of columns")
    shape = (task.deals, n_seats, n_columns)
    columns = inflated(content, np.dtype("<f4"), shape).astype(np.float32)
    if not (np.abs(columns) <= _MOST_POINTS).all():
        raise ValueError(f"luck: columns; allowed: -{_MOST_POINTS:g} to {_MOST_POINTS:g}")
    if not (isinstance(seconds, float) and 0 <= seconds < MOST):
        raise ValueError("luck: its seconds")
    return Luck(how, n_values, columns, task.deals * n_seats, seconds)
