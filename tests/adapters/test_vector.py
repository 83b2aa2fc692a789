"""The native vector environment equals SyncVectorEnv of single environments, step by step."""

from __future__ import annotations

import dataclasses
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import okgin_env
from okgin_env.env import OklahomaGinEnv
from okgin_env.vector import OklahomaGinVectorEnv
from tests.helpers.same import check_same, legal_actions

N = 6


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(
    ("rules", "episode", "opponent"),
    [
        ("classic", "hand", "simple"),
        ("classic", "match", "random"),
        ("french", "hand", "knocker"),
        ("french", "match", "simple"),
        ("gin", "match", "camper"),
        ("eaai", "hand", "novice"),
        ("openspiel", "hand", "simple"),
    ],
)
def test_equals_sync(mode, rules, players, episode, opponent) -> None:
    options = {"rules": rules, "players": players, "episode": episode, "opponent": opponent}
    if episode == "match":  # short matches, so that some end
        preset = okgin_env.Rules.preset(rules, players)
        options["rules"] = dataclasses.replace(preset, target=20)
    ours = OklahomaGinVectorEnv(N, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([partial(OklahomaGinEnv, **options)] * N, autoreset_mode=mode)
    rng = np.random.default_rng(7)
    check_same(ours.reset(seed=3), theirs.reset(seed=3), "reset")
    masks = ours.action_masks()
    n_ends = 0
    for k in range(200):
        actions = legal_actions(rng, masks, illegal=0.01)
        mine, other = ours.step(actions), theirs.step(actions)
        for part, name in enumerate(("obs", "reward", "terminated", "truncated", "info")):
            check_same(mine[part], other[part], f"step {k} {name}")
        masks = ours.action_masks()
        n_ends += int(mine[2].sum())
        if mode == AutoresetMode.DISABLED and mine[2].any():
            again = {"reset_mask": mine[2].copy()}
            obs, _ = ours.reset(options=dict(again))
            other_obs, _ = theirs.reset(options=dict(again))
            check_same(obs, other_obs, f"reset after step {k}")
            masks = ours.action_masks()
    assert n_ends > 5
    # Seeded again, and unseeded after that: the same as well.
    check_same(ours.reset(seed=[5] * N), theirs.reset(seed=[5] * N), "reseeded")
    check_same(ours.reset(), theirs.reset(), "unseeded")


def test_made_by_make_vec_and_fresh_arrays() -> None:
    env = gym.make_vec("okgin_env/OklahomaGin-v0", num_envs=3, rules="eaai", opponent="novice")
    assert isinstance(env.unwrapped, OklahomaGinVectorEnv)
    assert env.unwrapped.games.rules.label == "eaai"
    obs, info = env.reset(seed=1)
    kept = obs.copy(), info["action_mask"].copy()
    later, *_, later_info = env.step(np.array([105, 105, 105]))
    assert np.array_equal(obs, kept[0])
    assert np.array_equal(info["action_mask"], kept[1])
    assert not np.shares_memory(obs, later)
    assert not np.shares_memory(info["action_mask"], later_info["action_mask"])


def test_threads_make_no_difference() -> None:
    one, two = (OklahomaGinVectorEnv(300, threads=threads) for threads in (1, 2))
    rng = np.random.default_rng(0)
    check_same(one.reset(seed=9), two.reset(seed=9), "reset")
    for k in range(60):
        actions = legal_actions(rng, one.action_masks(), illegal=0.0)
        for mine, other in zip(one.step(actions), two.step(actions), strict=True):
            check_same(mine, other, f"step {k}")


def test_given_deck_goes_to_the_games_reset() -> None:
    env = OklahomaGinVectorEnv(4, autoreset_mode="Disabled")
    obs, _ = env.reset(seed=0, options={"deck": list(range(52)), "dealer": 1})
    assert (obs == obs[0]).all()
    mask = np.array([False, True, False, False])
    obs, info = env.reset(options={"reset_mask": mask})
    assert (obs[[0, 2, 3]] == obs[0]).all()
    assert (obs[1] != obs[0]).any()
    assert info["_action_mask"].tolist() == mask.tolist()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_reset_of_some_games_repeats_the_rows_of_the_others(mode) -> None:
    ours = OklahomaGinVectorEnv(N, autoreset_mode=mode)
    theirs = SyncVectorEnv([OklahomaGinEnv] * N, autoreset_mode=mode)
    obs, _ = ours.reset(seed=3)
    theirs.reset(seed=3)
    rng = np.random.default_rng(7)
    mask = np.arange(N) == 1
    for k in range(40):
        actions = legal_actions(rng, ours.action_masks(), illegal=0.0)
        obs, _, ended, *_ = ours.step(actions)
        theirs.step(actions)
        if k % 5 == 4 or (mode == AutoresetMode.DISABLED and ended.any()):
            again = {"reset_mask": mask | (ended if mode == AutoresetMode.DISABLED else mask)}
            mine, other = ours.reset(options=dict(again)), theirs.reset(options=dict(again))
            check_same(mine[0], other[0], f"reset after step {k}")
            assert (mine[0][~again["reset_mask"]] == obs[~again["reset_mask"]]).all()
            assert not np.shares_memory(mine[0], obs)


def test_some_games_alone_are_no_first_reset() -> None:
    env = OklahomaGinVectorEnv(3)
    with pytest.raises(ResetNeeded, match="reset_mask at the first reset"):
        env.reset(seed=1, options={"reset_mask": np.array([True, False, False])})
    env.reset(seed=1, options={"reset_mask": np.ones(3, bool)})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda e: e.step(np.zeros(3, int)),
            r"shape \(3,\) and type int64; allowed: \(4,\) integers",
        ),
        (lambda e: e.reset(seed=[1, 2]), "2 seeds; allowed: 4"),
        (lambda e: e.reset(options={"reset_mask": np.zeros(4, bool)}), "with a True"),
        (lambda e: e.reset(options={"dealer": 7}), "dealer=7; allowed: 0 to 1"),
        (lambda e: OklahomaGinVectorEnv(2, autoreset_mode="x"), "autoreset_mode='x'; allowed"),
        (lambda e: OklahomaGinVectorEnv(0), "num_envs=0; allowed"),
    ],
)
def test_errors_are_clear(call, said) -> None:
    env = OklahomaGinVectorEnv(4)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=said):
        call(env)


