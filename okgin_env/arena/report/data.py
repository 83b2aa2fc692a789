"""The numbers of a report: what its page, its figures and its CSV files all show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.outcome import Outcome, Pair
from okgin_env.arena.report.counts import (
    ENDED_OWN,
    NAN,
    Interval,
    Standing,
    bins_for,
    histogram_of,
    number,
    standing,
)
from okgin_env.arena.statistics import clustered_mean, clustered_share

LEVEL = 0.05  # what is called significant


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

    @property
    def is_rated(self) -> bool:
        """Whether anybody has a rating."""
        return any(math.isfinite(s.elo.value) for s in self.standings)

    @property
    def is_timed(self) -> bool:
        """Whether anybody's decisions were timed."""
        return any(math.isfinite(s.ms) for s in self.standings)

    @property
    def endings(self) -> list[str]:
        """`ENDED_OWN`, without forfeits where there were none."""
        return [k for k in ENDED_OWN if k != "illegal" or any(s.own[k] for s in self.standings)]

    def duel(self, player: str, against: str) -> Duel | None:
        """A pair from one player's side; None: it was not played."""
        return self._by_names.get((player, against))

    @cached_property
    def _by_names(self) -> dict[tuple[str, str], Duel]:
        """Every pair from both sides; a player against itself from its first."""
        mirrored = {(duel.against, duel.player): duel.mirrored() for duel in self.duels}
        return mirrored | {(duel.player, duel.against): duel for duel in self.duels}


def report(outcome: Outcome) -> Report:
    """The numbers of a tournament.

    Raises:
        ValueError: No pairs were played.
    """
    if not outcome.pairs:
        raise ValueError("outcome: no pairs; allowed: one or more")
    entries = {(e.get("a"), e.get("b")): e for e in outcome.content.get("pairs") or ()}
    most = outcome.rules.most_points
    played = [
        _duel(pair, entries.get((pair.hands.a, pair.hands.b), {}), most) for pair in outcome.pairs
    ]
    names = _ranked(outcome, played)
    bins = bins_for(outcome.pairs)
    standings = tuple(
        standing(name, outcome.pairs, bins, _elo(outcome, name), _mean_points(name, played))
        for name in names
    )
    found = []
    for pair, duel in zip(outcome.pairs, played, strict=True):
        turned = names.index(duel.player) > names.index(duel.against)
        points = -pair.hands.points if turned else pair.hands.points
        found.append((duel.mirrored() if turned else duel, histogram_of(points, bins)))
    found.sort(key=lambda entry: (names.index(entry[0].player), names.index(entry[0].against)))
    duels, histograms = zip(*found, strict=True)
    return Report(outcome, standings, duels, bins, histograms)


def reported(entry: dict[str, Any], value: str, ends: str) -> Interval | None:
    """A value and its interval as the content has them; None: it has no such value."""
    found = number(entry.get(value))
    if math.isnan(found):
        return None
    low, high = entry.get(ends) or (None, None)
    return Interval(found, number(low), number(high))


def _duel(pair: Pair, entry: dict[str, Any], most: float) -> Duel:
    """A pair's numbers: those of the content, so that page and JSON say the same, else the arrays'."""
    hands, matches = pair.hands, pair.matches
    won = None
    if matches is not None:
        share = np.where(matches.winner == 0, 1.0, np.where(matches.winner < 0, 0.5, 0.0))
        won = reported(entry, "match_win_rate", "match_ci95") or Interval(*clustered_share(share))
    points = reported(entry, "points_per_hand", "ci95")
    points = points or Interval(*clustered_mean(hands.points, most=most))
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
