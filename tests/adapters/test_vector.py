"""The native vector environment equals SyncVectorEnv of single environments, step by step."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import okgin_env
from okgin_env.env import OklahomaGinEnv
from okgin_env.vector import OklahomaGinVectorEnv

N = 6


def _equal(ours: Any, theirs: Any, where: str) -> None:
    """Deep equality of observations, arrays and infos."""
    if isinstance(theirs, tuple):
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            _equal(a, b, f"{where}[{k}]")
    elif isinstance(theirs, dict):
        assert set(ours) == set(theirs), (where, set(ours) ^ set(theirs))
        for key, value in theirs.items():
            _equal(ours[key], value, f"{where}[{key}]")
    elif isinstance(theirs, np.ndarray) and theirs.dtype == object:
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            _equal(a, b, f"{where}[{k}]")
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype, where
        assert np.array_equal(ours, theirs), where
    else:
        assert ours == theirs, where


def _actions(rng: np.random.Generator, masks: np.ndarray, illegal: float) -> np.ndarray:
    chosen = [int(rng.choice(np.flatnonzero(mask))) for mask in masks]
    return np.array([a if rng.random() > illegal else int(rng.integers(108)) for a in chosen])


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
    _equal(ours.reset(seed=3), theirs.reset(seed=3), "reset")
    masks = ours.action_masks()
    n_ends = 0
    for k in range(200):
        actions = _actions(rng, masks, illegal=0.01)
        mine, other = ours.step(actions), theirs.step(actions)
        for part, name in enumerate(("obs", "reward", "terminated", "truncated", "info")):
            _equal(mine[part], other[part], f"step {k} {name}")
        masks = ours.action_masks()
        n_ends += int(mine[2].sum())
        if mode == AutoresetMode.DISABLED and mine[2].any():
            again = {"reset_mask": mine[2].copy()}
            obs, _ = ours.reset(options=dict(again))
            other_obs, _ = theirs.reset(options=dict(again))
            _equal(obs, other_obs, f"reset after step {k}")
            masks = ours.action_masks()
    assert n_ends > 5
    # Seeded again, and unseeded after that: the same as well.
    _equal(ours.reset(seed=[5] * N), theirs.reset(seed=[5] * N), "reseeded")
    _equal(ours.reset(), theirs.reset(), "unseeded")


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
    _equal(one.reset(seed=9), two.reset(seed=9), "reset")
    for k in range(60):
        actions = _actions(rng, one.action_masks(), illegal=0.0)
        for mine, other in zip(one.step(actions), two.step(actions), strict=True):
            _equal(mine, other, f"step {k}")


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
        actions = _actions(rng, ours.action_masks(), illegal=0.0)
        obs, _, ended, *_ = ours.step(actions)
        theirs.step(actions)
        if k % 5 == 4 or (mode == AutoresetMode.DISABLED and ended.any()):
            again = {"reset_mask": mask | (ended if mode == AutoresetMode.DISABLED else mask)}
            mine, other = ours.reset(options=dict(again)), theirs.reset(options=dict(again))
            _equal(mine[0], other[0], f"reset after step {k}")
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
