"""Records tests/data/playthroughs.okgin: hands of many rules and sizes, every ending among them.

    python -m tools.make_playthroughs

Only for a change of the rules or of the format: the file is there to notice any other one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from okgin_env import Rules, players
from okgin_env.env import OklahomaGinEnv
from okgin_env.histories import HandHistory, write
from okgin_env.layout import N_ACTIONS
from tests.helpers.paths import PLAYTHROUGHS

ONE = np.zeros(1, np.int64)


@dataclass(frozen=True)
class Wanted:
    """A hand to look for: the first seed that ends so is taken.

    Attributes:
        rules: The rules of the table.
        names: Players by seat.
        ending: How it shall end.
        illegal_at: The learner's decision that is made illegally, or None.
    """

    rules: Rules
    names: tuple[str, ...]
    ending: str
    illegal_at: int | None = None


_BIG = replace(Rules.preset("gin"), big_gin_bonus=50)
WANTED = (
    Wanted(Rules.preset("classic"), ("simple", "simple"), "knock"),
    Wanted(Rules.preset("classic"), ("careful", "camper"), "undercut"),
    Wanted(Rules.preset("french"), ("hunter", "camper"), "gin"),
    Wanted(Rules.preset("french", 3), ("simple", "knocker", "careful"), "knock"),
    Wanted(Rules.preset("french", 4), ("random", "novice", "simple", "camper"), "undercut"),
    Wanted(Rules.preset("gin"), ("knocker", "careful"), "knock"),
    Wanted(_BIG, ("hunter", "hunter"), "big_gin"),
    Wanted(Rules.preset("eaai"), ("simple", "novice"), "undercut"),
    Wanted(Rules.preset("openspiel"), ("random", "random"), "void"),
    Wanted(Rules.preset("openspiel", 3), ("hunter", "hunter", "hunter"), "gin"),
    Wanted(Rules(knock_limit=3, spades_double=True, max_turns=9), ("simple", "simple"), "void"),
    Wanted(Rules.preset("classic"), ("simple", "simple"), "illegal", 0),
    Wanted(Rules.preset("eaai", 3), ("simple", "camper", "random"), "illegal", 5),
)


def play(wanted: Wanted, seed: int, episode: str = "hand") -> list[HandHistory]:
    """Plays an episode; its hands."""
    env = OklahomaGinEnv(wanted.rules, wanted.names[1:], episode)
    learner = players.make(wanted.names[0])
    hands: list[HandHistory] = []
    env.games.recorder = lambda final: hands.append(
        HandHistory.from_record(final, wanted.rules, wanted.names, seed)
    )
    env.reset(seed=seed)
    terminated, n = False, 0
    while not terminated:
        action = int(learner.act(env.games.decisions(ONE))[0])
        terminated = env.step(N_ACTIONS if n == wanted.illegal_at else action)[2]
        n += 1
    return hands


def record() -> list[HandHistory]:
    """All hands of the file: those wanted, and then a match."""
    hands: list[HandHistory] = []
    for wanted in WANTED:
        found: list[HandHistory] = []
        seed = 0
        while not found or found[-1].ending != wanted.ending:
            seed += 1
            found = play(wanted, seed)
        hands += found
    rules = replace(Rules.preset("classic"), target=50, box_bonus=20, shutout=True)
    return hands + play(Wanted(rules, ("careful", "camper"), ""), 3, "match")


if __name__ == "__main__":
    write(PLAYTHROUGHS, record())
