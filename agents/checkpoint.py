"""Checkpoints from which training goes on exactly as if it had never stopped.

A checkpoint is a folder that is renamed into place once all of it is safely on the disk, so a run killed at any moment,
or a machine without power, leaves only whole ones. It holds numbers only: torch tensors (read with PyTorch's weights-only loader) and NumPy arrays
(read without pickle).
"""

from __future__ import annotations

import io
import json
import shutil
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor

from okgin_env import files
from okgin_env.kernel.state import STATE
from okgin_env.positions import check_state
from okgin_env.sb3 import OklahomaGinVecEnv

KEPT = 2  # the newest, and the one before it


def save(model: MaskablePPO, env: OklahomaGinVecEnv, monitor: VecMonitor, folder: Path) -> Path:
    """Writes the checkpoint of a run between two rollouts.

    Returns:
        The checkpoint's folder.
    """
    steps = model.num_timesteps
    final = folder / f"{steps:012d}"
    partial = folder / f".{steps:012d}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    weights = {
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
    }
    packed, arrays = io.BytesIO(), io.BytesIO()
    torch.save(weights, packed)  # its own writer does not say that a disk is full
    name, keys, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002 - SB3 draws from it
    assert name == "MT19937"
    state: dict[str, Any] = dict(
        states=env.games.states.view(np.uint8),
        finals=env.games.finals.view(np.uint8),
        masks=env.action_masks(),
        last_obs=np.asarray(model._last_obs),
        last_starts=np.asarray(model._last_episode_starts),
        episode_returns=monitor.episode_returns,
        episode_lengths=monitor.episode_lengths,
        numpy_keys=keys,
        numpy_position=np.array([position, has_gauss]),
        numpy_gauss=np.array(gauss),
        torch_rng=torch.get_rng_state().numpy(),
    )
    recent = [[float(e["r"]), int(e["l"])] for e in model.ep_info_buffer or ()]
    numbers = {"steps": steps, "updates": model._n_updates, "recent": recent}
    np.savez(arrays, **state)
    try:
        files.write_bytes(partial / "weights.pt", packed.getvalue())
        files.write_bytes(partial / "state.npz", arrays.getvalue())
        files.write_text(partial / "numbers.json", json.dumps(numbers))
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    shutil.rmtree(final, ignore_errors=True)
    partial.rename(final)
    for old in sorted(folder.glob("[0-9]*"))[:-KEPT]:
        shutil.rmtree(old)
    return final


def newest(folder: Path) -> Path | None:
    """The newest whole checkpoint in a folder."""
    found = sorted(folder.glob("[0-9]*"))
    return found[-1] if found else None


def load(model: MaskablePPO, env: OklahomaGinVecEnv, monitor: VecMonitor, path: Path) -> None:
    """Brings a freshly made run to the point of a checkpoint.

    Raises:
        ValueError: The checkpoint does not fit the run.
    """
    try:
        weights = torch.load(path / "weights.pt", map_location=model.device, weights_only=True)
        model.policy.load_state_dict(weights["policy"])
        model.policy.optimizer.load_state_dict(weights["optimizer"])
        numbers: dict[str, Any] = json.loads((path / "numbers.json").read_text())
        with np.load(path / "state.npz", allow_pickle=False) as state:
            states, finals = state["states"].view(STATE), state["finals"].view(STATE)
            for game in states:  # compiled code looks at no bounds
                check_state(game, env.games.rules)
            env.restore(states, finals, state["masks"])
            model._last_obs = state["last_obs"]
            model._last_episode_starts = state["last_starts"]
            monitor.episode_returns = state["episode_returns"]
            monitor.episode_lengths = state["episode_lengths"]
            position, has_gauss = state["numpy_position"].tolist()
            np.random.set_state(  # noqa: NPY002
                ("MT19937", state["numpy_keys"], position, has_gauss, float(state["numpy_gauss"]))
            )
            torch.set_rng_state(torch.from_numpy(state["torch_rng"]))
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise ValueError(f"checkpoint '{path}' cannot be read: {error}") from error
    model.num_timesteps = numbers["steps"]
    model._n_updates = numbers["updates"]
    recent = [{"r": r, "l": length, "t": 0.0} for r, length in numbers["recent"]]
    model.ep_info_buffer = deque(recent, maxlen=model._stats_window_size)
    model.ep_success_buffer = deque(maxlen=model._stats_window_size)
