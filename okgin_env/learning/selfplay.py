"""Past selves as opponents: kept as files, and drawn anew after every checkpoint.

Wherever the configuration's opponents say `SELF`, that share of the games is played against a past self: the newest in the first such
place, in each other one drawn evenly from all that have been kept. The draw hangs on the run's seed and its steps only,
so a run that goes on after a kill meets the same opponents.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from stable_baselines3.common.policies import BasePolicy

from okgin_env import players
from okgin_env.learning.config import NOBODY, SELF, TrainConfig
from okgin_env.learning.export import export
from okgin_env.players.base import Player
from okgin_env.players.network import NetworkPlayer

FOLDER = "selves"


def keep(policy: BasePolicy, folder: Path, steps: int) -> None:
    """Keeps the policy as it is after so many steps."""
    export(policy, folder / FOLDER / f"{steps:012}.safetensors", {"steps": str(steps)})


def kept(folder: Path | None, steps: int) -> list[Path]:
    """The past selves of a run up to a step, the newest last; none without a folder."""
    if folder is None:
        return []
    found = sorted((folder / FOLDER).glob("*.safetensors"))
    return [path for path in found if path.stem.isdecimal() and int(path.stem) <= steps]


def check_kept(folder: Path, checkpoints: set[int]) -> None:
    """Checks that a run that goes on has all its past selves: with others it would draw other opponents.

    Args:
        folder: The run's folder.
        checkpoints: The steps of all its checkpoints so far.

    Raises:
        ValueError: One is missing, or is none of this run.
    """
    differing = {int(path.stem) for path in kept(folder, max(checkpoints, default=0))} ^ checkpoints
    if differing:
        raise ValueError(
            f"'{folder / FOLDER}': past self of step {min(differing)} is missing or of no checkpoint; "
            f"allowed: one for each of {len(checkpoints)} checkpoints"
        )


def pool(config: TrainConfig, folder: Path | None, steps: int) -> list[Player]:
    """The opponents from a step on, one for each share of the games."""
    past = kept(folder, steps)
    rng = np.random.default_rng([config.seed, steps])
    seated: list[Player] = []
    first = True
    for spec in config.opponents:
        if spec != SELF:
            seated.append(players.make(spec))
        elif not past:  # before the first checkpoint: whoever it is about to copy
            seated.append(players.make("simple" if config.imitate == NOBODY else config.imitate))
        else:
            drawn = past[-1] if first else past[rng.integers(len(past))]
            seated.append(NetworkPlayer.load(drawn))
            first = False
    return seated
