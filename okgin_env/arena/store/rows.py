"""A row of the store: what has been played of a task as bytes and text, read back without believing anything."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from okgin_env.arena.luck import MOST_COLUMNS, TIERS, Luck
from okgin_env.arena.outcome import KNOCKS, Played, Results
from okgin_env.arena.plan import MOST, Task
from okgin_env.arena.store import consistency
from okgin_env.histories import HandHistory, parse
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS
from okgin_env.rules import Rules
from okgin_env.utils.errors import shown as shown_value
from okgin_env.utils.errors import told

MAX_DEALS = 1 << 20  # of one row
MAX_TEXT = 1 << 20  # bytes of one row's hands
KINDS = ("hands", "matches")
N_LUCK = 5  # fields of a row that are of its luck: none where it was not measured
_MOST_LUCK = 1e6
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
    "ending": _Column("i1", np.int8, 1, len(ENDINGS) - 1),
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
    """Results, knocks and hands as they are stored, then the luck, then times."""
    results, luck = played.results, played.results.luck
    times = (*results.seconds.tolist(), *results.decisions.tolist())
    knocks = played.knocks.astype("<i8").tobytes()
    shown = "\n".join(str(hand) for hand in played.shown)
    rows = zlib.compress(rows_of(results).tobytes(), 6)
    measured: tuple[Any, ...] = (None,) * N_LUCK
    if luck is not None:
        columns = zlib.compress(luck.columns.astype("<f4").tobytes(), 6)
        measured = luck.how, luck.n_values, luck.columns.shape[2], columns, luck.seconds
    return rows, zlib.compress(knocks, 6), shown, *times, *measured


def rows_of(results: Results) -> np.ndarray:
    """(D, R) `ROW`."""
    rows = np.zeros(results.points.shape, ROW)
    for name in COLUMNS:
        rows[name] = getattr(results, name)
    return rows


def digest(task: Task, row: Iterable[Any]) -> str:
    """The digest of a row: of its task and of all that is stored of it, by value and type."""
    sha = hashlib.sha256()
    for part in (*task.series, task.first, task.deals, *row):
        content = part if isinstance(part, bytes) else repr(part).encode()
        sha.update(len(content).to_bytes(8, "little") + content)
    return sha.hexdigest()


def unpacked(task: Task, rules: Rules, row: Sequence[Any], hands: bool = True) -> Played:
    """The object that was packed.

    Args:
        task: What was played.
        rules: The rules of the table.
        row: As `packed`, and the digest.
        hands: Whether to read the hands to look at, too.

    Raises:
        ValueError: It is damaged or made up: a field that is impossible or does not agree with another.
    """
    results, knocks, shown, *rest, stated = row
    times, luck = rest[:-N_LUCK], rest[-N_LUCK:]
    if task.kind not in KINDS[: 1 if rules.target is None else 2]:
        raise ValueError(f"kind={shown_value(task.kind)}; allowed: hands, or matches to a target")
    if not 0 < task.deals <= MAX_DEALS or len(shown) > MAX_TEXT:
        raise ValueError("a row of an impossible size")
    rows = _inflated("results", results, ROW, (task.deals, rules.players))
    counts = _inflated("knocks", knocks, np.dtype("<i8"), KNOCKS).astype(np.int64)
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
    columns["luck"] = None if luck[0] is None else _luck(task, rules, *luck)
    made = Results(task.a, task.b, **columns, seconds=seconds, decisions=decisions)
    consistency.check(made, counts, rules, task.kind)
    kept = tuple(_hands(shown, made, rules)) if hands else ()
    if stated != digest(task, row[:-1]):
        raise ValueError("digest; allowed: that of the row")
    return Played(made, counts, kept)


def _luck(
    task: Task, rules: Rules, how: Any, n_values: Any, n_columns: Any, content: Any, seconds: Any
) -> Luck:
    """The luck in a row's hands.

    Raises:
        ValueError: It is damaged.
    """
    if not (isinstance(how, str) and re.fullmatch(f"({'|'.join(TIERS[1:])}) [0-9a-f]{{16}}", how)):
        raise ValueError("luck_how; allowed: tier and fingerprint of what measured it")
    sizes = isinstance(n_values, int) and isinstance(n_columns, int)
    if not sizes or not 1 <= n_values <= n_columns <= MOST_COLUMNS:
        raise ValueError(f"luck_columns; allowed: 1 to {MOST_COLUMNS}, points among them")
    shape = (task.deals, rules.players, n_columns)
    columns = _inflated("luck", content, np.dtype("<f4"), shape).astype(np.float32)
    if not (np.abs(columns) <= _MOST_LUCK).all():
        raise ValueError(f"luck; allowed: -{_MOST_LUCK:g} to {_MOST_LUCK:g}")
    if not (isinstance(seconds, float) and 0 <= seconds < MOST):
        raise ValueError("luck_seconds; allowed: 0 or more")
    return Luck(how, n_values, columns, task.deals * rules.players, seconds)


def _hands(shown: str, results: Results, rules: Rules) -> Iterator[HandHistory]:
    """The hands to look at of a row.

    Raises:
        ValueError: One is no hand, or none of the row's.
    """
    for text in shown.split("\nend\n"):
        if not text.strip():
            continue
        try:
            hand = parse(f"{text.strip()}\nend\n")
        except ValueError as error:
            raise ValueError(f"shown: {told(error)}") from error
        if not _is_of(hand, results, rules):
            found = shown_value((hand.rules.label, *hand.names, hand.ending, *hand.points))
            raise ValueError(f"shown: a hand of {found}; allowed: one of the row's")
        yield hand


def _is_of(hand: HandHistory, results: Results, rules: Rules) -> bool:
    """Whether a hand has the rules and players of results, and one of them is its."""
    if hand.rules != rules or {*hand.names} != {results.a, results.b}:
        return False
    for seat in [k for k, name in enumerate(hand.names) if name == results.a]:
        others = sum(hand.points) - hand.points[seat]
        points = hand.points[seat] - others / (rules.players - 1)
        same = np.isclose(results.points[:, seat], points)
        if (same & (results.ending[:, seat] == ENDINGS.index(hand.ending))).any():
            return True
    return False


def _inflated(name: str, packed: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array from bytes that must come to its size, without unpacking more."""
    size, inflater = int(np.prod(shape)) * dtype.itemsize, zlib.decompressobj()
    try:
        content = inflater.decompress(packed, size + 1)  # one more: on to the checksum at the end
    except zlib.error as error:
        raise ValueError(f"{name}: {told(error)}") from error
    if len(content) != size or not inflater.eof or inflater.unused_data:
        raise ValueError(f"{name}: unpacks to something else than {size} bytes with their checksum")
    return np.frombuffer(content, dtype).reshape(shape)
