"""How a refined policy stands against fixed players after each round: FOLDER/rounds.csv, and the table of it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from okgin_env import Rules, players
from okgin_env.arena.match import play_deals
from okgin_env.arena.statistics import clustered_mean
from okgin_env.learning.ladder import EVALUATION_SEED
from okgin_env.players.network import NetworkPlayer
from okgin_env.utils.files import write_text

LADDER = ("simple", "knocker", "camper")
COLUMNS: tuple[str, ...] = ("round", "against", "points", "low", "high")


def look(policy: Path, rules: Rules, out: Path, k: int, n_hands: int) -> str:
    """Plays the policy of a round against the ladder, on the decks that `train.py` uses, and adds to the curve.

    Args:
        policy: Its file.
        rules: The rules.
        out: The run's folder.
        k: The round.
        n_hands: Hands against each player.

    Returns:
        How it went, in a line.
    """
    rows, told, agent = _read(out), [], NetworkPlayer.load(policy, "agent")
    for name in LADDER:
        played = play_deals(agent, players.make(name), rules, EVALUATION_SEED, 0, n_hands // 2)
        mean, low, high = clustered_mean(played.results.points)
        rows.append(dict(zip(COLUMNS, map(str, (k, name, mean, low, high)), strict=True)))
        told.append(f"{name} {mean:+.2f} ± {(high - low) / 2:.2f}")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    write_text(out / "rounds.csv", text.getvalue())
    return ", ".join(told)


def known(out: Path) -> set[int]:
    """The rounds that the curve has."""
    return {int(row["round"]) for row in _read(out)}


def table(out: Path) -> str:
    """The curve of a run as a table: points a hand after each round."""
    rows = _read(out)
    lines = [f"| round | {' | '.join(LADDER)} |", "|--:|" + "--:|" * len(LADDER)]
    for k in sorted(known(out)):
        found = {row["against"]: row for row in rows if int(row["round"]) == k}
        cells = (
            "{:+.2f} ({:+.2f} to {:+.2f})".format(*(float(found[name][c]) for c in COLUMNS[2:]))
            for name in LADDER
        )
        lines.append(f"| {k} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _read(out: Path) -> list[dict[str, str]]:
    path = out / "rounds.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
