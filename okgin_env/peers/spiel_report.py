"""The command line of our players at OpenSpiel's table."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from okgin_env import players
from okgin_env.layout import ENDINGS
from okgin_env.peers.spiel_hand import DIFFERENCES
from okgin_env.peers.spiel_table import TableResults, check, play_at_openspiel, seated
from okgin_env.rules import Rules
from okgin_env.utils.commands import add_options, option, options_of, run

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


@dataclass(frozen=True)
class Options:
    """The hands to be played."""

    hands: int = option(2000, "hands, two for each deck")
    seed: int = option(0, "same seed, same hands")
    knock_10: bool = option(
        False, "knock with 10 or less, as in plain gin rummy, not with the upcard's pips (Oklahoma)"
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m okgin_env.peers.openspiel",
        description="Plays two players at OpenSpiel's table: its gin_rummy deals, says what is legal and pays. Every "
        "deck is played from both seats; prints points a hand with 95 % intervals (clustered by deck), endings, "
        "and how often the two engines differed.",
        epilog=EXAMPLES.format(players=players.listed()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("a", metavar="PLAYER", help="a player (see below)")
    made.add_argument("b", metavar="PLAYER", help="another, or the same")
    add_options(made, Options)
    return made


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return run(parser(), _report, argv)


def _report(args: argparse.Namespace) -> None:
    """Plays with a progress bar on standard error, and prints."""
    try:
        from rich.console import Console
        from rich.progress import Progress

        import okgin_env.arena.statistics  # noqa: F401  (missing: said before the hands are played)
    except ImportError as error:
        raise ImportError(f"{error.name} is missing: pip install 'okgin-env[peers]'") from error
    chosen, pair = Options(**options_of(args, Options)), (seated(args.a), seated(args.b))
    check(chosen.hands, chosen.seed)  # before a bar is shown
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("at OpenSpiel's table", total=2 * (chosen.hands // 2))
        results = play_at_openspiel(
            *pair, chosen.hands, chosen.seed, not chosen.knock_10, lambda n: bar.advance(task, n)
        )
    game = "knock with 10" if chosen.knock_10 else "Oklahoma"
    print(f"OpenSpiel's table, {game}, seed {chosen.seed}\n\n{as_text(results)}")


def as_text(results: TableResults) -> str:
    """The results as a Markdown table, and under it what differed from our table."""
    from okgin_env.arena.statistics import clustered_mean

    most = Rules.preset("openspiel").most_points
    points, low, high = clustered_mean(results.points, most=most)
    decided = 1.0 * (results.points != 0)
    won = clustered_mean(1.0 * (results.points > 0), decided)[0]
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
    seen = [(text, *results.differences[name]) for name, text in DIFFERENCES.items()]
    rows = [f"| {text} | {by_a} | {by_b} |" for text, by_a, by_b in seen if by_a or by_b]
    if rows:
        lines += ["", "| difference | by player | by opponent |", "|---|--:|--:|", *rows]
    return "\n".join(lines)


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f} %"


def _endings(results: TableResults, player: int) -> str:
    own = results.ending[results.ended_by == player]
    counts = [(own == ENDINGS.index(name)).sum() for name in ("knock", "gin", "undercut")]
    return " / ".join(f"{100 * n / results.ending.size:.1f}" for n in counts) + " %"
