"""Results as they come, in one SQLite file: whole rows only, so that a killed tournament goes on where it was.

A row is a task: some deals of two players in one kind of game. It holds plain numbers and texts, and reading a file
runs nothing and believes nothing: sizes and names are checked.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env.arena.outcome import KNOCKS, Played
from okgin_env.arena.plan import Task, read_task
from okgin_env.arena.store import luck_rows
from okgin_env.arena.store.rows import agree, packed, rows_of, unpacked
from okgin_env.rules import Rules
from okgin_env.utils.errors import LONGEST, shown, told

FORMAT = "okgin_env results 1"
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE players (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);
CREATE TABLE played (
    seed TEXT, a TEXT, b TEXT, kind TEXT, first INTEGER, deals INTEGER,
    results BLOB NOT NULL, knocks BLOB NOT NULL, shown TEXT NOT NULL,
    seconds_a REAL, seconds_b REAL, decisions_a INTEGER, decisions_b INTEGER,
    PRIMARY KEY (seed, a, b, kind, first)
)"""
_SERIES = "seed = ? AND a = ? AND b = ? AND kind = ?"
_TASK = "seed, a, b, kind, first, deals"
_PLAYED = "results, knocks, shown, seconds_a, seconds_b, decisions_a, decisions_b"


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
        with self._naming():
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=30)
            self._db.execute("PRAGMA trusted_schema = OFF")
        if not self._tables():
            if rules is None:
                raise self._refusal("is empty; allowed: a file of results")
            with self._whole():
                if not self._tables():  # else made by another process, this moment
                    for statement in _TABLES.split(";"):
                        self._db.execute(statement)
                    about = {"format": FORMAT, "rules": rules.label}
                    self._db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        expected = {statement.strip() for statement in _TABLES.split(";")}
        if self._tables() - {luck_rows.TABLE} != expected:
            raise self._refusal(f"holds no tables of {FORMAT!r}")  # a view can have endless rows
        about = self.about()
        if about.get("format") != FORMAT:
            raise self._refusal(
                f"has format {shown(about.get('format'))}, made by {self._made_by()}; allowed: {FORMAT!r}, "
                "or that version"
            )
        self.rules = Rules.from_label(about.get("rules", ""))
        if rules not in (None, self.rules):
            raise self._refusal(
                f"has rules {self.rules.label}; allowed: {rules.label}, or another file"
            )

    def _tables(self) -> set[str]:
        """The objects in the file (tables, views), up to a few more than there may be."""
        query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 9"
        return {sql for (sql,) in self._rows(query)}

    def _refusal(self, reason: str) -> ValueError:
        return ValueError(f"results file '{self.path}' {reason}")

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """SQLite's errors in one line with the file's name."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            kind = OSError if isinstance(error, sqlite3.OperationalError) else ValueError
            raise kind(f"results file '{self.path}': {told(error)}") from error

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """All or nothing of what is written inside."""
        with self._naming():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._naming():
            return self._db.execute(query, values).fetchall()

    def _texts(self, query: str) -> dict[str, str]:
        """Two columns of texts.

        Raises:
            ValueError: There is something else in them.
        """
        rows = self._rows(query)
        if not all(isinstance(value, str) for row in rows for value in row):
            raise self._refusal(f"is damaged: {query} gives no texts")
        return dict(rows)

    # --- who played, and with what ----------------------------------------------------------------------

    def about(self) -> dict[str, str]:
        """The file's description of itself: format, rules, and what it was made with (`note`).

        Raises:
            ValueError: It is not one of this package.
        """
        return self._texts("SELECT name, value FROM about")

    def note(self, versions: Mapping[str, str]) -> None:
        """Adds what results were made with, as `provenance.versions` has it; several of a kind are kept, in order."""
        with self._whole():
            about = self.about()
            for name, new in versions.items():
                parts = dict.fromkeys([*about.get(name, "").split(", "), *new.split(", ")])
                row = (name, ", ".join(filter(None, parts)))
                self._db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", row)

    def versions(self) -> dict[str, str]:
        """The versions with which the results were made, by name."""
        about = sorted(self.about().items())
        return {name: value for name, value in about if name not in ("format", "rules")}

    def _made_by(self) -> str:
        found = self.about()
        version, commit = (shown(found.get(name, "unknown")) for name in ("okgin_env", "commit"))
        return f"okgin_env {version} (commit {commit})"

    def seat(self, fingerprints: dict[str, str]) -> None:
        """Notes who plays; a player of a known name must be the same as before.

        Raises:
            ValueError: It is another.
        """
        known = self.fingerprints()
        for name, fingerprint in fingerprints.items():
            if known.get(name, fingerprint) != fingerprint:
                raise ValueError(
                    f"player {name} is not the one in '{self.path}', made by {self._made_by()}: it or its code has "
                    "changed; allowed: the same player, another name, another file, or that version"
                )
        with self._whole():
            rows = list(fingerprints.items())
            self._db.executemany("INSERT OR IGNORE INTO players VALUES (?, ?)", rows)

    def fingerprints(self) -> dict[str, str]:
        """Fingerprints by player's name.

        Raises:
            ValueError: The file is damaged.
        """
        return self._texts("SELECT name, fingerprint FROM players")

    # --- what was played --------------------------------------------------------------------------------

    def tasks(self) -> list[Task]:
        """Everything that has been played, in order.

        Raises:
            ValueError: The file is damaged: no tasks, or some deals twice.
        """
        rows = self._rows(f"SELECT {_TASK} FROM played ORDER BY {_TASK}")
        tasks = [task for row in rows if (task := read_task(*row)) is not None]
        twice = any(a.series == b.series and a.end > b.first for a, b in pairwise(tasks))
        if len(tasks) < len(rows) or twice:
            raise self._refusal("is damaged: it lists no whole tasks")
        return tasks

    def add(self, task: Task, played: Played) -> None:
        """Keeps what has been played, at once and whole; what another process has kept meanwhile is not kept twice.

        Raises:
            ValueError: Some of the deals are there, but not the same or not cut the same.
        """
        with self._whole():
            same = self._overlapping(task)
            row = packed(played)
            if not same:
                self._insert([(task, *row)])
                self._insert_luck([(task, played)])
            elif same != [task] or packed(self.get(task))[:3] != row[:3]:  # but for the times
                raise self._refusal(
                    f"has got deals of {task.a} against {task.b} from another process; "
                    "allowed: the same command again, which goes on from them"
                )

    def _overlapping(self, task: Task) -> list[Task]:
        """The tasks that hold some of a task's deals: from the last that begins no later than it, so that all before need no look."""
        last = f"SELECT max(first) FROM played WHERE {_SERIES} AND first <= ?"
        rows = self._rows(
            f"SELECT {_TASK} FROM played WHERE {_SERIES} AND first >= ifnull(({last}), 0) "
            "AND first < ? AND first + deals > ? ORDER BY first",
            (*task.series, *task.series, task.first, task.end, task.first),
        )
        return [Task(int(seed), *rest) for seed, *rest in rows]

    def _insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Inserts tasks with what is stored of them, inside of a transaction."""
        keyed = [(*task.series, task.first, task.deals, *rest) for task, *rest in rows]
        self._db.executemany(f"INSERT INTO played VALUES ({', '.join('?' * 13)})", keyed)

    def _insert_luck(self, rows: Iterable[tuple[Task, Played]]) -> None:
        """Inserts the luck of tasks, of those that have it, inside of a transaction."""
        for task, played in rows:
            if (luck := played.results.luck) is not None:
                if not self._has_luck():
                    self._db.execute(luck_rows.TABLE)
                row = (*task.series, task.first, *luck_rows.packed(luck))
                self._db.execute(f"INSERT INTO luck VALUES ({', '.join('?' * len(row))})", row)

    def _has_luck(self) -> bool:
        """Whether the file has a table of luck."""
        return luck_rows.TABLE in self._tables()

    def drop(self, task: Task) -> None:
        """Forgets a task, so that it is played afresh."""
        with self._whole():
            for table in ("played", *(["luck"] if self._has_luck() else [])):
                self._db.execute(
                    f"DELETE FROM {table} WHERE {_SERIES} AND first = ?", (*task.series, task.first)
                )

    def get(self, task: Task, hands: bool = True) -> Played:
        """The results of a task.

        Args:
            task: One of `tasks`.
            hands: Whether to read the hands to look at, too.

        Raises:
            ValueError: The row is damaged.
        """
        query = f"SELECT {_PLAYED} FROM played WHERE {_SERIES} AND first = ?"
        rows = self._rows(query, (*task.series, task.first))
        try:
            results, knocks, text, *times = rows[0]
            played = unpacked(task, self.rules, results, knocks, text if hands else "", *times)
            return self._with_luck(task, played)
        except (ValueError, TypeError, IndexError, zlib.error) as error:
            row = f"{shown(task.a)} against {shown(task.b)}, seed {shown(task.seed)}, {shown(task.kind)} from {task.first}"
            raise ValueError(
                f"results file '{self.path}': {row[:LONGEST]} is damaged: {told(error)}"
            ) from error

    def _with_luck(self, task: Task, played: Played) -> Played:
        """What was played, with its luck if that was measured."""
        if not self._has_luck():
            return played
        query = f"SELECT {luck_rows.FIELDS} FROM luck WHERE {_SERIES} AND first = ?"
        rows = self._rows(query, (*task.series, task.first))
        if not rows:
            return played
        luck = luck_rows.unpacked(task, self.rules.players, *rows[0])
        return dataclasses.replace(played, results=dataclasses.replace(played.results, luck=luck))

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
        with self._whole():
            for task in new:
                theirs = other.get(task)
                self._insert([(task, *packed(theirs))])
                self._insert_luck([(task, theirs)])
        self.note(other.versions())
        return len(new)

    def digest(self) -> str:
        """Digest of all results in order: the same however they were cut into rows, and however long they took."""
        sha = hashlib.sha256(self.rules.label.encode())
        for (seed, a, b, kind), tasks in groupby(self.tasks(), lambda task: task.series):
            sha.update(f"{seed} {a!r} {b!r} {kind}".encode())
            knocks = np.zeros(KNOCKS, "<i8")
            for task in tasks:
                row = self.get(task, hands=False)
                sha.update(rows_of(row.results).tobytes())
                knocks += row.knocks
            sha.update(knocks.tobytes())
        return sha.hexdigest()

    def close(self) -> None:
        """Closes the file."""
        self._db.close()
