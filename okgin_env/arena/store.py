"""Results as they come, in one SQLite file: whole rows only, so that a killed tournament goes on where it was.

A row is a task: some deals of two players in one kind of game. It holds plain numbers and texts, and reading a file
runs nothing and believes nothing: sizes and names are checked.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env.arena.match import Played
from okgin_env.arena.outcome import KNOCK_DEADWOOD, KNOCK_LIMITS, KNOCK_TURNS, Results
from okgin_env.histories import parse
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS
from okgin_env.rules import Rules

FORMAT = "okgin_env results 1"
MAX_DEALS = 1 << 20  # of one row
MAX_TEXT = 1 << 20  # bytes of one row's hands
_ROW = np.dtype(
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
_KNOCKS = (2, 2, KNOCK_LIMITS, KNOCK_TURNS, KNOCK_DEADWOOD)
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE players (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);
CREATE TABLE played (
    seed TEXT, a TEXT, b TEXT, kind TEXT, first INTEGER, deals INTEGER,
    results BLOB NOT NULL, knocks BLOB NOT NULL, shown TEXT NOT NULL,
    seconds_a REAL, seconds_b REAL, decisions_a INTEGER, decisions_b INTEGER,
    PRIMARY KEY (seed, a, b, kind, first)
);
"""


@dataclass(frozen=True)
class Task:
    """A run of the paired deals of a seed for two players: what an engine plays and the store keeps as one row.

    Attributes:
        seed: Seed of the deals.
        a: Player a's name.
        b: Player b's name.
        kind: "hands" or "matches".
        first: The first deal.
        deals: How many.
    """

    seed: int
    a: str
    b: str
    kind: str
    first: int
    deals: int