# --- time limits, seeds ------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("steps", [1, 3, 15, -1])
@pytest.mark.parametrize("episode", ["hand", "match"])
def test_a_time_limit_truncates_as_in_sync(mode: AutoresetMode, steps: int, episode: str) -> None:
    options = {"opponent": "camper", "episode": episode, "max_episode_steps": steps}
    ours = gym.make_vec(okgin_env.ENV_ID, num_envs=N, autoreset_mode=mode, **options)
    theirs = gym.make_vec(
        okgin_env.ENV_ID, num_envs=N, vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode}, **options,
    )  # fmt: skip
    assert isinstance(ours, OklahomaGinVectorEnv)
    check_same(ours.reset(seed=3), theirs.reset(seed=3), "reset")
    rng, n_late = np.random.default_rng(7), 0
    for k in range(100):
        actions = legal_actions(rng, ours.action_masks(), illegal=0.02)
        mine = ours.step(actions)
        check_same(mine, theirs.step(actions), f"step {k}")
        n_late += int(mine[3].sum())
        ended = mine[2] | mine[3]
        if mode == AutoresetMode.DISABLED and ended.any():
            again = [env.reset(options={"reset_mask": ended.copy()}) for env in (ours, theirs)]
            check_same(again[0][0], again[1][0], f"reset after step {k}")
    assert (n_late > 5) == (steps > 0)


def test_a_registration_of_ones_own_with_a_time_limit() -> None:
    spec = gym.spec(okgin_env.ENV_ID)
    gym.register(
        "ShortGin-v0",
        entry_point=spec.entry_point,
        vector_entry_point=spec.vector_entry_point,
        max_episode_steps=3,
    )
    try:
        env = gym.make_vec("ShortGin-v0", num_envs=2, opponent="camper")
        env.reset(seed=1)
        late = [env.step(env.unwrapped.action_masks().argmax(1))[3].tolist() for _ in range(3)]  # pyright: ignore
        assert late == [[False] * 2, [False] * 2, [True] * 2]
        again = gym.make_vec(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))  # pyright: ignore
        assert again.unwrapped._max_steps == 3  # pyright: ignore
    finally:
        del gym.registry["ShortGin-v0"]
    with pytest.raises(ValueError, match="max_episode_steps=0; allowed: 1 or more, or None"):
        OklahomaGinVectorEnv(2, max_episode_steps=0)


def test_the_seed_is_told_as_by_gymnasiums_own_native_environments() -> None:
    ours = gym.make_vec(okgin_env.ENV_ID, num_envs=2)
    theirs = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="vector_entry_point")
    for seed in (3, None, 5):
        for env in (ours, theirs):
            env.reset(seed=seed)
        assert ours.np_random_seed == theirs.np_random_seed
