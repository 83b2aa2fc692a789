"""The numbers of every figure as CSV, with the arrays' own precision."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from okgin_env.arena.report.counts import ENDED_OWN
from okgin_env.arena.report.data import Report
from okgin_env.players.base import FAULTS

_PAIRS = (
    "player", "against", "hands", "points_a_hand", "points_low", "points_high", "p", "p_adjusted",
    "differs", "matches", "matches_won", "matches_won_low", "matches_won_high",
)  # fmt: skip


def csv_files(report: Report) -> dict[str, str]:
    """File names and their contents: always the same files, though one may hold a head only."""
    return {
        "pairs.csv": _text(_PAIRS, _pairs(report)),
        "ratings.csv": _text(("player", "elo", "low", "high", "points_a_hand"), _ratings(report)),
        "endings.csv": _text(("player", "ended_by", "ending", "share", "hands"), _endings(report)),
        "faults.csv": _text(("player", *FAULTS), _faults(report)),
        "points.csv": _text(("player", "against", "points", "hands"), _points(report)),
        "knocks.csv": _text(("player", "limit", "turn", "deadwood", "could", "did"), _knocks(report)),
    }  # fmt: skip


def _text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_plain(value) for value in row] for row in rows)
    return file.getvalue()


def _plain(value: Any) -> Any:
    """Numbers that read back as they were; nothing where there is none."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value)) if math.isfinite(value) else ""
    return int(value) if isinstance(value, (bool, np.bool_)) else value


def _pairs(report: Report) -> Iterator[Sequence[Any]]:
    for d in report.duels:
        won = (d.won.value, d.won.low, d.won.high)
        points = (d.points.value, d.points.low, d.points.high)
        yield d.player, d.against, d.hands, *points, d.p, d.adjusted, d.differs, d.matches, *won


def _ratings(report: Report) -> Iterator[Sequence[Any]]:
    for s in report.standings:
        yield s.player, s.elo.value, s.elo.low, s.elo.high, s.points


def _endings(report: Report) -> Iterator[Sequence[Any]]:
    for s in report.standings:
        for who, shares in (("player", s.own), ("others", s.others)):
            for ending in ENDED_OWN:
                yield s.player, who, ending, shares[ending], round(shares[ending] * s.hands)
        yield s.player, "nobody", "void", s.void, round(s.void * s.hands)


def _faults(report: Report) -> Iterator[Sequence[Any]]:
    for s in report.standings:
        if s.faults.any():
            yield s.player, *s.faults.tolist()


def _points(report: Report) -> Iterator[Sequence[Any]]:
    for d, histogram in zip(report.duels, report.histograms, strict=True):
        for points, hands in zip(report.bins.tolist(), histogram.tolist(), strict=True):
            yield d.player, d.against, points, hands


def _knocks(report: Report) -> Iterator[Sequence[Any]]:
    """Only what happened: turns from 1, the last one for all later ones too."""
    for s in report.standings:
        could, did = s.knocks
        for limit, turn, deadwood in np.argwhere(could).tolist():
            at = limit, turn, deadwood
            yield s.player, limit, turn + 1, deadwood, int(could[at]), int(did[at])
