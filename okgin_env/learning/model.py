"""The environment and the learner that a configuration asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from stable_baselines3.common.vec_env import VecEnv

from okgin_env.learning import selfplay
from okgin_env.learning.config import TrainConfig
from okgin_env.learning.fast_ppo import FastMaskablePPO
from okgin_env.sb3 import OklahomaGinVecEnv


def make_env(config: TrainConfig) -> OklahomaGinVecEnv:
    """The environment of a run."""
    return OklahomaGinVecEnv(
        config.games,
        config.table(),
        pool=selfplay.pool(config, None, 0),
        seed=config.seed,
        episode=config.episode,
        reward=config.reward,
        outlook=config.outlook,
        threads=config.threads,
    )


def make_model(config: TrainConfig, env: VecEnv) -> FastMaskablePPO:
    """The learner of a run, on its environment or on another of the same spaces."""
    return FastMaskablePPO(
        "MlpPolicy", env, **settings(config), precision=config.precision, stats_window_size=4096
    )


def settings(config: TrainConfig) -> dict[str, Any]:
    """The settings that any PPO, with masks or without, takes from a configuration."""
    return {
        "learning_rate": _falling(config.learning_rate),
        "n_steps": config.rollout,
        "batch_size": config.batch,
        "n_epochs": config.epochs,
        "gamma": 1.0,
        "gae_lambda": config.gae_lambda,
        "clip_range": config.clip,
        "ent_coef": config.entropy,
        "vf_coef": config.value_weight,
        "policy_kwargs": {"net_arch": list(config.layers), "activation_fn": torch.nn.ReLU},
        "seed": config.seed,
        "device": config.device,
    }


def _falling(start: float) -> Callable[[float], float]:
    """A value that falls linearly to zero with the progress that remains."""
    return lambda remaining: start * remaining


def is_here(device: str) -> bool:
    """Whether torch can use a device; PPO would take the processor without a word."""
    try:
        torch.empty(1, device="cpu" if device == "auto" else device)
    except (AssertionError, RuntimeError):
        return False
    return True
