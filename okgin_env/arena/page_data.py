"""The numbers of a report: what its page, its figures and its CSV files all show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.outcome import Outcome, Pair, Results
from okgin_env.arena.statistics import clustered_mean
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS

LEVEL = 0.05  # what is called significant
BIN = 5  # points; bins are centred on multiples of it, so that points for and against fall alike
MAX_POINTS = 150  # hands further out are counted in the last bin
ENDED_OWN = ("knock", "gin", "undercut", "illegal")  # gin: big gin too
NAN = float("nan")


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval; nan where it is not known."""

    value: float
    low: float = NAN
    high: float = NAN

    def mirrored(self, about: float) -> Interval:
        """The same, seen from the other side."""
        return Interval(about - self.value, about - self.high, about - self.low)

    def excludes(self, value: float) -> bool:
        """Whether a value lies outside."""
        return self.low > value or self.high < value


@dataclass(frozen=True)
class Duel:
    """One player against another, from its side.

    Attributes:
        player: The player.
        against: The other.
        hands: Single hands.
        points: Points a hand.
        p: Of no difference, the strictest that was reported; nan: none was.
        adjusted: Whether p allows for the number of pairs (Holm).
        differs: Whether points differ significantly: by p, or else by the interval.
        matches: Matches.
        won: Share of the matches won.
    """

    player: str
    against: str
    hands: int
    points: Interval
    p: float
    adjusted: bool
    matches: int
    won: Interval

    @property
    def differs(self) -> bool:
        """Whether points differ significantly: by p where it was reported, else by the interval."""
        return self.points.excludes(0.0) if math.isnan(self.p) else self.p < LEVEL

    @property
    def matches_differ(self) -> bool:
        """Whether the interval of matches won excludes one half."""
        return self.won.excludes(0.5)

    def mirrored(self) -> Duel:
        """The same pair from the other player's side."""
        return Duel(
            self.against, self.player, self.hands, self.points.mirrored(0.0), self.p, self.adjusted,
            self.matches, self.won.mirrored(1.0),
        )  # fmt: skip


@dataclass(frozen=True)
class Standing:
    """A player over all its pairs.

    Attributes:
        player: Its name.
        elo: Its rating; nan: none was made.
        points: Points a hand, mean over its opponents.
        hands: Single hands it played.
        own: Shares of them that it ended, by `ENDED_OWN`.
        others: Shares that its opponents ended.
        void: Share that nobody ended.
        turns: Discards of all seats in a hand.
        faults: (F,) hands that it forfeited, by `FAULTS`; those of matches too.
        ms: Milliseconds it thought for a decision; nan: not measured.
        histogram: (B,) its hands by points, as in `Report.bins`.
        knocks: (2, limits, turns, deadwood) how often it could and did knock, as in `Pair.knocks`.
    """

    player: str
    elo: Interval
    points: float
    hands: int
    own: dict[str, float]
    others: dict[str, float]
    void: float
    turns: float
    faults: NDArray[np.int64]
    ms: float
    histogram: NDArray[np.int64]
    knocks: NDArray[np.int64]


@dataclass(frozen=True)
class Report:
    """All numbers of a report.

    Attributes:
        outcome: What it is made from.
        standings: The players, the best first.
        duels: One for each pair, from the better-placed player's side.
        bins: (B,) the middles of the histograms' bins, in points.
        histograms: (B,) for each duel, hands by points of `Duel.player`.
    """

    outcome: Outcome
    standings: tuple[Standing, ...]
    duels: tuple[Duel, ...]
    bins: NDArray[np.int64]
    histograms: tuple[NDArray[np.int64], ...]

    @property
    def players(self) -> list[str]:
        """Names, the best first."""
        return [standing.player for standing in self.standings]

    def duel(self, player: str, against: str) -> Duel | None:
        """A pair from one player's side; None: it was not played."""
        for duel in self.duels:
            if (duel.player, duel.against) == (player, against):
                return duel
            if (duel.against, duel.player) == (player, against):
                return duel.mirrored()
        return None


def report(outcome: Outcome) -> Report:
    """The numbers of a tournament.

    Raises:
        ValueError: No pairs were played.
    """
    if not outcome.pairs:
        raise ValueError("outcome: no pairs; allowed: one or more")
    entries = {(e.get("a"), e.get("b")): e for e in outcome.content.get("pairs") or ()}
    played = [_duel(pair, entries.get((pair.hands.a, pair.hands.b), {})) for pair in outcome.pairs]
    names = _ranked(outcome, played)
    bins = _bins(outcome.pairs)
    standings = tuple(_standing(name, outcome, played, bins) for name in names)
    found = []
    for pair, duel in zip(outcome.pairs, played, strict=True):
        turned = names.index(duel.player) > names.index(duel.against)
        points = -pair.hands.points if turned else pair.hands.points
        found.append((duel.mirrored() if turned else duel, _histogram(points, bins)))
    found.sort(key=lambda entry: (names.index(entry[0].player), names.index(entry[0].against)))
    duels, histograms = zip(*found, strict=True)
    return Report(outcome, standings, duels, bins, histograms)


