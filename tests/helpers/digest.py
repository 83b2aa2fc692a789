"""A digest of everything that comes out of some hands over all presets.

    python -m tests.helpers.digest HANDS

`tests/kernel/test_plain.py` compares it compiled, uncompiled (``NUMBA_DISABLE_JIT=1``) and with bounds checks
(``NUMBA_BOUNDSCHECK=1``).
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from okgin_env import PRESETS, Rules, analysis, cards
from okgin_env.env import OklahomaGinEnv
from okgin_env.kernel.policies import POLICY_IDS
from okgin_env.layout import KNOCK, N_ACTIONS
from tests.helpers.random_tables import random_deck, random_rules

MOST_STEPS = 60  # decisions of the learner in one episode


def tables(n_hands: int) -> Iterator[tuple[Rules, str, str, int]]:
    """Rules, opponent, episode and seed of each episode."""
    rng = Random(5)
    for hand in range(n_hands):
        rules = Rules.preset(PRESETS[hand % len(PRESETS)], 2 + hand // len(PRESETS) % 3)
        if hand % 3 == 2:
            rules = random_rules(rng)
        episode = "match" if rules.target is not None and hand % 2 else "hand"
        yield rules, [*POLICY_IDS][hand % len(POLICY_IDS)], episode, hand


def play(rules: Rules, opponent: str, episode: str, seed: int) -> Iterator[str]:
    """One episode as lines of text: the learner knocks when it may, else plays at random."""
    env = OklahomaGinEnv(rules, opponent, episode, seat=seed % rules.players)
    rng = Random(seed)
    options: dict[str, Any] = {"deck": random_deck(rng)} if seed % 4 else {}
    if options and episode == "hand":
        options["dealer"] = (env.games.seat - 1) % rules.players  # the learner is asked first
    observation, info = env.reset(seed=seed, options=options)
    yield f"{rules} {opponent} {episode}"
    for _ in range(MOST_STEPS):
        legal = np.flatnonzero(info["action_mask"]).tolist()
        knocks = [action for action in legal if KNOCK <= action < N_ACTIONS - 4]
        action = rng.choice(knocks if knocks and rng.random() < 0.5 else legal)
        yield f"{observation.tobytes().hex()} {legal} {action}"
        observation, reward, terminated, _, info = env.step(action)
        plain = {
            name: getattr(value, "tolist", lambda v=value: v)() for name, value in info.items()
        }
        yield f"{reward:.9f} {terminated} {plain} {env.view().history}"
        if terminated:
            return


def analyse(n_hands: int) -> Iterator[str]:
    """Deadwood, arrangements, knocks, layoffs and settlements of hands rich in melds."""
    rng = Random(6)
    for _ in range(n_hands):
        deck = random_deck(rng)
        hand, other = deck[:11], deck[11:21]
        shown = analysis.arrange(hand[:10])
        yield (
            f"{cards.text(hand)} {analysis.deadwood(hand)} {shown} "
            f"{analysis.knock_discards(hand, rng.randrange(11))} {analysis.layoff(shown, other)} "
            f"{analysis.settle('classic', 0, [hand[:10], other])} "
            f"{analysis.settle('french', 2, [deck[:7], deck[7:14], deck[14:21]])}"
        )


def digest(n_hands: int) -> str:
    """A hash of all that comes out of some hands."""
    lines = [line for table in tables(n_hands) for line in play(*table)] + [*analyse(n_hands)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


if __name__ == "__main__":
    print(digest(int(sys.argv[1])))
