"""A player's numbers over all its pairs: endings, faults, spread of points, chances to knock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.outcome import Pair, Results
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS

BIN = 5  # points; bins are centred on multiples of it, so that points for and against fall alike
MAX_POINTS = 150  # hands further out are counted in the last bin
ENDED_OWN = ("knock", "gin", "undercut", "illegal")  # gin: big gin too
FEW = 20  # chances to knock; a share of fewer is shown faintly
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


def number(value: Any) -> float:
    """A number of the content; nan where it has none."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return float(value) if good else NAN


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


def standing(
    name: str, pairs: Sequence[Pair], bins: NDArray[np.int64], elo: Interval, points: float
) -> Standing:
    """A player's numbers over the pairs it is in; `elo` and `points` are given."""
    sides = list(_sides(name, pairs))
    faults = np.zeros(len(FAULTS), np.int64)
    for results, side in _sides(name, pairs, matches=True):
        faults += results.faults[:, :, side].sum(axis=(0, 1))
    seconds = sum(float(r.seconds[side]) for r, side in sides)
    decisions = sum(int(r.decisions[side]) for r, side in sides)
    ending = np.concatenate([r.ending.ravel() for r, _ in sides])
    by = np.concatenate([_by(r, side).ravel() for r, side in sides])
    knocks = [pair.knocks[side] for pair in pairs for side in _seats(name, pair.hands)]
    return Standing(
        player=name,
        elo=elo,
        points=points,
        hands=len(ending),
        own=_shares(ending, by == 0),
        others=_shares(ending, by == 1),
        void=float((ending == ENDINGS.index("void")).mean()),
        turns=float(np.concatenate([r.turns.ravel() for r, _ in sides]).mean()),
        faults=faults,
        ms=1000.0 * seconds / decisions if decisions else NAN,
        histogram=np.sum(
            [histogram_of(r.points * (1, -1)[side], bins) for r, side in sides], axis=0
        ),
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
    """The number (0 or 1) of the player of a name; both, where a player meets itself."""
    return [side for side, other in enumerate((results.a, results.b)) if other == name]


def _by(results: Results, side: int) -> NDArray[np.int8]:
    """The player that ended each hand: 0: the one on this side, 1: the other, -1: nobody."""
    by = results.ended_by
    return np.where(by < 0, by, by ^ side).astype(np.int8)


def _shares(ending: NDArray[np.int8], chosen: NDArray[np.bool_]) -> dict[str, float]:
    """Shares of all hands that ended so and were chosen."""
    found = {}
    for name in ENDED_OWN:
        kinds = [ENDINGS.index(kind) for kind in ([name, "big_gin"] if name == "gin" else [name])]
        found[name] = float((np.isin(ending, kinds) & chosen).mean())
    return found


def bins_for(pairs: Iterable[Pair]) -> NDArray[np.int64]:
    """The middles of all bins, from minus to plus the furthest hand, at most `MAX_POINTS`."""
    furthest = max(float(np.abs(pair.hands.points).max()) for pair in pairs)
    n = math.ceil(min(max(furthest, 50.0), MAX_POINTS) / BIN)
    return np.arange(-n, n + 1) * BIN


def histogram_of(points: NDArray[np.float64], bins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hands by points, as in `bins_for`."""
    edges = np.append(bins, bins[-1] + BIN) - BIN / 2
    inside = np.clip(points, bins[0], bins[-1])
    return np.histogram(inside, edges)[0].astype(np.int64)
