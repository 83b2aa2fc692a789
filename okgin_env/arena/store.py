"""Results as they come, in one SQLite file: whole rows only, so that a killed tournament goes on where it was.

A row is a task: some deals of two players in one kind of game. It holds plain numbers and texts, and reading a file
runs nothing and believes nothing: sizes and names are checked.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env.arena.match import Played
from okgin_env.arena.outcome import KNOCK_DEADWOOD, KNOCK_LIMITS, KNOCK_TURNS, Results
from okgin_env.histories import parse
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

    def __init__(
        self, path: Path | None, rules: Rules | None = None, about: dict[str, str] | None = None
    ) -> None:
        self.path = path
        with self._said():
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=30)
            self._db.execute("PRAGMA trusted_schema = OFF")
            found = self._db.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
            if found is None:
                if rules is None:
                    raise ValueError(f"results file '{path}' is empty; allowed: a file of results")
                self._create(rules, about or {})
        self.about = self._about()
        self.rules = self._rules(rules)

    def _create(self, rules: Rules, about: dict[str, str]) -> None:
        rows = {"format": FORMAT, "rules": rules.label, **about}
        with self._whole():
            for statement in _TABLES.split(";"):
                self._db.execute(statement)
            self._db.executemany("INSERT INTO about VALUES (?, ?)", rows.items())

    def _about(self) -> dict[str, str]:
        try:
            return dict(self._rows("SELECT name, value FROM about"))
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"results file '{self.path}' holds no results of this package"
            ) from error

    def _rules(self, wanted: Rules | None) -> Rules:
        if self.about.get("format") != FORMAT:
            raise ValueError(
                f"results file '{self.path}' has format {self.about.get('format')!r}; allowed: {FORMAT!r}"
            )
        rules = Rules.from_label(self.about["rules"])
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
        """Everything that has been played, in order."""
        columns = "seed, a, b, kind, first, deals"
        rows = self._rows(f"SELECT {columns} FROM played ORDER BY {columns}")
        return [Task(int(seed), *rest) for seed, *rest in rows]

    def add(self, task: Task, played: Played) -> None:
        """Keeps what has been played, at once and whole."""
        self._insert([(task, *_packed(played))])

    def _insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        keyed = [(str(t.seed), t.a, t.b, t.kind, t.first, t.deals, *rest) for t, *rest in rows]
        with self._said(), self._whole():
            self._db.executemany(f"INSERT INTO played VALUES ({', '.join('?' * 13)})", keyed)

    def get(self, task: Task) -> Played:
        """What was played.

        Raises:
            ValueError: The row is damaged.
        """
        key = (str(task.seed), task.a, task.b, task.kind, task.first)
        rows = self._rows(
            "SELECT results, knocks, shown, seconds_a, seconds_b, decisions_a, decisions_b FROM played "
            "WHERE seed = ? AND a = ? AND b = ? AND kind = ? AND first = ?", key,
        )  # fmt: skip
        try:
            return _unpacked(task, self.rules.players, *rows[0])
        except (ValueError, TypeError, IndexError, zlib.error) as error:
            raise ValueError(f"results file '{self.path}': {task} is damaged: {error}") from error

    def merge(self, other: Store) -> int:
        """Takes over what another file has and this one lacks.

        Returns:
            How many rows were new.

        Raises:
            ValueError: Other rules, another player of the same name, or the same deals with other results.
        """
        if other.rules != self.rules:
            raise ValueError(
                f"'{other.path}' has rules {other.rules.label}; allowed: {self.rules.label}, as in '{self.path}'"
            )
        self.seat(other.fingerprints())
        mine = self.tasks()
        new = []
        for task in other.tasks():
            same = [t for t in mine if _overlap(t, task)]
            if not same:
                new.append((task, *_packed(other.get(task))))
            elif not (same == [task] and _digest(self.get(task)) == _digest(other.get(task))):
                raise ValueError(
                    f"'{other.path}' and '{self.path}' both have deals of {task.a} against {task.b} with seed "
                    f"{task.seed}, and not the same; allowed: another seed"
                )
        self._insert(new)
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
    spent = np.array([float(t or 0) for t in times])
    made = Results(
        task.a, task.b, **columns, seconds=spent[:2], decisions=spent[2:].astype(np.int64)
    )
    hands = [parse(f"{text.strip()}\nend\n") for text in shown.split("\nend\n") if text.strip()]
    return Played(made, counts.astype(np.int64), tuple(hands))


def _inflated(packed: bytes, size: int) -> bytes:
    """Unpacks bytes that must come to a size, without unpacking more."""
    inflater = zlib.decompressobj()
    content = inflater.decompress(packed, size)
    if len(content) != size or inflater.unconsumed_tail:
        raise ValueError(f"unpacks to another size than {size} bytes")
    return content
