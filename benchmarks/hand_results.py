"""Counts how hands of a player against itself end, by preset: match tables are solved from that.

Writes okgin_env/players/hand_results.json: ``python benchmarks/hand_results.py``.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from okgin_env import PRESETS, Rules
from okgin_env.engine.games import Games
from okgin_env.kernel.batch import NO_ACTION, NOBODY
from okgin_env.kernel.policies import POLICY_IDS
from okgin_env.players.equity import FILE
from okgin_env.utils.files import write_text


def results(rules: Rules, player: str, n_hands: int, seed: int) -> np.ndarray:
    """(2, P) shares of hands that bring the dealer, or the other seat, k points; nobody's are halved in column 0."""
    tables, games = Games(n_hands, rules, no_learner=NOBODY), np.arange(n_hands)
    seeds = np.random.SeedSequence(seed).generate_state(n_hands, np.uint64).astype(np.uint64)
    tables.seed(games, seeds)
    tables.reset(games)
    tables.policies[:] = POLICY_IDS[player]
    tables.step(np.full(n_hands, NO_ACTION), games, False)
    states = tables.states
    dealer = states["dealer"].astype(np.int64)
    points = states["points"].astype(np.int64)
    size = int(points.max()) + 1
    shares = np.stack(
        [np.bincount(points[games, seat], minlength=size) for seat in (dealer, 1 - dealer)]
    )
    void = int((states["hand_winner"] < 0).sum())
    shares = shares / n_hands
    shares[:, 0] = void / n_hands / 2
    return shares


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--player", default="camper", help="against itself (default: camper)")
    parser.add_argument("--hands", type=int, default=1_000_000, help="a preset (default: 1000000)")
    parser.add_argument("--seed", type=int, default=0, help="of the hands (default: 0)")
    args = parser.parse_args()
    content = {}
    for name in PRESETS:
        rules = Rules.preset(name)
        if rules.target is not None:
            shares = results(rules, args.player, args.hands, args.seed)
            content[rules.label] = [[round(float(p), 7) for p in row] for row in shares]
            print(f"{name}: nobody {2 * shares[0, 0]:.1%}, dealer {shares[0, 1:].sum():.1%}")
    write_text(FILE, json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