class Store:
    """Results of a tournament in a file, or in memory.

    Args:
        path: The file; None: nothing outlives the process.
        rules: The rules of the tournament; a file with other rules is refused. None: those of the file.

    Raises:
        ValueError: The file is no result file, or one of other rules.
        OSError: It cannot be read or written.
    """

    def __init__(self, path: Path | None, rules: Rules | None = None) -> None:
        self.path = path
        with self._said():
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=30)
            self._db.execute("PRAGMA trusted_schema = OFF")
            if not self._is_made():
                if rules is None:
                    raise ValueError(f"results file '{path}' is empty; allowed: a file of results")
                self._create(rules)
        self.rules = self._rules(rules)

    def _is_made(self) -> bool:
        return self._db.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone() is not None

    def _create(self, rules: Rules) -> None:
        rows = {"format": FORMAT, "rules": rules.label}
        with self._whole():
            if self._is_made():
                return  # by another process, this moment
            for statement in _TABLES.split(";"):
                self._db.execute(statement)
            self._db.executemany("INSERT INTO about VALUES (?, ?)", rows.items())

    def about(self) -> dict[str, str]:
        """What the file says of itself: format, rules, and what it was made with (`note`).

        Raises:
            ValueError: It is not one of this package.
        """
        try:
            return dict(self._rows("SELECT name, value FROM about"))
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"results file '{self.path}' holds no results of this package"
            ) from error

    def _rules(self, wanted: Rules | None) -> Rules:
        about = self.about()
        if about.get("format") != FORMAT:
            raise ValueError(
                f"results file '{self.path}' has format {about.get('format')!r}; allowed: {FORMAT!r}"
            )
        rules = Rules.from_label(about.get("rules", ""))
        if wanted is not None and wanted != rules:
            raise ValueError(
                f"results file '{self.path}' has rules {rules.label}; allowed: {wanted.label}, or another file"
            )
        return rules

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """All or nothing of what is written inside."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _said(self) -> Iterator[None]:
        """SQLite's errors in one line with the file's name."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            kind = OSError if isinstance(error, sqlite3.OperationalError) else ValueError
            raise kind(f"results file '{self.path}': {error}") from error

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._said():
            return self._db.execute(query, values).fetchall()

    def note(self, versions: Mapping[str, str]) -> None:
        """Adds what results were made with, as `provenance.versions` has it; several of a kind are kept, in order."""
        with self._said(), self._whole():
            about = self.about()
            for name, new in versions.items():
                known = [part for part in about.get(name, "").split(", ") if part]
                added = [part for part in new.split(", ") if part not in known]
                row = (name, ", ".join([*known, *added]))
                self._db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", row)

    def versions(self) -> dict[str, str]:
        """What the results were made with, by name."""
        about = sorted(self.about().items())
        return {name: value for name, value in about if name not in ("format", "rules")}

    def seat(self, fingerprints: dict[str, str]) -> None:
        """Notes who plays; a player of a known name must be the same as before.

        Raises:
            ValueError: It is another.
        """
        known = self.fingerprints()
        for name, fingerprint in fingerprints.items():
            if known.get(name, fingerprint) != fingerprint:
                raise ValueError(
                    f"player {name} is not the one in '{self.path}' (it or its code has changed); allowed: "
                    "the same player, another name, or another file"
                )
        with self._said(), self._whole():
            rows = list(fingerprints.items())
            self._db.executemany("INSERT OR IGNORE INTO players VALUES (?, ?)", rows)

    def fingerprints(self) -> dict[str, str]:
        """Fingerprints by player's name."""
        return dict(self._rows("SELECT name, fingerprint FROM players"))

    def tasks(self) -> list[Task]:
        """Everything that has been played, in order.

        Raises:
            ValueError: The file is damaged: no tasks, or some deals twice.
        """
        columns = "seed, a, b, kind, first, deals"
        rows = self._rows(f"SELECT {columns} FROM played ORDER BY {columns}")
        tasks = [task for row in rows if (task := _task(*row)) is not None]
        twice = any(_overlap(one, next_one) for one, next_one in pairwise(tasks))
        if len(tasks) < len(rows) or twice:
            raise ValueError(f"results file '{self.path}' is damaged: it lists no whole tasks")
        return tasks

    def add(self, task: Task, played: Played) -> None:
        """Keeps what has been played, at once and whole; what another process has kept meanwhile is not kept twice.

        Raises:
            ValueError: Some of the deals are there, but not the same or not cut the same.
        """
        with self._said(), self._whole():
            same = self._overlapping(task)
            if same == [task] and _digest(self.get(task)) == _digest(played):
                return
            if same:
                raise ValueError(
                    f"results file '{self.path}' has got deals of {task.a} against {task.b} from another process; "
                    "allowed: the same command again, which goes on from them"
                )
            self._insert([(task, *_packed(played))])

    def _overlapping(self, task: Task) -> list[Task]:
        """The tasks that hold some of a task's deals."""
        rows = self._rows(
            "SELECT seed, a, b, kind, first, deals FROM played WHERE seed = ? AND a = ? AND b = ? AND kind = ? "
            "AND first < ? AND first + deals > ? ORDER BY first",
            (*_key(task), task.first + task.deals, task.first),
        )  # fmt: skip
        return [Task(int(seed), *rest) for seed, *rest in rows]

    def _insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Inserts tasks with what is stored of them, inside of a transaction."""
        keyed = [(*_key(task), task.first, task.deals, *rest) for task, *rest in rows]
        self._db.executemany(f"INSERT INTO played VALUES ({', '.join('?' * 13)})", keyed)

    def get(self, task: Task) -> Played:
        """What was played.

        Raises:
            ValueError: The row is damaged.
        """
        key = (*_key(task), task.first)
        rows = self._rows(
            "SELECT results, knocks, shown, seconds_a, seconds_b, decisions_a, decisions_b FROM played "
            "WHERE seed = ? AND a = ? AND b = ? AND kind = ? AND first = ?", key,
        )  # fmt: skip
        try:
            return _unpacked(task, self.rules.players, *rows[0])
        except (ValueError, TypeError, IndexError, zlib.error) as error:
            raise ValueError(f"results file '{self.path}': {task} is damaged: {error}") from error

    def merge(self, other: Store) -> int:
        """Takes over the rows of another file of whose deals this one has none.

        Returns:
            How many rows were new.

        Raises:
            ValueError: Other rules, another player of the same name, or the same deals with other results.
        """
        if other.rules != self.rules:
            raise ValueError(
                f"'{other.path}' has rules {other.rules.label}; allowed: {self.rules.label}, as in '{self.path}'"
            )
        theirs = other.tasks()
        self.seat(other.fingerprints())
        new = []
        for task in theirs:
            mine = self._overlapping(task)
            if not mine:
                new.append(task)
            elif not _agree(task, other.get(task), [(t, self.get(t)) for t in mine]):
                raise ValueError(
                    f"'{other.path}' and '{self.path}' both have deals of {task.a} against {task.b} with seed "
                    f"{task.seed}, and not the same; allowed: another seed"
                )
        with self._said(), self._whole():
            self._insert((task, *_packed(other.get(task))) for task in new)
        self.note(other.versions())
        return len(new)

    def digest(self) -> str:
        """Digest of all results in order: the same however they were cut into rows, and however long they took."""
        sha = hashlib.sha256(self.rules.label.encode())
        for (seed, a, b, kind), tasks in groupby(
            self.tasks(), lambda t: (t.seed, t.a, t.b, t.kind)
        ):
            sha.update(f"{seed} {a!r} {b!r} {kind}".encode())
            knocks = np.zeros(_KNOCKS, "<i8")
            for task in tasks:
                row = self.get(task)
                sha.update(_rows(row.results).tobytes())
                knocks += row.knocks
            sha.update(knocks.tobytes())
        return sha.hexdigest()

    def close(self) -> None:
        """Closes the file."""
        self._db.close()


def _overlap(a: Task, b: Task) -> bool:
    same = (a.seed, a.a, a.b, a.kind) == (b.seed, b.a, b.b, b.kind)
    return same and a.first < b.first + b.deals and b.first < a.first + a.deals


def _key(task: Task) -> tuple[str, str, str, str]:
    """What a task's deals are found by."""
    return str(task.seed), task.a, task.b, task.kind


