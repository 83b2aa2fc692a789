"""Results as they come, in one SQLite file: whole rows only, so that a killed tournament goes on where it was.

A row is a task: some deals of two players in one kind of game. It holds plain numbers and texts, and reading a file
runs nothing and believes nothing: sizes and names are checked.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env.arena.match import Played
from okgin_env.arena.store.rows import KNOCKS, agree, digest_of, packed, rows_of, unpacked
from okgin_env.arena.task import Task, as_task, key_of, overlap
from okgin_env.rules import Rules
from okgin_env.utils.errors import shown, told

FORMAT = "okgin_env results 1"
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
            self._check_tables()
        self.rules = self._rules(rules)

    def _is_made(self) -> bool:
        return self._db.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone() is not None

    def _check_tables(self) -> None:
        """Checks that there is nothing in the file but what this package makes: a view can have endless rows.

        Raises:
            ValueError: There is something else.
        """
        query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 9"
        found = {sql for (sql,) in self._db.execute(query)}
        if found != {made for text in _TABLES.split(";") if (made := text.strip())}:
            raise ValueError(f"results file '{self.path}' holds no tables of {FORMAT!r}")

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
        return self._texts("SELECT name, value FROM about")

    def _rules(self, wanted: Rules | None) -> Rules:
        about = self.about()
        if about.get("format") != FORMAT:
            raise ValueError(
                f"results file '{self.path}' has format {shown(about.get('format'))}; allowed: {FORMAT!r}"
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
            raise kind(f"results file '{self.path}': {told(error)}") from error

    def _rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        with self._said():
            return self._db.execute(query, values).fetchall()

    def _texts(self, query: str) -> dict[str, str]:
        """Two columns of texts.

        Raises:
            ValueError: There is something else in them.
        """
        rows = self._rows(query)
        if not all(isinstance(value, str) for row in rows for value in row):
            raise ValueError(f"results file '{self.path}' is damaged: {query} gives no texts")
        return dict(rows)

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
        """Fingerprints by player's name.

        Raises:
            ValueError: The file is damaged.
        """
        return self._texts("SELECT name, fingerprint FROM players")

    def tasks(self) -> list[Task]:
        """Everything that has been played, in order.

        Raises:
            ValueError: The file is damaged: no tasks, or some deals twice.
        """
        columns = "seed, a, b, kind, first, deals"
        rows = self._rows(f"SELECT {columns} FROM played ORDER BY {columns}")
        tasks = [task for row in rows if (task := as_task(*row)) is not None]
        twice = any(overlap(one, next_one) for one, next_one in pairwise(tasks))
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
            if same == [task] and digest_of(self.get(task)) == digest_of(played):
                return
            if same:
                raise ValueError(
                    f"results file '{self.path}' has got deals of {task.a} against {task.b} from another process; "
                    "allowed: the same command again, which goes on from them"
                )
            self._insert([(task, *packed(played))])

    def _overlapping(self, task: Task) -> list[Task]:
        """The tasks that hold some of a task's deals: from the last that begins no later than it, so that all before need no look."""
        seed, a, b, kind = key_of(task)
        end = task.first + task.deals
        values = {"seed": seed, "a": a, "b": b, "kind": kind, "first": task.first, "end": end}
        own = "FROM played WHERE seed = :seed AND a = :a AND b = :b AND kind = :kind"
        rows = self._rows(
            f"SELECT seed, a, b, kind, first, deals {own} AND first < :end AND first + deals > :first "
            f"AND first >= ifnull((SELECT max(first) {own} AND first <= :first), 0) ORDER BY first",
            values,
        )
        return [Task(int(seed), *rest) for seed, *rest in rows]

    def _insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Inserts tasks with what is stored of them, inside of a transaction."""
        keyed = [(*key_of(task), task.first, task.deals, *rest) for task, *rest in rows]
        self._db.executemany(f"INSERT INTO played VALUES ({', '.join('?' * 13)})", keyed)

    def get(self, task: Task) -> Played:
        """What was played.

        Raises:
            ValueError: The row is damaged.
        """
        key = (*key_of(task), task.first)
        rows = self._rows(
            "SELECT results, knocks, shown, seconds_a, seconds_b, decisions_a, decisions_b FROM played "
            "WHERE seed = ? AND a = ? AND b = ? AND kind = ? AND first = ?", key,
        )  # fmt: skip
        try:
            return unpacked(task, self.rules.players, *rows[0])
        except (ValueError, TypeError, IndexError, zlib.error) as error:
            raise ValueError(
                f"results file '{self.path}': {task} is damaged: {told(error)}"
            ) from error

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
            elif not agree(task, other.get(task), [(t, self.get(t)) for t in mine]):
                raise ValueError(
                    f"'{other.path}' and '{self.path}' both have deals of {task.a} against {task.b} with seed "
                    f"{task.seed}, and not the same; allowed: another seed"
                )
        with self._said(), self._whole():
            self._insert((task, *packed(other.get(task))) for task in new)
        self.note(other.versions())
        return len(new)

    def digest(self) -> str:
        """Digest of all results in order: the same however they were cut into rows, and however long they took."""
        sha = hashlib.sha256(self.rules.label.encode())
        for (seed, a, b, kind), tasks in groupby(
            self.tasks(), lambda t: (t.seed, t.a, t.b, t.kind)
        ):
            sha.update(f"{seed} {a!r} {b!r} {kind}".encode())
            knocks = np.zeros(KNOCKS, "<i8")
            for task in tasks:
                row = self.get(task)
                sha.update(rows_of(row.results).tobytes())
                knocks += row.knocks
            sha.update(knocks.tobytes())
        return sha.hexdigest()

    def close(self) -> None:
        """Closes the file."""
        self._db.close()