def number(value: Any) -> float:
    """A number of the content; nan where it has none."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return float(value) if good else NAN


def reported(entry: dict[str, Any], value: str, ends: str) -> Interval | None:
    """A value and its interval as the content has them; None: it has no such value."""
    found = number(entry.get(value))
    if math.isnan(found):
        return None
    low, high = entry.get(ends) or (None, None)
    return Interval(found, number(low), number(high))


def _duel(pair: Pair, entry: dict[str, Any]) -> Duel:
    """A pair's numbers: those of the content, so that page and JSON say the same, else the arrays'."""
    hands, matches = pair.hands, pair.matches
    won = None
    if matches is not None:
        share = np.where(matches.winner == 0, 1.0, np.where(matches.winner < 0, 0.5, 0.0))
        won = reported(entry, "match_win_rate", "match_ci95") or Interval(*clustered_mean(share))
    points = reported(entry, "points_per_hand", "ci95") or Interval(*clustered_mean(hands.points))
    holm, sign = number(entry.get("p_holm")), number(entry.get("p_sign"))
    return Duel(
        player=hands.a,
        against=hands.b,
        hands=hands.points.size,
        points=points,
        p=sign if math.isnan(holm) else holm,
        adjusted=not math.isnan(holm),
        matches=0 if matches is None else matches.points.size,
        won=won or Interval(NAN),
    )


def _ranked(outcome: Outcome, duels: Sequence[Duel]) -> list[str]:
    """Names, the best first: by rating, or by points where anybody has none."""
    names = sorted({name for duel in duels for name in (duel.player, duel.against)})
    elo = {name: _elo(outcome, name).value for name in names}
    if any(math.isnan(value) for value in elo.values()):
        elo = {name: _mean_points(name, duels) for name in names}
    return sorted(names, key=lambda name: (-elo[name], name))


def _elo(outcome: Outcome, name: str) -> Interval:
    for entry in outcome.content.get("ratings") or ():
        if entry.get("player") == name:
            return Interval(*(number(entry.get(key)) for key in ("elo", "low", "high")))
    return Interval(NAN)


def _mean_points(name: str, duels: Sequence[Duel]) -> float:
    own = [d.points.value for d in duels if d.player == name]
    others = [-d.points.value for d in duels if d.against == name]
    return float(np.mean([*own, *others]))


def _standing(
    name: str, outcome: Outcome, duels: Sequence[Duel], bins: NDArray[np.int64]
) -> Standing:
    sides = list(_sides(name, outcome.pairs))
    faults = np.zeros(len(FAULTS), np.int64)
    for results, side in _sides(name, outcome.pairs, matches=True):
        faults += results.faults[:, :, side].sum(axis=(0, 1))
    seconds = sum(float(r.seconds[side]) for r, side in sides)
    decisions = sum(int(r.decisions[side]) for r, side in sides)
    ending = np.concatenate([r.ending.ravel() for r, _ in sides])
    by = np.concatenate([_by(r, side).ravel() for r, side in sides])
    knocks = [pair.knocks[side] for pair in outcome.pairs for side in _seats(name, pair.hands)]
    return Standing(
        player=name,
        elo=_elo(outcome, name),
        points=_mean_points(name, duels),
        hands=len(ending),
        own=_shares(ending, by == 0),
        others=_shares(ending, by == 1),
        void=float((ending == ENDINGS.index("void")).mean()),
        turns=float(np.concatenate([r.turns.ravel() for r, _ in sides]).mean()),
        faults=faults,
        ms=1000.0 * seconds / decisions if decisions else NAN,
        histogram=np.sum([_histogram(r.points * (1, -1)[side], bins) for r, side in sides], axis=0),
        knocks=np.sum(knocks, axis=0),
    )


def _sides(
    name: str, pairs: Iterable[Pair], matches: bool = False
) -> Iterator[tuple[Results, int]]:
    """A player's single hands (with `matches` those too) and which of the two players it was."""
    for pair in pairs:
        for results in (pair.hands, pair.matches if matches else None):
            if results is not None:
                yield from ((results, side) for side in _seats(name, results))


def _seats(name: str, results: Results) -> list[int]:
    """Which of the two players a name is; both, where a player meets itself."""
    return [side for side, other in enumerate((results.a, results.b)) if other == name]


def _by(results: Results, side: int) -> NDArray[np.int8]:
    """Who ended each hand: 0: the player on this side, 1: the other, -1: nobody."""
    by = results.ended_by
    return np.where(by < 0, by, by ^ side).astype(np.int8)


def _shares(ending: NDArray[np.int8], chosen: NDArray[np.bool_]) -> dict[str, float]:
    """Shares of all hands that ended so and were chosen."""
    found = {}
    for name in ENDED_OWN:
        kinds = [ENDINGS.index(kind) for kind in ([name, "big_gin"] if name == "gin" else [name])]
        found[name] = float((np.isin(ending, kinds) & chosen).mean())
    return found


def _bins(pairs: Iterable[Pair]) -> NDArray[np.int64]:
    """The middles of all bins, from minus to plus the furthest hand, at most `MAX_POINTS`."""
    furthest = max(float(np.abs(pair.hands.points).max()) for pair in pairs)
    n = math.ceil(min(max(furthest, 50.0), MAX_POINTS) / BIN)
    return np.arange(-n, n + 1) * BIN


def _histogram(points: NDArray[np.float64], bins: NDArray[np.int64]) -> NDArray[np.int64]:
    edges = np.append(bins, bins[-1] + BIN) - BIN / 2
    inside = np.clip(points, bins[0], bins[-1])
    return np.histogram(inside, edges)[0].astype(np.int64)
