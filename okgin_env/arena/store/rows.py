"""What the store keeps of a task, as bytes and text; read back without believing anything."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from okgin_env.arena.match import Played
from okgin_env.arena.outcome import KNOCK_DEADWOOD, KNOCK_LIMITS, KNOCK_TURNS, Results
from okgin_env.arena.task import MOST, Task
from okgin_env.histories import parse
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS

MAX_DEALS = 1 << 20  # of one row
MAX_TEXT = 1 << 20  # bytes of one row's hands
ROW = np.dtype(
    [
        ("points", "<f8"),
        ("winner", "i1"),
        ("ending", "i1"),
        ("ended_by", "i1"),
        ("turns", "<i2"),
        ("hands", "<i4"),
        ("faults", "<u2", (2, len(FAULTS))),
    ]
)
KNOCKS = (2, 2, KNOCK_LIMITS, KNOCK_TURNS, KNOCK_DEADWOOD)


def agree(task: Task, played: Played, others: Iterable[tuple[Task, Played]]) -> bool:
    """Whether the same deals have the same results, however they are cut into tasks."""
    rows = rows_of(played.results)
    for other, theirs in others:
        first = max(task.first, other.first)
        n = min(task.first + task.deals, other.first + other.deals) - first
        mine = rows[first - task.first :][:n]
        if not np.array_equal(mine, rows_of(theirs.results)[first - other.first :][:n]):
            return False
    return True


def packed(played: Played) -> tuple[Any, ...]:
    """Results, knocks and hands as they are stored, then times."""
    results = played.results
    rows = rows_of(results)
    times = (*results.seconds.tolist(), *results.decisions.tolist())
    knocks = played.knocks.astype("<i8").tobytes()
    shown = "\n".join(str(hand) for hand in played.shown)
    return zlib.compress(rows.tobytes(), 6), zlib.compress(knocks, 6), shown, *times


def rows_of(results: Results) -> np.ndarray:
    """(D, R) `ROW`."""
    rows = np.zeros(results.points.shape, ROW)
    for name in ROW.names or ():
        rows[name] = getattr(results, name)
    return rows


def digest_of(played: Played) -> bytes:
    """Digest of all but the times."""
    results, knocks, shown, *_ = packed(played)
    return hashlib.sha256(results + knocks + shown.encode()).digest()


def unpacked(
    task: Task, n_seats: int, results: bytes, knocks: bytes, shown: str, *times: float
) -> Played:
    """What was packed.

    Raises:
        ValueError: It is damaged.
    """
    if not 0 < task.deals <= MAX_DEALS or len(shown) > MAX_TEXT:
        raise ValueError("a row of an impossible size")
    rows = np.frombuffer(_inflated(results, task.deals * n_seats * ROW.itemsize), ROW)
    rows = rows.reshape(task.deals, n_seats)
    counts = np.frombuffer(_inflated(knocks, 8 * int(np.prod(KNOCKS))), "<i8").reshape(KNOCKS)
    wide = {"points": np.float64, "turns": np.int64, "hands": np.int64, "faults": np.int64}
    columns = {name: rows[name].astype(wide.get(name, np.int8)) for name in ROW.names or ()}
    _check_values(columns)
    spent = np.array([float(t or 0) for t in times])
    if not ((spent >= 0) & (spent < MOST)).all():
        raise ValueError(f"times={spent.tolist()}; allowed: seconds and decisions")
    made = Results(
        task.a, task.b, **columns, seconds=spent[:2], decisions=spent[2:].astype(np.int64)
    )
    hands = [parse(f"{text.strip()}\nend\n") for text in shown.split("\nend\n") if text.strip()]
    return Played(made, counts.astype(np.int64), tuple(hands))


def _check_values(columns: Mapping[str, np.ndarray]) -> None:
    """Checks what tables and figures look things up by.

    Raises:
        ValueError: A number that no hand has.
    """
    allowed = {"winner": (-1, 1), "ending": (0, len(ENDINGS) - 1), "ended_by": (-1, 1)}
    for name, (least, most) in allowed.items():
        if columns[name].min() < least or columns[name].max() > most:
            raise ValueError(f"{name}; allowed: {least} to {most}")
    if not np.isfinite(columns["points"]).all():
        raise ValueError("points; allowed: finite numbers")


def _inflated(packed: bytes, size: int) -> bytes:
    """Unpacks bytes that must come to a size, without unpacking more."""
    inflater = zlib.decompressobj()
    content = inflater.decompress(packed, size)
    if len(content) != size or inflater.unconsumed_tail:
        raise ValueError(f"unpacks to another size than {size} bytes")
    return content
