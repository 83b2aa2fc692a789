"""Plays games any which way under any rules, and checks what must hold whatever is played.

    python -m tools.fuzz --decisions 100_000_000 --seed 1
    NUMBA_BOUNDSCHECK=1 python -m tools.fuzz --decisions 10_000_000 --seed 2
    python -m tools.fuzz --table 17 --seed 1          one table again, after a failure

A table is a set of rules (a preset for 2 to 4 players, or every field drawn anew) and many games under it. Seats are
scripted players, players that take any legal action and players that throw cards to and fro; in some games one
action in a hundred is any number at all. Games are begun anew in the middle, given decks rich in melds, copied before a
step and stepped twice, and saved to bytes and loaded again. `tests/helpers/kernel_batch.py` checks each decision and each end.
The first thing that does not hold is printed with all it takes to see it again.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator

from okgin_env.layout import ENDINGS
from tests.helpers.kernel_batch import Batch, Broken
from tools.reliability import Row, campaign, progress

ROUNDS = 200  # decisions of each game of a table


def add_options(parser: argparse.ArgumentParser) -> None:
    """The amount of work and the seed."""
    parser.add_argument("--decisions", type=int, default=2_000_000, help="decisions in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", type=int, help="only this table")


def work(args: argparse.Namespace) -> Iterator[Row]:
    """Plays tables until the decisions are reached or something does not hold."""
    counts: Counter[str] = Counter()
    index, found = args.table or 0, "none"
    with progress("decisions", args.decisions) as advance:
        while counts["decisions"] < args.decisions and found == "none":
            before = counts["decisions"]
            try:
                Batch(args.seed, index, counts=counts).play(ROUNDS)
            except Broken as error:
                found = f"table {index}"
                print(f"{error}\n  again: python -m tools.fuzz --seed {args.seed} --table {index}", file=sys.stderr)  # fmt: skip
            advance(counts["decisions"] - before)
            index += 1
            if args.table is not None:
                break
    print("hands:", ", ".join(f"{name} {counts[name]:,}" for name in ENDINGS[1:]))
    checked = " with bounds checks" if os.environ.get("NUMBA_BOUNDSCHECK", "0") == "1" else ""
    how_often = f"{counts['decisions']:,} decisions, {index - (args.table or 0):,} sets of rules"
    yield Row(f"invariants under fuzz{checked}", how_often, found)


if __name__ == "__main__":
    sys.exit(campaign(__doc__, add_options, work))
