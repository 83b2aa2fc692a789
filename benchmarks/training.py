"""Training on the native VecEnv against training on an environment that costs nothing, and our learner against sb3-contrib's.

All have the settings of a `train.py` preset and train in turn, one rollout and its update at a time. The first ratio says what
share of training the environment leaves to learning.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor
from torch.distributions import Distribution

from benchmarks.measure import Contestant
from okgin_env.learning.config import PRESETS, TrainConfig
from okgin_env.learning.fast_ppo import has_bfloat16
from okgin_env.learning.model import make_env, make_model, settings
from okgin_env.sb3 import OklahomaGinVecEnv

STEPS_PER_EPISODE = 13  # the learner's decisions in a hand, about
_N_DRAWN = 256  # episode ends drawn beforehand
_NO_INFO: dict[str, Any] = {}


class FreeVecEnv(VecEnv):
    """The spaces, masks and episode lengths of the native VecEnv, and no game.

    Observations are fresh zeros, rewards zero, masks always the same real ones, episodes end by chance.

    Args:
        native: The environment to imitate.
    """

    def __init__(self, native: OklahomaGinVecEnv) -> None:
        self.render_mode = None
        super().__init__(native.num_envs, native.observation_space, native.action_space)
        self._shape = (native.num_envs, *native.observation_space.shape)  # pyright: ignore
        native.reset()
        self._masks = native.action_masks().copy()
        ends = np.random.default_rng(0).random((_N_DRAWN, native.num_envs))
        self._ends = ends < 1 / STEPS_PER_EPISODE
        self._at = 0

    def reset(self) -> NDArray[np.int8]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """(N, D) int8 zeros."""
        return np.zeros(self._shape, np.int8)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Ignores the actions."""

    def step_wait(self):
        """Zeros, zeros, ends drawn beforehand, and the same empty info for all."""
        self._at = (self._at + 1) % _N_DRAWN
        zeros = np.zeros(self.num_envs, np.float32)
        infos = [_NO_INFO] * self.num_envs
        return np.zeros(self._shape, np.int8), zeros, self._ends[self._at].copy(), infos

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        """The masks, as one array."""
        if method_name != "action_masks":
            raise AttributeError(method_name)
        return [self._masks]

    def action_masks(self) -> NDArray[np.bool_]:
        """(N, 108) bool."""
        return self._masks

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, once for each game."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set."""
        raise AttributeError(attr_name)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No wrappers inside."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to release."""


def contestants(preset: str, threads: int, quick: bool) -> list[Contestant]:
    """Training as `train.py` does, on a free environment, in each precision and with stock MaskablePPO: a rollout and its update.

    Args:
        preset: Preset of `train.py` whose settings both use.
        threads: Threads of torch, and of the native environment.
        quick: Shorter rollouts, for a look only.
    """
    config = replace(PRESETS[preset], threads=threads)
    if quick:
        config = replace(config, rollout=config.rollout // 4)
    torch.set_num_threads(threads)
    Distribution.set_default_validate_args(False)  # as okgin_env/learning/ppo.py does
    on = f"settings of train.py --preset {preset}, torch and environment on {threads} thread{'s' * (threads > 1)}"
    free = FreeVecEnv(make_env(replace(config, threads=1)))
    rows: list[tuple[str, str, VecEnv, dict[str, Any]]] = [
        ("train_native_per_s", f"train.py: {on}", make_env(config), {}),
        ("train_free_per_s", "- on an environment that costs nothing", free, {}),
        ("train_fast_per_s", "- in float32", make_env(config), {"precision": "float32"}),
    ]
    if has_bfloat16():
        rows.append(
            ("train_bf16_per_s", "- in bfloat16", make_env(config), {"precision": "bfloat16"})
        )
    stock = MaskablePPO("MlpPolicy", VecMonitor(make_env(config)), **settings(config))
    return [
        *(_learning(key, label, make_model(replace(config, **more), VecMonitor(env)), config)
          for key, label, env, more in rows),
        _learning("train_stock_per_s", f"sb3-contrib's MaskablePPO: {on}", stock, config),
    ]  # fmt: skip


def _learning(key: str, label: str, model: MaskablePPO, config: TrainConfig) -> Contestant:
    """One `learn()` of a rollout and its update."""

    def play() -> int:
        model.learn(config.rollout * config.games, reset_num_timesteps=False)
        return config.rollout * config.games

    return Contestant(key=key, label=label, play=play, seconds=0.0)
