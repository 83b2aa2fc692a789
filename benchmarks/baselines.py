"""Measures what masks buy: MaskablePPO, PPO without masks, and DQN on the same environment, ``python -m benchmarks.baselines``.

All three get the same steps against the same opponents from nothing, with the networks and settings of ``train.py --preset quick`` where they
have them. PPO without masks may choose anything, and forfeits the hand with an illegal move, in training and in play. DQN, whose
library knows no masks, is kept to legal moves whenever it acts, but learns from the best of all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress, TimeRemainingColumn
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from torch import nn

from okgin_env import Rules, players
from okgin_env.arena.match import play
from okgin_env.learning.config import PRESETS, TrainConfig
from okgin_env.learning.curve import draw_bands
from okgin_env.learning.ladder import EVALUATION_SEED, write_curve
from okgin_env.learning.model import make_env, make_model, settings
from okgin_env.players.base import Decisions, Player
from okgin_env.players.network import NetworkPlayer
from okgin_env.utils.commands import run

AGAINST = "simple"
OPPONENTS = ("simple", "knocker")  # in training
LOOKS = 10  # evaluations of a run, evenly spaced
COLUMNS: tuple[str, ...] = ("algorithm", "seed", "steps", "points", "illegal")


class MaskedDQN(DQN):
    """SB3's DQN, kept to legal moves when it acts."""

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        assert self.env is not None
        masks = np.stack(self.env.env_method("action_masks")).reshape(n_envs, -1)
        seen: Any = self._last_obs
        with torch.no_grad():
            values = self.q_net(self.policy.obs_to_tensor(seen)[0]).cpu().numpy()
        best = np.where(masks, values, -np.inf).argmax(axis=1)
        chance = np.where(masks, np.random.random(masks.shape), -1).argmax(axis=1)  # noqa: NPY002  (SB3 seeds it)
        rate = 1.0 if self.num_timesteps < learning_starts else self.exploration_rate
        actions = np.where(np.random.random(n_envs) < rate, chance, best)  # noqa: NPY002
        return actions, actions


