"""Results as they come, in one SQLite file: whole rows only, so that a killed tournament goes on where it was.

A row is a task: some deals of two players in one kind of game. It holds plain numbers and texts, and reading a file
runs nothing and believes nothing: sizes, names, whether fields agree with each other and the rules, and a digest of each row.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env.arena.decks import FRESH, drawn_secret, secret_label
from okgin_env.arena.outcome import KNOCKS, Played
from okgin_env.arena.plan import Task, read_task
from okgin_env.arena.store.rows import agree, digest, packed, rows_of, unpacked
from okgin_env.arena.store.secret_file import forget_secret, kept_secret, read_secret
from okgin_env.rules import Rules
from okgin_env.utils.errors import LONGEST, shown, told

_log = logging.getLogger("okgin_env.arena")
FORMAT = "okgin_env results 2"
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE players (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);
CREATE TABLE played (
    seed TEXT, a TEXT, b TEXT, kind TEXT, first INTEGER, deals INTEGER,
    results BLOB NOT NULL, knocks BLOB NOT NULL, shown TEXT NOT NULL,
    seconds_a REAL, seconds_b REAL, decisions_a INTEGER, decisions_b INTEGER,
    luck_how TEXT, luck_values INTEGER, luck_columns INTEGER, luck BLOB, luck_seconds REAL, digest TEXT NOT NULL,
    PRIMARY KEY (seed, a, b, kind, first)
)"""
_KNOWN = "known decks"  # in `about`
_NO_VERSIONS = f"format|rules|{_KNOWN}|secret-.*"
_SERIES = "seed = ? AND a = ? AND b = ? AND kind = ?"
_TASK = "seed, a, b, kind, first, deals"
_PLAYED = (
    "results, knocks, shown, seconds_a, seconds_b, decisions_a, decisions_b, "
    "luck_how, luck_values, luck_columns, luck, luck_seconds, digest"
)


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
        self._left_out: set[str] = set()
        with self._naming():
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=30)
            self._db.execute("PRAGMA trusted_schema = OFF")
        self._db.text_factory = partial(str, encoding="utf-8", errors="replace")  # see `digest`
        if not self._tables():
            if rules is None:
                raise self._refusal("is empty; allowed: a file of results")
            with self._whole():
                if not self._tables():  # else made by another process, this moment
                    for statement in _TABLES.split(";"):
                        self._db.execute(statement)
                    about = {"format": FORMAT, "rules": rules.label}
                    self._db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        self._check_format()
        try:
            self.rules = Rules.from_label(self.about().get("rules", ""))
        except ValueError as error:
            raise self._refusal(f"has no rules: {error}") from error
        if rules not in (None, self.rules):
            raise self._refusal(
                f"has rules {self.rules.label}; allowed: {rules.label}, or another file"
            )

    def _check_format(self) -> None:
        """Checks that the file is whole and of this format, of whatever version.

        Raises:
            ValueError: It is not.
        """
        found, expected = self._tables(), [sql.strip() for sql in _TABLES.split(";")]
        if expected[0] not in found:
            raise self._refusal(f"holds no tables of {FORMAT!r}")  # a view can have endless rows
        if (said := self.about().get("format")) != FORMAT:
            raise self._refusal(
                f"has format {shown(said)}, made by {self._made_by()}; allowed: {FORMAT!r}, or that version"
            )
        if found != {*expected}:
            raise self._refusal(f"holds no tables of {FORMAT!r}")
        if (state := self._rows("PRAGMA integrity_check(1)")[0][0]) != "ok":
            raise self._refusal(f"is damaged: {shown(state)}")

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
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # of damaged names, too
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
        return {name: value for name, value in about if not re.fullmatch(_NO_VERSIONS, name)}

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

    # --- where decks come from --------------------------------------------------------------------------

    def secret(self) -> str | None:
        """The secret to go on with: of a tournament that has not ended, else the newest of this file; None: there is none.

        Raises:
            ValueError: The file that it lies in holds something else.
        """
        unfinished = None if self.path is None else read_secret(self.path)
        return unfinished or next(reversed(self.secrets().values()), None)

    def new_secret(self) -> str:
        """A secret for a tournament that begins; in a file beside this one, until it ends."""
        return drawn_secret() if self.path is None else kept_secret(self.path)

    def secrets(self) -> dict[str, str]:
        """The secrets of tournaments that have ended by their labels, the newest last.

        Raises:
            ValueError: The file is damaged.
        """
        found = self._texts(
            "SELECT name, value FROM about WHERE name GLOB 'secret-*' ORDER BY rowid"
        )
        for label, secret in found.items():
            if not re.fullmatch("[0-9a-f]{64}", secret) or secret_label(secret) != label:
                raise self._refusal(f"is damaged: {shown(label)} is not the label of its secret")
        return found

    def publish(self, secret: str) -> None:
        """Keeps the secret of a tournament that has ended, for everybody to read."""
        with self._whole():
            row = (secret_label(secret), secret)
            self._db.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", row)
        if self.path is not None:
            forget_secret(self.path, secret)

    def known_decks(self) -> list[str]:
        """Labels of secrets with which hands were played when players could have known them."""
        return [label for label in self.about().get(_KNOWN, "").split(", ") if label]

    def note_known(self, secret: str) -> None:
        """Notes that hands are played with a secret that players could know."""
        self.note({_KNOWN: secret_label(secret)})

    def _unknown(self) -> set[str]:
        """The labels of results whose secrets are not in the file, since their tournaments have not ended."""
        labels = {str(task.seed).removesuffix(FRESH) for task in self.tasks()}
        return {label for label in labels - set(self.secrets()) if not label.isdecimal()}

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

    def rows(self, mend: bool = False) -> Iterator[tuple[Task, Played]]:
        """Everything that is whole, in order. A row that is not costs itself only: it is named in the log, and left out.

        Args:
            mend: Whether to forget such rows, so that their deals are played anew.
        """
        bad, last = [], None
        listed = self._rows(f"SELECT rowid, {_TASK} FROM played ORDER BY {_TASK}")
        for rowid, *key in listed:
            try:
                if (task := read_task(*key)) is None:
                    raise self._damaged(key, "no task; allowed: seed, players, kind and deals")
                played = self.get(task)
                if last is not None and last.series == task.series and last.end > task.first:
                    raise self._damaged(key, "first; allowed: deals that no other row has")
            except ValueError as error:
                self._leave_out(str(error))
                bad.append((rowid,))
            else:
                last = task
                yield task, played
        if bad and mend:
            with self._whole():
                self._db.executemany("DELETE FROM played WHERE rowid = ?", bad)

    def _leave_out(self, reason: str) -> None:
        """Says once that a row is left out."""
        if reason not in self._left_out:
            self._left_out.add(reason)
            _log.warning("%s; the row is left out", reason)

    def _damaged(self, key: Sequence[Any], reason: str) -> ValueError:
        """The refusal of a row, by file and pair."""
        seed, a, b, kind, first, _ = map(shown, key)
        row = f"{a} against {b}, seed {seed}, {kind} from {first}"
        return ValueError(f"results file '{self.path}': {row[:LONGEST]} is damaged: {reason}")

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
        return [found for row in rows if (found := read_task(*row)) is not None]

    def _insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Inserts tasks with what is stored of them, inside of a transaction."""
        keyed = [(*t.series, t.first, t.deals, *rest, digest(t, rest)) for t, *rest in rows]
        self._db.executemany(f"INSERT INTO played VALUES ({', '.join('?' * 19)})", keyed)

    def drop(self, task: Task) -> None:
        """Forgets a task, so that it is played afresh."""
        with self._whole():
            self._db.execute(
                f"DELETE FROM played WHERE {_SERIES} AND first = ?", (*task.series, task.first)
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
            return unpacked(task, self.rules, rows[0], hands)
        except (ValueError, TypeError, IndexError) as error:
            raise self._damaged((*task.series, task.first, task.deals), told(error)) from error

    def merge(self, other: Store) -> int:
        """Takes over the rows of another file of whose deals this one has none.

        Returns:
            How many rows were new.

        Raises:
            ValueError: Other rules, another player of the same name, the same deals with other results, or a tournament
                that has not ended, whose decks are secret.
        """
        if other.rules != self.rules:
            raise ValueError(
                f"'{other.path}' has rules {other.rules.label}; allowed: {self.rules.label}, as in '{self.path}'"
            )
        if unknown := other._unknown():
            raise ValueError(
                f"'{other.path}' has results with a secret of which it does not tell ({', '.join(sorted(unknown))}); "
                "allowed: once its tournament has ended"
            )
        for _ in self.rows(mend=True):
            pass
        players = other.fingerprints()
        self.seat(players)
        new = []
        for task, played in other.rows():
            mine = self._overlapping(task)
            if not {task.a, task.b} <= {*players}:
                row = (*task.series, task.first, task.deals)
                other._leave_out(str(other._damaged(row, "players; allowed: those of the file")))
            elif not mine:
                new.append(task)
            elif not agree(task, played, [(t, self.get(t)) for t in mine]):
                raise ValueError(
                    f"'{other.path}' and '{self.path}' both have deals of {task.a} against {task.b} with seed "
                    f"{task.seed}, and not the same; allowed: another seed"
                )
        with self._whole():
            self._insert((task, *packed(other.get(task))) for task in new)
            for row in other.secrets().items():  # as older ones: this file's own stays the newest
                self._db.execute(
                    "INSERT OR IGNORE INTO about (rowid, name, value) SELECT min(rowid) - 1, ?, ? FROM about",
                    row,
                )
        self.note(other.versions())
        self.note({_KNOWN: known} if (known := ", ".join(other.known_decks())) else {})
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
