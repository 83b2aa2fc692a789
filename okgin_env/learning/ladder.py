"""The ladder: the agent against fixed players on fixed decks; the curve of that, and its best point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from okgin_env import Rules, players
from okgin_env.arena import tournament
from okgin_env.arena.match import play_deals
from okgin_env.arena.outcome import Played
from okgin_env.arena.plan import Plan
from okgin_env.arena.report import tables
from okgin_env.arena.statistics import clustered_mean
from okgin_env.arena.store.provenance import commit
from okgin_env.layout import ENDINGS
from okgin_env.players.base import Player
from okgin_env.utils.errors import told
from okgin_env.utils.files import write_text

RUN_COLUMNS = ("steps", "seconds", "against", "points", "low", "high")
ROUND_COLUMNS = ("round", "against", "points", "low", "high")
EVALUATION_SEED = 1_000_003  # fixed decks, none of which the table at the end uses
FLOOR = "random"  # beaten by so much that it would drown the others in the choice of the best

Row = dict[str, Any]


def climb(
    agent: Player, rungs: Sequence[str], rules: Rules, n_hands: int
) -> tuple[list[Row], dict[str, float]]:
    """Plays the agent against every player of the ladder.

    Args:
        agent: The agent as it is now.
        rungs: Against whom.
        rules: The rules.
        n_hands: Hands against each.

    Returns:
        A row of the curve (against, points, low, high) for each of them, and numbers for TensorBoard by name: points,
        endings and knocks by limit.
    """
    rows, scalars = [], {}
    n_deals = max(2, n_hands // rules.players)
    for name in rungs:
        played = play_deals(agent, players.make(name), rules, EVALUATION_SEED, 0, n_deals)
        mean, low, high = clustered_mean(played.results.points, most=rules.most_points)
        rows.append({"against": name, "points": mean, "low": low, "high": high})
        scalars |= {f"points_against/{name}": mean, **_behaviour(played, name)}
    return rows, scalars


def _behaviour(played: Played, name: str) -> dict[str, float]:
    """The agent's endings against a player, and how often it knocked when it could, by limit."""
    own = played.results.ended_by == 0
    shares = {
        f"endings_against_{name}/{ending}": float((own & (played.results.ending == k)).mean())
        for k, ending in enumerate(ENDINGS)
        if ending in ("knock", "gin", "undercut", "void")
    }
    could, did = played.knocks[0].sum(axis=(2, 3))
    for limit in np.flatnonzero(could).tolist():
        shares[f"knocks_against_{name}/limit_{limit}"] = float(did[limit] / could[limit])
    return shares


def evaluate(
    agent: Player, against: Sequence[str], rules: Rules, n_hands: int, seed: int
) -> dict[str, Any]:
    """The table at an end: hands against each player, and a tenth as many matches.

    Returns:
        What `evaluate.py --json` writes.
    """
    plan = Plan(rules=rules, n_hands=n_hands, seed=seed, first_only=True)
    return tournament.run([agent, *against], plan, about={"commit": commit()}).content


def write_evaluation(folder: Path, content: dict[str, Any]) -> None:
    """Writes that table as JSON and as text."""
    tables.write_json(folder / "evaluation.json", content)
    write_text(folder / "evaluation.md", tables.as_text(content) + "\n")


def in_a_line(rows: Sequence[Row], digits: int) -> str:
    """Points against each player, give or take."""
    return ", ".join(
        f"{r['against']} {r['points']:+.{digits}f} ± {(r['high'] - r['low']) / 2:.{digits}f}"
        for r in rows
    )


def is_best(curve: pd.DataFrame) -> bool:
    """Whether the newest steps of a curve have the most points, summed over the ladder without `FLOOR`."""
    sums = curve.loc[curve["against"] != FLOOR].groupby("steps")["points"].sum().to_numpy()
    return bool((sums[:-1] < sums[-1:]).all())


def table(head: str, parts: Iterable[tuple[str, pd.DataFrame]], digits: int) -> str:
    """Points with their intervals as a Markdown table.

    Args:
        head: Of its first columns.
        parts: For each line what its first columns say, and its rows of a curve.
        digits: Of the points.
    """
    labels, rows = zip(*parts, strict=True)
    names = list(rows[0]["against"])
    heads = [*head.split(" | "), *names]
    lines = [f"| {' | '.join(heads)} |", "|" + "--:|" * len(heads)]
    for label, own in zip(labels, rows, strict=True):
        found = own.set_index("against").loc[names, ["points", "low", "high"]]
        cells = (
            f"{points:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"
            for points, low, high in found.to_numpy()
        )
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def read_curve(path: Path, columns: Sequence[str] = RUN_COLUMNS) -> pd.DataFrame:
    """The rows of a curve's CSV.

    Raises:
        ValueError: It is none.
        OSError: It cannot be read.
    """
    kinds: Any = dict.fromkeys(columns, "float64") | {"against": "str", columns[0]: "int64"}
    try:  # read as text first: versions of pandas differ in whether they read numbers to the last bit
        rows = pd.read_csv(path, usecols=list(columns), dtype="str", keep_default_na=False)
        return rows.loc[:, list(columns)].astype(kinds)
    except ValueError as error:
        raise ValueError(f"'{path}' is no learning curve: {told(error)}") from error


def write_curve(path: Path, rows: pd.DataFrame) -> None:
    """Writes a curve as CSV, whole or not at all; its numbers read back as they are."""
    write_text(path, rows.to_csv(index=False, lineterminator="\n"))
