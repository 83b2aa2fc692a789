"""A trained policy as a player, and as a safetensors file that runs no code when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from stable_baselines3.common.policies import BasePolicy

from okgin_env.learning.tensors import write
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.weights import FORMAT


def policy_tensors(policy: BasePolicy) -> dict[str, np.ndarray]:
    """The layers from observation to action scores, without the value network, as float32."""
    kept = ("mlp_extractor.policy_net.", "action_net.")
    return {
        name: tensor.detach().cpu().numpy().astype(np.float32)
        for name, tensor in policy.state_dict().items()
        if name.startswith(kept)
    }


def as_player(policy: BasePolicy, name: str) -> NetworkPlayer:
    """The policy as it is now, playing its best action."""
    tensors = policy_tensors(policy)
    layers = [key.removesuffix(".weight") for key in tensors if key.endswith(".weight")]
    return NetworkPlayer(
        name,
        tuple(tensors[f"{layer}.weight"].copy() for layer in layers),
        tuple(tensors[f"{layer}.bias"].copy() for layer in layers),
        "relu",
        features_of(policy),
    )


def features_of(policy: BasePolicy) -> str:
    """The names of the policy's inputs, as its observation space has them; empty: it is that of no environment of this package."""
    return getattr(policy.observation_space, "features", "")


def export(policy: BasePolicy, path: Path, metadata: Mapping[str, str]) -> None:
    """Writes the policy as a player file, whole or not at all.

    Args:
        policy: A policy with ReLU layers.
        path: File to write, ending in ``.safetensors``.
        metadata: What else the file says of itself (rules, seed, steps, commit …).
    """
    write_policy(policy_tensors(policy), path, {"features": features_of(policy), **metadata})


def write_policy(
    tensors: Mapping[str, np.ndarray], path: Path, metadata: Mapping[str, str]
) -> None:
    """Writes the tensors of a policy with ReLU layers, by the names that `policy_tensors` gives them."""
    about = {"format": FORMAT, "activation": "relu", **metadata}
    write(path, tensors, about)