def _task(seed: Any, a: Any, b: Any, kind: Any, first: Any, deals: Any) -> Task | None:
    """The task that a row is of; None: a row that cannot be of one."""
    texts = all(isinstance(value, str) for value in (seed, a, b, kind))
    numbers = all(isinstance(value, int) and value >= 0 for value in (first, deals))
    if not (texts and numbers and re.fullmatch("[0-9]{1,1000}", seed)):
        return None
    return Task(int(seed), a, b, kind, first, deals)


def _agree(task: Task, played: Played, others: Iterable[tuple[Task, Played]]) -> bool:
    """Whether the same deals have the same results, however they are cut into tasks."""
    rows = _rows(played.results)
    for other, theirs in others:
        first = max(task.first, other.first)
        n = min(task.first + task.deals, other.first + other.deals) - first
        mine = rows[first - task.first :][:n]
        if not np.array_equal(mine, _rows(theirs.results)[first - other.first :][:n]):
            return False
    return True


def _packed(played: Played) -> tuple[Any, ...]:
    """Results, knocks and hands as they are stored, then times."""
    results = played.results
    rows = _rows(results)
    times = (*results.seconds.tolist(), *results.decisions.tolist())
    knocks = played.knocks.astype("<i8").tobytes()
    shown = "\n".join(str(hand) for hand in played.shown)
    return zlib.compress(rows.tobytes(), 6), zlib.compress(knocks, 6), shown, *times


def _rows(results: Results) -> np.ndarray:
    """(D, R) `_ROW`."""
    rows = np.zeros(results.points.shape, _ROW)
    for name in _ROW.names or ():
        rows[name] = getattr(results, name)
    return rows


def _digest(played: Played) -> bytes:
    results, knocks, shown, *_ = _packed(played)
    return hashlib.sha256(results + knocks + shown.encode()).digest()


def _unpacked(
    task: Task, n_seats: int, results: bytes, knocks: bytes, shown: str, *times: float
) -> Played:
    if not 0 < task.deals <= MAX_DEALS or len(shown) > MAX_TEXT:
        raise ValueError("a row of an impossible size")
    rows = np.frombuffer(_inflated(results, task.deals * n_seats * _ROW.itemsize), _ROW)
    rows = rows.reshape(task.deals, n_seats)
    counts = np.frombuffer(_inflated(knocks, 8 * int(np.prod(_KNOCKS))), "<i8").reshape(_KNOCKS)
    wide = {"points": np.float64, "turns": np.int64, "hands": np.int64, "faults": np.int64}
    columns = {name: rows[name].astype(wide.get(name, np.int8)) for name in _ROW.names or ()}
    _check_values(columns)
    spent = np.array([float(t or 0) for t in times])
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
