"""The command line of our players at OpenSpiel's table."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from okgin_env import players
from okgin_env.layout import ENDINGS
from okgin_env.peers import spiel
from okgin_env.peers.spiel_hand import DIFFERENCES
from okgin_env.peers.spiel_table import (
    TableResults,
    play_at_openspiel,
    seated,
)
from okgin_env.utils.commands import run

PROG = "python -m okgin_env.peers.openspiel"
EXAMPLES = """
examples:
  python -m okgin_env.peers.openspiel simple openspiel --hands 2000 --seed 0
  python -m okgin_env.peers.openspiel camper openspiel --knock-10
  python -m okgin_env.peers.openspiel runs/quick/model.zip openspiel

a player is one of:
  openspiel OpenSpiel's own simple_gin_rummy_bot
{players}

OpenSpiel's player lays off nothing, and no melds against gin: at its own table it pays for both.
docs/peers.md says what else differs from our table.
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog=PROG,
        description="Plays two players at OpenSpiel's table: its gin_rummy deals, says what is legal and pays. Every "
        "deck is played from both seats; prints points a hand with 95 % intervals (clustered by deck), endings, "
        "and how often the two engines differed.",
        epilog=EXAMPLES.format(players=players.listed()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("a", metavar="PLAYER", help="a player (see below)")
    add("b", metavar="PLAYER", help="another, or the same")
    add("--hands", type=int, default=2000, help="hands, two for each deck (default: 2000)")
    add("--seed", type=int, default=0, help="same seed, same hands (default: 0)")
    add(
        "--knock-10",
        action="store_true",
        help="knock with 10 or less, as in plain gin rummy (default: Oklahoma, the upcard's pips)",
    )
    return made


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return run(parser(), _report, argv)


def _report(args: argparse.Namespace) -> None:
    """Plays and prints."""
    if args.hands < 2:
        raise ValueError(f"--hands {args.hands}; allowed: 2 or more")
    if args.seed < 0:
        raise ValueError(f"--seed {args.seed}; allowed: 0 or more")
    spiel.game()
    pair = seated(args.a), seated(args.b)
    results = _played(pair, args.hands, args.seed, not args.knock_10)
    game = "knock with 10" if args.knock_10 else "Oklahoma"
    print(f"OpenSpiel's table, {game}, seed {args.seed}\n\n{as_text(results)}")


def _played(pair: tuple[Any, Any], n_hands: int, seed: int, oklahoma: bool) -> TableResults:
    """The hands, with a progress bar on the screen (what is printed stays clean)."""
    try:
        from rich.console import Console
        from rich.progress import Progress

        import okgin_env.arena.statistics  # noqa: F401  (missing: said before the hands are played)
    except ImportError as error:
        raise ImportError(f"{error.name} is missing: pip install 'okgin-env[peers]'") from error
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("at OpenSpiel's table", total=2 * (n_hands // 2))
        return play_at_openspiel(
            *pair, n_hands, seed, oklahoma, progress=lambda n: bar.advance(task, n)
        )


def as_text(results: TableResults) -> str:
    """The results as a Markdown table, and under it what differed from our table."""
    from okgin_env.arena.statistics import clustered_mean

    points, low, high = clustered_mean(results.points)
    decided = (results.points != 0).astype(np.float64)
    won = clustered_mean((results.points > 0).astype(np.float64), decided)[0]
    void = float((results.ending == ENDINGS.index("void")).mean())
    refused = results.differences["knock_refused"]
    lines = [
        "| player | against | hands | points a hand (95 %) | hands won "
        "| knock / gin / undercut by player | by opponent | void | fallbacks by player | by opponent |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        f"| {results.a} | {results.b} | {results.points.size:,} "
        f"| {points:+.2f} ({low:+.2f} to {high:+.2f}) | {_percent(won)} "
        f"| {_endings(results, 0)} | {_endings(results, 1)} | {_percent(void)} "
        f"| {refused[0]} | {refused[1]} |",
    ]
    seen = [name for name in DIFFERENCES if results.differences[name].any()]
    if seen:
        lines += ["", "| difference | by player | by opponent |", "|---|--:|--:|"]
        for name in seen:
            by_a, by_b = results.differences[name]
            lines.append(f"| {DIFFERENCES[name]} | {by_a} | {by_b} |")
    return "\n".join(lines)


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f} %"


def _endings(results: TableResults, player: int) -> str:
    own = results.ended_by == player
    shares = [
        float((own & (results.ending == ENDINGS.index(name))).mean())
        for name in ("knock", "gin", "undercut")
    ]
    return " / ".join(f"{100 * share:.1f}" for share in shares) + " %"
