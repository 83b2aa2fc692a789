"""The numbers of every figure as CSV, with the arrays' own precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from okgin_env.arena.report.data import Report
from okgin_env.players.base import FAULTS

_COLUMNS = {
    "pairs": (
        "player", "against", "hands", "points_a_hand", "points_low", "points_high", "p", "p_adjusted",
        "differs", "matches", "matches_won", "matches_won_low", "matches_won_high",
    ),
    "ratings": ("player", "elo", "low", "high", "points_a_hand"),
    "endings": ("player", "ended_by", "ending", "share", "hands"),
    "faults": ("player", *FAULTS),
    "points": ("player", "against", "points", "hands"),
    "knocks": ("player", "limit", "turn", "deadwood", "could", "did"),
}  # fmt: skip


def csv_files(report: Report) -> dict[str, str]:
    """File names and their contents: always the same files, though one may hold a head only."""
    tables = {
        "pairs": [
            (d.player, d.against, d.hands, d.points.value, d.points.low, d.points.high, d.p, int(d.adjusted),
             int(d.differs), d.matches, d.won.value, d.won.low, d.won.high) for d in report.duels
        ],
        "ratings": [(s.player, s.elo.value, s.elo.low, s.elo.high, s.points) for s in report.standings],
        "endings": _endings(report),
        "faults": [(s.player, *s.faults.tolist()) for s in report.standings if s.faults.any()],
        "points": [
            (d.player, d.against, *bar)
            for d, histogram in zip(report.duels, report.histograms, strict=True)
            for bar in zip(report.bins, histogram, strict=True)
        ],
        "knocks": _knocks(report),
    }  # fmt: skip
    return {f"{name}.csv": _text(_COLUMNS[name], [*rows]) for name, rows in tables.items()}


def _text(columns: tuple[str, ...], rows: list[Any]) -> str:
    """Numbers that read back as they were; nothing where there is none."""
    frame = pd.DataFrame(rows, columns=list(columns)).replace([np.inf, -np.inf], np.nan)
    return frame.to_csv(index=False, lineterminator="\n")


def _endings(report: Report) -> Iterator[tuple[Any, ...]]:
    for s in report.standings:
        for who, shares in (("player", s.own), ("others", s.others), ("nobody", {"void": s.void})):
            for ending, share in shares.items():
                yield s.player, who, ending, share, round(share * s.hands)


def _knocks(report: Report) -> Iterator[tuple[Any, ...]]:
    """Only what happened: turns from 1, the last one for all later ones too."""
    for s in report.standings:
        could, did = s.knocks
        for limit, turn, deadwood in np.argwhere(could):
            at = limit, turn, deadwood
            yield s.player, limit, turn + 1, deadwood, could[at], did[at]
