"""Plays many hands in the compiled kernel and in the plain twin at the same time, comparing everything.

    python -m tools.lockstep_twin --hands 20000 --seed 1

`tests/helpers/lockstep.py` says what is compared. The first difference is printed with all it takes to play that table again.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from okgin_env.layout import ENDINGS
from tests.helpers.lockstep import Mismatch, play_table
from tools.reliability import Row, campaign, progress


def add_options(parser: argparse.ArgumentParser) -> None:
    """The amount of work and the seed."""
    parser.add_argument("--hands", type=int, default=2000, help="hands to play, at least")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same hands")
    parser.add_argument("--table", type=int, help="play only this table, to look at a difference")


def work(args: argparse.Namespace) -> Iterator[Row]:
    """Plays tables until the hands are reached or a difference is found."""
    counts: Counter[str] = Counter()
    index, found = args.table or 0, "none"
    with progress("hands", args.hands) as advance:
        while counts["hands"] < args.hands and found == "none":
            before = counts["hands"]
            try:
                play_table(args.seed, index, counts)
            except Mismatch as error:
                found = "1 difference"
                print(error, file=sys.stderr)
            advance(counts["hands"] - before)
            index += 1
            if args.table is not None:
                break
    print("| compared, equal in both | count |\n|---|---:|")
    for name in ("tables", "hands", "decisions", "matches won", *ENDINGS[1:], "void by max_turns"):
        print(f"| {name} | {counts[name]:,} |")
    how_often = ", ".join(f"{counts[name]:,} {name}" for name in ("decisions", "hands", "tables"))
    yield Row("kernel beside its plain twin, decision by decision", how_often, found)


if __name__ == "__main__":
    sys.exit(campaign(__doc__, add_options, work))
