"""A row of the store: what has been played of a task as bytes and text, read back without believing anything."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from okgin_env.arena.outcome import KNOCKS, Played, Results
from okgin_env.arena.plan import MOST, Task
from okgin_env.histories import parse
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS
from okgin_env.rules import Rules
from okgin_env.utils.errors import shown as shown_value

MAX_DEALS = 1 << 20  # of one row
MAX_TEXT = 1 << 20  # bytes of one row's hands
_GREATEST = float(np.finfo(np.float64).max)


class _Column(NamedTuple):
    """A field of `Results`: its type in the store and in memory, and what is allowed, since tables are looked up by it."""

    stored: str
    kept: type
    least: float
    most: float


COLUMNS = {
    "points": _Column("<f8", np.float64, -_GREATEST, _GREATEST),
    "winner": _Column("i1", np.int8, -1, 1),
    "ending": _Column("i1", np.int8, 0, len(ENDINGS) - 1),
    "ended_by": _Column("i1", np.int8, -1, 1),
    "turns": _Column("<i2", np.int64, 0, (1 << 15) - 1),
    "hands": _Column("<i4", np.int64, 0, (1 << 31) - 1),
    "faults": _Column("<u2", np.int64, 0, (1 << 16) - 1),
}
_SHAPES = {"faults": (2, len(FAULTS))}
ROW = np.dtype([(name, c.stored, _SHAPES.get(name, ())) for name, c in COLUMNS.items()])


def agree(task: Task, played: Played, others: Iterable[tuple[Task, Played]]) -> bool:
    """Whether the same deals have the same results, however they are cut into tasks."""
    rows = rows_of(played.results)
    for other, theirs in others:
        both = range(max(task.first, other.first), min(task.end, other.end))
        mine = rows[both.start - task.first :][: len(both)]
        same = rows_of(theirs.results)[both.start - other.first :][: len(both)]
        if not np.array_equal(mine, same):
            return False
    return True


def packed(played: Played) -> tuple[Any, ...]:
    """Results, knocks and hands as they are stored, then times."""
    results = played.results
    times = (*results.seconds.tolist(), *results.decisions.tolist())
    knocks = played.knocks.astype("<i8").tobytes()
    shown = "\n".join(str(hand) for hand in played.shown)
    return zlib.compress(rows_of(results).tobytes(), 6), zlib.compress(knocks, 6), shown, *times


def rows_of(results: Results) -> np.ndarray:
    """(D, R) `ROW`."""
    rows = np.zeros(results.points.shape, ROW)
    for name in COLUMNS:
        rows[name] = getattr(results, name)
    return rows


def unpacked(
    task: Task, rules: Rules, results: bytes, knocks: bytes, shown: str, *times: float
) -> Played:
    """The object that was packed.

    Raises:
        ValueError: It is damaged.
    """
    if not 0 < task.deals <= MAX_DEALS or len(shown) > MAX_TEXT:
        raise ValueError("a row of an impossible size")
    rows = inflated(results, ROW, (task.deals, rules.players))
    counts = inflated(knocks, np.dtype("<i8"), KNOCKS).astype(np.int64)
    columns: dict[str, Any] = {
        name: rows[name].astype(column.kept) for name, column in COLUMNS.items()
    }
    for name, (_, _, least, most) in COLUMNS.items():
        if not ((columns[name] >= least) & (columns[name] <= most)).all():
            raise ValueError(f"{name}; allowed: {least:g} to {most:g}")
    spent = np.array([float(t or 0) for t in times])
    if not ((spent >= 0) & (spent < MOST)).all():
        raise ValueError(f"times={spent.tolist()}; allowed: seconds and decisions")
    seconds, decisions = spent[:2], spent[2:].astype(np.int64)
    made = Results(task.a, task.b, **columns, seconds=seconds, decisions=decisions)
    hands = [parse(f"{text.strip()}\nend\n") for text in shown.split("\nend\n") if text.strip()]
    for hand in hands:
        if hand.rules != rules or {*hand.names} != {task.a, task.b}:
            found = shown_value((hand.rules.label, *hand.names))
            raise ValueError(f"a hand of {found}; allowed: of these rules and players")
    return Played(made, counts, tuple(hands))


def inflated(packed: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array from bytes that must come to its size, without unpacking more."""
    size, inflater = int(np.prod(shape)) * dtype.itemsize, zlib.decompressobj()
    content = inflater.decompress(packed, size + 1)  # one more: on to the checksum at the end
    if len(content) != size or not inflater.eof or inflater.unused_data:
        raise ValueError(f"unpacks to something else than {size} bytes with their checksum")
    return np.frombuffer(content, dtype).reshape(shape)