@dataclass(frozen=True)
class Unmasked(Player):
    """A network that plays its best action, legal or not."""

    network: NetworkPlayer
    name: str = "ppo"

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The action of highest score in each decision."""
        return self.network.scores(decisions).argmax(axis=1).astype(np.int64)


def maskable_ppo(config: TrainConfig) -> BaseAlgorithm:
    """MaskablePPO, as `train.py` makes it."""
    return make_model(config, make_env(config))


def plain_ppo(config: TrainConfig) -> BaseAlgorithm:
    """PPO with the same settings and no masks."""
    return PPO("MlpPolicy", make_env(config), **settings(config))


def masked_dqn(config: TrainConfig) -> BaseAlgorithm:
    """DQN on the same games; a gradient step for every eight decisions."""
    return MaskedDQN(
        "MlpPolicy",
        make_env(config),
        learning_rate=config.learning_rate,
        buffer_size=200_000,
        learning_starts=20_000,
        batch_size=256,
        gamma=1.0,
        train_freq=1,
        gradient_steps=max(1, config.games // 8),
        target_update_interval=10_000,
        exploration_fraction=0.3,
        exploration_final_eps=0.02,
        policy_kwargs={"net_arch": list(config.layers)},
        seed=config.seed,
        device=config.device,
    )


ALGORITHMS: dict[str, Callable[[TrainConfig], BaseAlgorithm]] = {
    "MaskablePPO": maskable_ppo,
    "PPO, no masks": plain_ppo,
    "DQN, masked when it acts": masked_dqn,
}


def as_player(model: BaseAlgorithm) -> Player:
    """The model as it is now, playing its best action."""
    if isinstance(model, DQN):
        layers: list[nn.Linear] = [m for m in model.q_net.modules() if isinstance(m, nn.Linear)]
    else:
        policy: Any = model.policy
        hidden = [m for m in policy.mlp_extractor.policy_net if isinstance(m, nn.Linear)]
        layers = [*hidden, policy.action_net]
    weights = tuple(layer.weight.detach().cpu().numpy().copy() for layer in layers)
    biases = tuple(layer.bias.detach().cpu().numpy().copy() for layer in layers)
    network = NetworkPlayer("agent", weights, biases, "relu")
    return Unmasked(network) if isinstance(model, PPO) else network


class _Looks(BaseCallback):
    """Plays the model against `AGAINST` every so many steps."""

    def __init__(self, config: TrainConfig, name: str, advance: Callable[[int], None]) -> None:
        super().__init__()
        self.config, self.algorithm, self.advance = config, name, advance
        self.rows: list[dict[str, Any]] = []
        self._next = 0

    def _on_step(self) -> bool:
        self.advance(self.num_timesteps)
        if self.num_timesteps >= self._next:
            self._next += max(1, self.config.steps // LOOKS)
            self.look()
        return True

    def look(self) -> None:
        """Adds a row."""
        rules = Rules.preset(self.config.rules)
        n_deals = self.config.evaluation_hands // 2
        results = play(
            as_player(self.model), players.make(AGAINST), rules, n_deals, EVALUATION_SEED
        )
        row = (
            self.algorithm,
            self.config.seed,
            self.num_timesteps,
            round(float(results.points.mean()), 3),
            round(float(results.faults[:, :, 0].sum() / results.points.size), 4),
        )
        self.rows.append(dict(zip(COLUMNS, row, strict=True)))


def compare(config: TrainConfig, n_seeds: int, out: Path, names: list[str]) -> list[dict[str, Any]]:
    """Trains every algorithm with every seed, and writes rows and picture after each run."""
    rows: list[dict[str, Any]] = []
    columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=len(names) * n_seeds * config.steps)
        for name in names:
            for seed in range(n_seeds):
                done = (names.index(name) * n_seeds + seed) * config.steps
                seeded = replace(config, seed=seed)
                looks = _Looks(
                    seeded, name, lambda steps, done=done: bar.update(task, completed=done + steps)
                )
                bar.update(task, description=f"{name}, seed {seed}")
                ALGORITHMS[name](seeded).learn(config.steps, callback=looks)
                looks.look()
                rows += looks.rows
                _write(rows, out)
    return rows


def _write(rows: list[dict[str, Any]], out: Path) -> None:
    frame = pd.DataFrame(rows)
    write_curve(out / "baselines.csv", frame)
    draw_bands(frame, f"points a hand against {AGAINST}", out / "baselines.png")


def table(rows: list[dict[str, Any]]) -> str:
    """The ends of all runs as a Markdown table."""
    lines = [
        f"| algorithm | steps | points a hand against {AGAINST}, by seed | mean | illegal moves a hand |",
        "|---|--:|---|--:|--:|",
    ]
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        ends = {row["seed"]: row for row in rows if row["algorithm"] == name}
        points = [row["points"] for row in ends.values()]
        illegal = np.mean([row["illegal"] for row in ends.values()])
        listed = ", ".join(f"{p:+.1f}" for p in points)
        steps = max(row["steps"] for row in ends.values())
        lines.append(f"| {name} | {steps:,} | {listed} | {np.mean(points):+.1f} | {illegal:.2f} |")
    return "\n".join(lines)


def _compare(args: argparse.Namespace) -> None:
    config = replace(
        PRESETS["quick"], steps=args.steps, rules=args.rules, games=args.games, imitate="none",
        opponents=OPPONENTS, evaluation_hands=4000,
    )  # fmt: skip
    config.check()
    unknown = set(args.only) - set(ALGORITHMS)
    if unknown or args.seeds < 1:
        raise ValueError(
            f"--seeds {args.seeds} --only {sorted(unknown)}; allowed: 1 or more; {', '.join(ALGORITHMS)}"
        )
    torch.set_num_threads(config.threads)
    print(table(compare(config, args.seeds, args.out, args.only)))


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baselines", description=__doc__)
    add = parser.add_argument
    add("--steps", type=int, default=2_000_000, help="decisions of each run (default: 2000000)")
    add("--seeds", type=int, default=3, help="runs of each algorithm (default: 3)")
    add("--rules", default="classic", help="rules preset (default: classic)")
    add("--games", type=int, default=256, help="games at once (default: 256)")
    add("--out", type=Path, required=True, metavar="FOLDER", help="where table and picture go")
    add(
        "--only", nargs="+", default=list(ALGORITHMS), metavar="NAME", help="some of the algorithms"
    )
    return run(parser, _compare, argv)


if __name__ == "__main__":
    sys.exit(main())
