"""The outcome of a tournament: plain data from which statistics, tables and the report are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.luck import Luck, joined
from okgin_env.histories.hand import HandHistory
from okgin_env.rules import Rules

KNOCK_LIMITS = 11  # 0: gin only … 10
KNOCK_TURNS = 12  # a player's own turn of the hand, from 1; the last bin holds all later ones
KNOCK_DEADWOOD = 11  # 0 … 10 left after the best discard
KNOCKS = (2, 2, KNOCK_LIMITS, KNOCK_TURNS, KNOCK_DEADWOOD)  # the shape of `Pair.knocks`


@dataclass(frozen=True)
class Results:
    """The results of D deals between players a and b, with R seat rotations each (R = seats).

    Attributes:
        a: Player a's name.
        b: Player b's name.
        points: (D, R) a's points minus the mean of the others'; in a match, the scores'.
        winner: (D, R) int8: 0: a won, 1: b won, -1: nobody. Of the hand, or of the match.
        ending: (D, R) int8 index into `layout.ENDINGS`; in a match, of its last hand.
        ended_by: (D, R) int8: 0 or 1, the player who knocked, undercut (of several who scored most) or
            played illegally; -1: nobody.
        turns: (D, R) discards of all seats; in a match, of its last hand.
        hands: (D, R) hands played: 1, or those of the match.
        faults: (D, R, 2, F) hands that each player forfeited, by kind (`players.base.FAULTS`).
        seconds: (2,) seconds each player thought, and
        decisions: (2,) int64 for how many decisions; zeros for a player that the kernel runs.
        luck: That of player a in these hands; None: not measured.
    """

    a: str
    b: str
    points: NDArray[np.float64]
    winner: NDArray[np.int8]
    ending: NDArray[np.int8]
    ended_by: NDArray[np.int8]
    turns: NDArray[np.int64]
    hands: NDArray[np.int64]
    faults: NDArray[np.int64]
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2))
    decisions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(2, np.int64))
    luck: Luck | None = None

    @classmethod
    def joined(cls, parts: Sequence[Results]) -> Results:
        """Results of several runs of deals as those of one."""
        columns = {f.name: [getattr(part, f.name) for part in parts] for f in fields(cls)[2:]}
        spent = {name: np.sum(columns.pop(name), axis=0) for name in ("seconds", "decisions")}
        luck = [(len(part.points), part.luck) for part in parts]
        columns.pop("luck")
        rows = {name: np.concatenate(found) for name, found in columns.items()}
        n_seats = parts[0].points.shape[1]
        return cls(parts[0].a, parts[0].b, **rows, **spent, luck=joined(luck, n_seats))


@dataclass(frozen=True)
class Played:
    """Some deals of two players: their results and what is kept of the hands themselves (see `Pair`)."""

    results: Results
    knocks: NDArray[np.int64]
    shown: tuple[HandHistory, ...] = ()


@dataclass(frozen=True)
class Pair:
    """The results of two players against each other.

    Attributes:
        hands: Single hands.
        matches: Matches, if the rules have them and any were played.
        knocks: `KNOCKS` int64: for players a and b, how often one could
            knock ([p, 0]) and how often it did ([p, 1]), in the single hands; one decision counts once, under its least
            deadwood.
        shown: Some of the single hands, with all their cards, for people to look at; names are set.
    """

    hands: Results
    matches: Results | None
    knocks: NDArray[np.int64]
    shown: tuple[HandHistory, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A tournament that is over.

    Attributes:
        rules: The rules of the table.
        players: Names, in the order in which they were given.
        pairs: The pairs that were played.
        content: What `evaluate.py --json` writes: pairs' summaries, ratings, checks.
    """

    rules: Rules
    players: tuple[str, ...]
    pairs: tuple[Pair, ...]
    content: dict
