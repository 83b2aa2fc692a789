"""Opponents that change during training: from each game's next deal, in every environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import okgin_env
from okgin_env.engine.games import Games
from okgin_env.kernel.policies import EXTERNAL, POLICY_IDS
from okgin_env.players import Bot
from okgin_env.vector import OklahomaGinVectorEnv

CAMPER, SIMPLE = POLICY_IDS["camper"], POLICY_IDS["simple"]


class First(Bot):
    """Takes the first legal action, and counts how often it is asked."""

    def __init__(self, name: str) -> None:
        self.name, self.asked = name, 0

    def choose(self, view: Any, rng: np.random.Generator) -> int:
        self.asked += 1
        return view.legal[0]


def _first_legal(masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1).astype(np.int64)


@pytest.mark.parametrize("episode", ["hand", "match"])
def test_a_compiled_opponent_plays_its_hand_to_the_end(episode: str) -> None:
    """Who sat there when the hand was dealt is who ends it; the next deal seats the other."""
    games, everyone = Games(64, opponent="simple", episode=episode), np.arange(64)
    games.seed(everyone, np.arange(64, dtype=np.uint64))
    written = games.reset(everyone)
    for _ in range(3):
        written = games.step(_first_legal(written.masks), everyone, True)
    dealt = games.states["deck"].copy()
    games.set_opponents("camper")
    changed = np.zeros(64, np.bool_)
    for _ in range(120):
        sits = games.policies[:, 1]
        changed |= (games.states["deck"] != dealt).any(axis=1)
        assert (sits == np.where(changed, CAMPER, SIMPLE)).all()
        if changed.all():
            return
        written = games.step(_first_legal(written.masks), everyone, True)
    raise AssertionError("some hand never ended")


def test_players_from_outside_change_at_the_deal_too() -> None:
    old, newer, newest = First("old"), First("newer"), First("newest")
    games, one = Games(1, opponent=old), np.zeros(1, np.int64)
    games.seed(one, np.array([5], np.uint64))
    written = games.reset(one)
    games.set_opponents(newer)
    games.set_opponents(newest)  # before anybody has dealt: the one between never plays
    done = False
    while not done:
        written = games.step(_first_legal(written.masks), one, False)
        done = bool(written.dones[0])
    assert old.asked > 0
    assert (newer.asked, newest.asked) == (0, 0)
    asked = old.asked
    for _ in range(3):
        written = games.reset(one)
        games.step(_first_legal(written.masks), one, False)
    assert old.asked == asked
    assert newer.asked == 0
    assert newest.asked > 0


def test_at_once_is_at_once() -> None:
    games = Games(3, opponent="simple")
    games.set_opponents(pool=["camper", First("outside")], at_once=True)
    assert games.policies[:, 1].tolist() == [CAMPER, EXTERNAL, CAMPER]
    assert not games.policies[:, 0].any() or (games.policies[:, 0] == EXTERNAL).all()


def test_the_vector_environment_takes_a_pool() -> None:
    """Game i is the one of a single environment against `pool[i % len(pool)]`."""
    pool = ["simple", "camper", "knocker"]
    vector = OklahomaGinVectorEnv(5, pool=pool)
    singles = [gym.make(okgin_env.ENV_ID, opponent=pool[i % 3]) for i in range(5)]
    observations, info = vector.reset(seed=11)
    for i, env in enumerate(singles):
        assert np.array_equal(env.reset(seed=11 + i)[0], observations[i])
    actions = _first_legal(info["action_mask"])
    for _ in range(4):
        observations, _, dones, _, info = vector.step(actions)
        if dones.any():
            break
        for i, env in enumerate(singles):
            assert np.array_equal(env.step(actions[i])[0], observations[i])
        actions = _first_legal(info["action_mask"])


def test_the_single_environment_takes_one_of_the_pool_after_the_other() -> None:
    env: Any = gym.make(okgin_env.ENV_ID, pool=["simple", "camper"]).unwrapped
    sits = []
    for seed in (1, None, None, 1, None):
        env.reset(seed=seed)
        sits.append(int(env.games.policies[0, 1]))
    assert sits == [SIMPLE, CAMPER, SIMPLE, SIMPLE, CAMPER]  # a seeded reset begins anew
    env.set_opponents("knocker")
    env.reset()
    assert env.games.policies[0, 1] == POLICY_IDS["knocker"]


def test_sb3_takes_both() -> None:
    sb3 = pytest.importorskip("okgin_env.sb3")
    env = sb3.OklahomaGinVecEnv(2, pool=["simple", "camper"], seed=3)
    env.reset()
    assert env.games.policies[:, 1].tolist() == [SIMPLE, CAMPER]
    env.set_opponents("knocker")
    assert env.games.policies[:, 1].tolist() == [SIMPLE, CAMPER]
    env.reset()
    assert env.games.policies[:, 1].tolist() == [POLICY_IDS["knocker"]] * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "opponent=None; allowed: a player"),
        ({"opponent": "nobody"}, "player 'nobody'; allowed: random"),
        ({"pool": "simple"}, "pool='simple'; allowed: a list of opponents"),
        ({"opponent": ["simple", "camper"]}, "allowed: one player, or 1 of them"),
        (
            {"opponent": lambda observation, mask: 0},
            "derived from okgin_env.players.base.Player",
        ),
    ],
)
def test_bad_opponents_change_nothing(arguments: dict[str, Any], said: str) -> None:
    env: Any = gym.make(okgin_env.ENV_ID).unwrapped
    env.reset(seed=1)
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        env.set_opponents(**arguments)
    env.reset()
    assert env.games.policies[0, 1] == SIMPLE
