"""Compares our kernel with OpenSpiel's gin_rummy over many lock-step hands.

    python -m tools.lockstep_openspiel --hands 50000 --seed 1 --workers 2

Prints what was compared and how often each known difference came up, as markdown. The first
difference that is not a known one of OpenSpiel is printed with what it takes to play the hand again.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator

from okgin_env.rules import Rules
from tests.helpers.openspiel_oracle import CLASSES, COMPARED, OPENSPIEL, Mismatch, play_seed
from tools.reliability import Row, campaign, progress

HANDS_PER_TASK = 200
Task = tuple[int, range, Rules]


def play_some(task: Task) -> tuple[Counter[str], str]:
    """Plays the hands of a task: the counts, and the report of a mismatch or ""."""
    seed, hands, rules = task
    counts: Counter[str] = Counter()
    for hand in hands:
        try:
            play_seed(seed, hand, counts, rules)
        except Mismatch as error:
            return counts, str(error)
    return counts, ""


def play_all(n_hands: int, seed: int, workers: int, rules: Rules) -> tuple[Counter[str], str]:
    """Plays all hands; stops at the first mismatch."""
    tasks = [
        (seed, range(first, min(first + HANDS_PER_TASK, n_hands)), rules)
        for first in range(0, n_hands, HANDS_PER_TASK)
    ]
    total: Counter[str] = Counter()
    # Spawned, not forked: the compiler's and OpenSpiel's threads do not survive a fork.
    with (
        multiprocessing.get_context("spawn").Pool(workers) as pool,
        progress("hands", n_hands) as advance,
    ):
        for counts, mismatch in pool.imap(play_some, tasks):
            total.update(counts)
            advance(counts["hands"])
            if mismatch:
                return total, mismatch
    return total, ""


def table(title: str, rows: dict[str, str], counts: Counter[str]) -> str:
    """A markdown table of counts."""
    lines = [f"| {title} | count |", "|---|---:|"]
    lines += [f"| {text} | {counts[name]:,} |" for name, text in rows.items()]
    return "\n".join(lines)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The number of hands, the seed and the knock limit."""
    parser.add_argument("--hands", type=int, default=50_000, help="hands to play")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same hands")
    parser.add_argument("--workers", type=int, default=1, help="processes; no other hands by it")
    parser.add_argument(
        "--limit",
        default="upcard",
        choices=["upcard", *map(str, range(11))],
        help="knock limit: the upcard's pips (an ace: gin only) or a fixed one",
    )


def work(args: argparse.Namespace) -> Iterator[Row]:
    """Runs the comparison."""
    limit = args.limit if args.limit == "upcard" else int(args.limit)
    rules = dataclasses.replace(OPENSPIEL, knock_limit=limit)
    counts, mismatch = play_all(args.hands, args.seed, args.workers, rules)
    print(table("compared, equal in both", COMPARED, counts) + "\n")
    print(table("explained difference", CLASSES, counts) + "\n")
    if mismatch:
        print(mismatch, file=sys.stderr)
    how_often = f"{counts['hands']:,} hands, limit {args.limit}"
    found = "1 unexplained difference" if mismatch else "none"
    yield Row("kernel beside OpenSpiel, decision by decision", how_often, found)


if __name__ == "__main__":
    sys.exit(campaign(__doc__, add_options, work))
