"""Measures how fast the expert decides, one decision at a time and in batches: ``python benchmarks/expert.py``."""

from __future__ import annotations

import argparse
import time

import numpy as np

from okgin_env.engine.games import Games
from okgin_env.players.expert import ExpertPlayer


def main() -> None:
    """Runs the command line: medians of several rounds, in processor time of one core."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="rounds (default: 9)")
    parser.add_argument("--batch", type=int, default=1024, help="decisions at once (default: 1024)")
    args = parser.parse_args()
    games, everyone, expert = Games(args.batch), np.arange(args.batch), ExpertPlayer()
    games.seed(everyone, everyone.astype(np.uint64))
    games.reset(everyone)
    for _ in range(9):  # into the middle of the hands
        games.step(expert.act(games.decisions(everyone)), everyone, autoreset=True)
    asked = games.decisions(everyone)
    ones = [asked[k : k + 1] for k in range(min(200, args.batch))]
    single, batched = [], []
    for _ in range(args.rounds):
        start = time.process_time()
        for one in ones:
            expert.act(one)
        single.append((time.process_time() - start) / len(ones))
        start = time.process_time()
        for _ in range(20):
            expert.act(asked)
        batched.append((time.process_time() - start) / (20 * args.batch))
    print("| | a decision | decisions a second |\n|---|--:|--:|")
    for name, times in (("one at a time", single), (f"{args.batch} at once", batched)):
        seconds = float(np.median(times))
        print(f"| {name} | {1e6 * seconds:.1f} µs | {1 / seconds:,.0f} |")


if __name__ == "__main__":
    main()
