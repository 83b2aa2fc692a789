"""Where the marks of the page's charts stand, in per cent of their frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.report.counts import ENDED_OWN, Interval, Standing
from okgin_env.arena.report.data import Report

FEW = 20  # chances; a share of fewer is shown faintly


@dataclass(frozen=True)
class Axis:
    """A scale from `low` to `high`, and its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Where a value stands, in per cent."""
        return round(100 * (value - self.low) / (self.high - self.low), 3)


def axis(low: float, high: float, n_ticks: int = 5) -> Axis:
    """A scale that holds both values, with round ticks."""
    if high - low < 1e-9:
        low, high = low - 1, high + 1
    rough = (high - low) / n_ticks
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(k * step, 10) for k in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def rating_axis(report: Report) -> Axis | None:
    """The scale of all ratings and their intervals; None: there are no ratings."""
    ends = [v for s in report.standings for v in (s.elo.value, s.elo.low, s.elo.high)]
    finite = [value for value in ends if math.isfinite(value)]
    return axis(min(finite), max(finite)) if finite else None


def dot(interval: Interval, scale: Axis) -> dict[str, Any]:
    """A dot with its interval."""
    known = math.isfinite(interval.low) and math.isfinite(interval.high)
    found = {"x": scale.at(interval.value), "known": known}
    return found | {"low": scale.at(interval.low), "high": scale.at(interval.high)} if known else found  # fmt: skip


def level(value: float, most: float, power: float = 1.0) -> int:
    """How deep a cell of a diverging scale is coloured, -100 to 100.

    Args:
        value: The cell's value.
        most: The largest of all, without its sign.
        power: Below 1, small values show although one of the players is far off.
    """
    if most == 0 or not math.isfinite(value):
        return 0
    return round(math.copysign(100 * min(1.0, abs(value) / most) ** power, value))


@dataclass(frozen=True)
class Segment:
    """A part of a stacked bar: where it starts, how long it is (per cent), and what it is."""

    x: float
    width: float
    ending: str
    own: bool


def ending_segments(standing: Standing) -> list[Segment]:
    """What a player did, then void hands, then what its opponents did, mirrored."""
    own = [(standing.own[name], name, True) for name in ENDED_OWN]
    others = [(standing.others[name], name, False) for name in reversed(ENDED_OWN)]
    found, x = list[Segment](), 0.0
    for share, name, mine in [*own, (standing.void, "void", True), *others]:
        if share > 0:
            found.append(Segment(round(x, 3), round(100 * share, 3), name, mine))
        x += 100 * share
    return found


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram, in per cent; `points` is its middle, `hands` its count."""

    x: float
    width: float
    height: float
    points: int
    hands: int


def bars(histogram: NDArray[np.int64], bins: NDArray[np.int64], most: float) -> list[Bar]:
    """A histogram's bars; `most` is the share of the highest one of all its like."""
    width, total = 100 / len(bins), max(1, int(histogram.sum()))
    rows = zip(bins.tolist(), histogram.tolist(), strict=True)
    return [
        Bar(round(k * width, 3), round(width, 3), round(100 * n / total / most, 2), points, n)
        for k, (points, n) in enumerate(rows)
        if n
    ]


@dataclass(frozen=True)
class Cell:
    """How often one could knock, and did."""

    could: int
    did: int

    @property
    def percent(self) -> int:
        """Of the chances, those taken; a half is rounded up, as the page's own script does. 0: there were none."""
        return int(100 * self.did / max(self.could, 1) + 0.5)

    @property
    def kind(self) -> str:
        """none, few or many chances."""
        return "none" if not self.could else "few" if self.could < FEW else "many"


def knock_grid(knocks: NDArray[np.int64]) -> list[list[Cell]]:
    """(deadwood, column) cells of (2, column, deadwood) counts, and a row of all deadwood."""
    counts = np.concatenate([knocks, knocks.sum(axis=2, keepdims=True)], axis=2)
    could, did = counts.transpose(0, 2, 1).tolist()
    return [
        [Cell(*pair) for pair in zip(*rows, strict=True)] for rows in zip(could, did, strict=True)
    ]


def by_turn(standing: Standing) -> list[list[Cell]]:
    """Knocking by deadwood and turn, over all limits."""
    return knock_grid(standing.knocks.sum(axis=1))


def by_limit(standing: Standing) -> list[list[Cell]]:
    """Knocking by deadwood and limit, over all turns."""
    return knock_grid(standing.knocks.sum(axis=2))


def sparse_knocks(standing: Standing) -> list[list[int]]:
    """The counts for the page's script: limit, turn (from 0), deadwood, could, did."""
    could, did = standing.knocks
    places = np.argwhere(could).tolist()
    return [[*at, int(could[tuple(at)]), int(did[tuple(at)])] for at in places]
