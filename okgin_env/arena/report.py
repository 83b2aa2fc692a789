"""Results as a table that can be pasted and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env.arena.match import Results
from okgin_env.arena.statistics import bradley_terry, clustered_mean
from okgin_env.files import write_text
from okgin_env.layout import ENDINGS

SHARES = ("knock", "gin", "undercut", "void")


@dataclass(frozen=True)
class Pair:
    """What two players did to each other: single hands, and matches if the rules have them."""

    hands: Results
    matches: Results | None

    def summary(self) -> dict[str, Any]:
        """The pair's entry in the JSON file (points are a's minus b's)."""
        hands = self.hands
        points, low, high = clustered_mean(hands.points)
        decided = (hands.winner >= 0).astype(np.float64)
        entry: dict[str, Any] = {
            "a": hands.a,
            "b": hands.b,
            "hands": hands.points.size,
            "points_per_hand": points,
            "ci95": [low, high],
            "hand_win_rate": clustered_mean((hands.winner == 0).astype(np.float64), decided)[0],
            "matches": 0,
            "match_win_rate": float("nan"),
            "match_ci95": [float("nan"), float("nan")],
            **{name: self._share(name) for name in SHARES},
            "turns_per_hand": float(hands.turns.mean()),
            "illegal": int((hands.ending == ENDINGS.index("illegal")).sum()),
            "by_a": self._by(0),
            "by_b": self._by(1),
            "ms_per_decision": hands.ms_per_decision,
        }
        if self.matches is not None:
            won = (self.matches.winner == 0).astype(np.float64)
            won[self.matches.winner < 0] = 0.5  # undecided after layout.MAX_MATCH_HANDS
            rate, low, high = clustered_mean(won)
            entry |= {"matches": won.size, "match_win_rate": rate, "match_ci95": [low, high]}
            entry["illegal"] += int((self.matches.ending == ENDINGS.index("illegal")).sum())
        return entry

    def _share(self, name: str) -> float:
        """Share of the hands that ended so; gin includes big gin."""
        found = self.hands.ending == ENDINGS.index(name)
        if name == "gin":
            found = found | (self.hands.ending == ENDINGS.index("big_gin"))
        return float(found.mean())

    def _by(self, player: int) -> dict[str, float]:
        """Shares of the hands that one player ended, by ending."""
        own = self.hands.ended_by == player
        return {
            name: float((own & (self.hands.ending == ENDINGS.index(name))).mean())
            for name in ("knock", "gin", "big_gin", "undercut", "illegal")
        }


def ratings(pairs: Sequence[Pair], anchor: str = "simple") -> list[dict[str, Any]]:
    """Bradley-Terry ratings on the Elo scale from matches (or hands), `anchor` (if it played) at 0."""
    names = sorted({name for pair in pairs for name in (pair.hands.a, pair.hands.b)})
    wins = np.zeros((len(names), len(names)), np.int64)
    for pair in pairs:
        played = pair.matches or pair.hands
        i, j = names.index(pair.hands.a), names.index(pair.hands.b)
        if i != j:
            wins[i, j] += (played.winner == 0).sum()
            wins[j, i] += (played.winner == 1).sum()
    elo = bradley_terry(wins)
    elo -= elo[names.index(anchor)] if anchor in names else 0.0
    rated = [{"player": name, "elo": float(value)} for name, value in zip(names, elo, strict=True)]
    return sorted(rated, key=lambda entry: -entry["elo"])


def table(summaries: Sequence[dict[str, Any]]) -> str:
    """The pairs as a Markdown table."""
    head = (
        "| player | against | hands | points a hand (95 %) | hands won | matches won (95 %) "
        "| knock / gin / undercut by player | by opponent | void | turns | illegal | ms a move |"
    )
    lines = [head, "|" + "---|" * 12]
    lines[1] = "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for s in summaries:
        low, high = s["ci95"]
        match = "-"
        if s["matches"]:
            mlow, mhigh = s["match_ci95"]
            match = f"{_pc(s['match_win_rate'])} ({_pc(mlow)} to {_pc(mhigh)})"
        lines.append(
            f"| {s['a']} | {s['b']} | {s['hands']:,} "
            f"| {s['points_per_hand']:+.2f} ({low:+.2f} to {high:+.2f}) "
            f"| {_pc(s['hand_win_rate'])} | {match} | {_endings(s['by_a'])} | {_endings(s['by_b'])} "
            f"| {_pc(s['void'])} | {s['turns_per_hand']:.1f} | {s['illegal']} "
            f"| {s['ms_per_decision'][s['a']]:.4f} |"
        )
    return "\n".join(lines)


def _pc(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def _endings(by: dict[str, float]) -> str:
    gin = by["gin"] + by["big_gin"]
    return " / ".join(f"{100 * share:.1f}" for share in (by["knock"], gin, by["undercut"])) + " %"


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes JSON whole or not at all; what is not a number becomes null."""
    write_text(path, json.dumps(_plain(content), indent=1, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
