"""Wrappers of the native vector environment: equal to a SyncVectorEnv of wrapped single environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from okgin_env import ENV_ID
from okgin_env.wrappers import (
    DeadwoodShaping,
    NamedObservation,
    RecordHands,
    VectorDeadwoodShaping,
    VectorNamedObservation,
)
from tests.helpers.same import check_same, legal_actions

N = 5


def _shaped(env: Any) -> Any:
    single = isinstance(env, gym.Env)
    return (DeadwoodShaping if single else VectorDeadwoodShaping)(env, 0.01, 0.9)


def _named(env: Any) -> Any:
    return (NamedObservation if isinstance(env, gym.Env) else VectorNamedObservation)(env)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("steps", [None, 4], ids=["whole", "truncated"])
@pytest.mark.parametrize(
    "wrap", [_shaped, _named, lambda env: _named(_shaped(env))], ids=["shaped", "named", "both"]
)
def test_equals_wrapped_single_environments(
    wrap: Callable[[Any], Any], steps: int | None, mode: AutoresetMode
) -> None:
    options: dict[str, Any] = {"opponent": "camper", "max_episode_steps": steps}
    ours: Any = wrap(gym.make_vec(ENV_ID, num_envs=N, autoreset_mode=mode, **options))
    singles = [lambda: wrap(gym.make(ENV_ID, **options))] * N
    theirs: Any = SyncVectorEnv(singles, autoreset_mode=mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    check_same(ours.reset(seed=3), theirs.reset(seed=3), "reset")
    rng = np.random.default_rng(2)
    n_ended = 0
    for k in range(80):
        actions = legal_actions(rng, ours.unwrapped.action_masks(), illegal=0.01)
        mine, other = ours.step(actions), theirs.step(actions)
        check_same(mine, other, f"step {k}")
        ended = mine[2] | mine[3]
        n_ended += int(ended.sum())
        if mode == AutoresetMode.DISABLED and ended.any():
            again = [env.reset(options={"reset_mask": ended.copy()}) for env in (ours, theirs)]
            check_same(again[0][0], again[1][0], f"reset after step {k}")
    assert n_ended > 5


def test_wrappers_name_the_form_for_other_environments(tmp_path: Any) -> None:
    vector, single = gym.make_vec(ENV_ID, num_envs=2), gym.make(ENV_ID)
    of_single: list[Callable[[Any], Any]] = [
        NamedObservation,
        lambda env: DeadwoodShaping(env, 0.1),
        lambda env: RecordHands(env, tmp_path / "hands.okgin"),
    ]
    for wrap in of_single:
        with pytest.raises(TypeError, match="VectorDeadwoodShaping"):
            wrap(vector)
    for wrap in (VectorNamedObservation, lambda env: VectorDeadwoodShaping(env, 0.1)):
        with pytest.raises(TypeError, match="NamedObservation, DeadwoodShaping"):
            wrap(single)
        with pytest.raises(TypeError, match="allowed: okgin_env/OklahomaGin-v0"):
            wrap(gym.make_vec("CartPole-v1", num_envs=2))
    with pytest.raises(TypeError, match=r"observation Dict.*allowed: Box"):
        VectorDeadwoodShaping(VectorNamedObservation(vector), 0.1)  # pyright: ignore
    with pytest.raises(ValueError, match="gamma=2; allowed"):
        VectorDeadwoodShaping(vector, 0.1, 2)


def test_single_wrappers_go_into_make_vec_in_sync_mode() -> None:
    env = gym.make_vec(
        ENV_ID, num_envs=2, vectorization_mode="sync", wrappers=[_shaped, NamedObservation]
    )
    observations, info = env.reset(seed=1)
    assert observations["hand"].shape == (2, 52)
    assert info["shaping"].tolist() == [0, 0]
