"""Playouts a second of `search`, imagined worlds included, on one core: ``python benchmarks/playouts.py``."""

from __future__ import annotations

import argparse
import time

import numpy as np

from okgin_env import players
from okgin_env.engine.games import Games
from okgin_env.players.search import MAX_GATE, SearchPlayer

ROUNDS = 12  # decisions of each game, from the first on


def main() -> None:
    """Runs the command line: processor time over decisions from all of a hand; no move is dropped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20, help="hands (default: 20)")
    args = parser.parse_args()
    everyone, camper = np.arange(args.games), players.make("camper")
    print("| the others | playouts a second |\n|---|--:|")
    for theirs in ("knocker", "camper", "camper+knocker"):
        search = SearchPlayer(worlds=64, gate=MAX_GATE, theirs=theirs)
        games, n, spent = Games(args.games, opponent="camper"), 0, 0.0
        games.seed(everyone, everyone.astype(np.uint64))
        games.reset(everyone)
        first = games.decisions(everyone)
        search.values(first, 0, np.flatnonzero(first.masks[0]))  # compiled before it is timed
        for _ in range(ROUNDS):
            asked = games.decisions(everyone)
            for k in everyone.tolist():
                moves = np.flatnonzero(asked.masks[k])
                start = time.process_time()
                n += search.values(asked, k, moves).size
                spent += time.process_time() - start
            games.step(camper.act(asked), everyone, autoreset=True)
        print(f"| {theirs} | {n / spent:,.0f} |")


if __name__ == "__main__":
    main()
