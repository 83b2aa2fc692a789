"""The ladder: the agent against fixed players on fixed decks, at every checkpoint; the curve of that, and its best point."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env import Rules, players
from okgin_env.arena.deals import Played
from okgin_env.arena.match import play_deals
from okgin_env.arena.statistics import clustered_mean
from okgin_env.layout import ENDINGS
from okgin_env.learning import curve
from okgin_env.learning.config import TrainConfig
from okgin_env.players.base import Player
from okgin_env.utils.files import write_text

CURVE_COLUMNS: tuple[str, ...] = ("steps", "seconds", "against", "points", "low", "high")
EVALUATION_SEED = 1_000_003  # fixed decks, none of which the table at the end uses
FLOOR = "random"  # beaten by so much that it would drown the others in the choice of the best


def climb(
    agent: Player, config: TrainConfig, rules: Rules, steps: int, seconds: float
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Plays the agent against every player of the ladder.

    Args:
        agent: The agent as it is now.
        config: The run.
        rules: Its rules.
        steps: Steps so far.
        seconds: Seconds so far.

    Returns:
        Rows of the curve, and numbers for TensorBoard by name: points, endings and knocks by limit.
    """
    rows, scalars = [], {}
    n_deals = max(2, config.evaluation_hands // rules.players)
    for name in config.ladder:
        played = play_deals(agent, players.make(name), rules, EVALUATION_SEED, 0, n_deals)
        mean, low, high = clustered_mean(played.results.points)
        row = (steps, round(seconds, 1), name, mean, low, high)
        rows.append(dict(zip(CURVE_COLUMNS, row, strict=True)))
        scalars |= {f"points_against/{name}": mean, **_behaviour(played, name)}
    return rows, scalars


def _behaviour(played: Played, name: str) -> dict[str, float]:
    """How the agent ended hands against a player, and how often it knocked when it could, by limit."""
    own = played.results.ended_by == 0
    told = {
        f"endings_against_{name}/{ending}": float((own & (played.results.ending == k)).mean())
        for k, ending in enumerate(ENDINGS)
        if ending in ("knock", "gin", "undercut", "void")
    }
    could, did = played.knocks[0].sum(axis=(2, 3))
    for limit in np.flatnonzero(could).tolist():
        told[f"knocks_against_{name}/limit_{limit}"] = float(did[limit] / could[limit])
    return told


def is_best(rows: list[dict[str, Any]]) -> bool:
    """Whether the newest steps of a curve have the most points, summed over the ladder without `FLOOR`."""
    sums: dict[int, float] = {}
    for row in rows:
        if row["against"] != FLOOR:
            sums[row["steps"]] = sums.get(row["steps"], 0.0) + row["points"]
    newest = max(sums, default=0)
    return all(points < sums[newest] for steps, points in sums.items() if steps != newest)


def read_curve(path: Path, steps: int) -> list[dict[str, Any]]:
    """The learning curve up to a step."""
    return [row for row in curve.read_curve(path) if row["steps"] <= steps]


def write_curve(path: Path, rows: list[dict[str, Any]]) -> None:
    """Writes the learning curve as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CURVE_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())
