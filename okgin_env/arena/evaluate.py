"""All pairs of some players, played and summed up: what `evaluate.py` and training call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

try:
    from rich.progress import Progress, TimeRemainingColumn
except ImportError as error:
    raise ImportError("the arena's tables need: pip install 'okgin-env[train]'") from error

from okgin_env.arena.match import play
from okgin_env.arena.report import Pair, ratings, table, write_json
from okgin_env.players.base import Player
from okgin_env.rules import Rules

__all__ = ["as_text", "round_robin", "write_json"]


def round_robin(
    players: Sequence[Player],
    rules: Rules,
    *,
    n_hands: int,
    n_matches: int,
    seed: int,
    first_only: bool = False,
    show_progress: bool = True,
) -> dict[str, Any]:
    """Plays every pair on the same decks.

    Args:
        players: Two or more, with different names.
        rules: The rules of the table.
        n_hands: Hands a pair (rounded down to whole decks, each played from every seat).
        n_matches: Matches a pair; none are played under rules without a target.
        seed: Seed of the decks.
        first_only: Whether to play only the pairs of the first player.
        show_progress: Whether to show a progress bar.

    Returns:
        What `evaluate.py --json` writes.

    Raises:
        ValueError: Two players of one name.
    """
    names = [player.name for player in players]
    if len(set(names)) < len(names) and (len(players) > 2 or players[0] != players[1]):
        raise ValueError(f"players {', '.join(names)}; allowed: different names")
    chosen = [(a, b) for a, b in combinations(players, 2) if a is players[0] or not first_only]
    n_deals = max(1, n_hands // rules.players)
    n_match_deals = -(-n_matches // rules.players) if rules.target is not None else 0
    pairs = []
    with Progress(
        *Progress.get_default_columns()[:-1], TimeRemainingColumn(), disable=not show_progress
    ) as bar:
        task = bar.add_task("", total=len(chosen) * (n_deals + n_match_deals))

        def advance(n_done: int) -> None:
            bar.advance(task, n_done)

        for a, b in chosen:
            bar.update(task, description=f"{a.name} against {b.name}")
            hands = play(a, b, rules, n_deals, seed, progress=advance)
            matches = None
            if n_match_deals:
                matches = play(a, b, rules, n_match_deals, seed, matches=True, progress=advance)
            pairs.append(Pair(hands, matches))
        bar.update(task, description="played")
    return {
        "rules": rules.label,
        "seed": seed,
        "pairs": [pair.summary() for pair in pairs],
        "ratings": ratings(pairs),
    }


def as_text(content: dict[str, Any]) -> str:
    """The table, with what it was made from above it and ratings below it."""
    lines = [f"rules {content['rules']}, seed {content['seed']}", "", table(content["pairs"])]
    if len(content["ratings"]) > 2:
        rated = ", ".join(f"{r['player']} {r['elo']:+.0f}" for r in content["ratings"])
        lines += ["", f"ratings (Elo scale, simple = 0): {rated}"]
    return "\n".join(lines)
