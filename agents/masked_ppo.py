"""MaskablePPO (sb3-contrib) on the native VecEnv: ``python -m agents.masked_ppo --out model.zip``.

Illegal actions get probability zero, in play, in learning and in evaluation. Half a million decisions from nothing take about a
minute; `train.py` first copies a scripted player and begins far ahead of that (docs/baselines.md).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

from okgin_env.sb3 import OklahomaGinVecEnv

LOOKS = 5  # evaluations on the way


def make_env(n_games: int, opponents: list[str], seed: int) -> VecMonitor:
    """Games against several opponents, an equal share against each; VecMonitor reports the returns."""
    return VecMonitor(OklahomaGinVecEnv(n_games, pool=opponents, seed=seed, outlook=True))


def make_model(env: VecMonitor, seed: int) -> MaskablePPO:
    """A learner for hands: a few dozen decisions, paid at their end, so gamma is 1."""
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=4e-4,
        n_steps=64,
        batch_size=2048,
        n_epochs=2,
        gamma=1.0,
        ent_coef=0.005,
        vf_coef=8.0,  # rewards are hundredths of points
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )


def points(model: MaskablePPO, opponent: str, n_hands: int) -> tuple[float, float]:
    """Mean points a hand against an opponent on decks that training does not see, and half of its 95 % interval."""
    env = make_env(min(64, n_hands), [opponent], seed=1_000_000)
    rewards, _ = evaluate_policy(model, env, n_hands, return_episode_rewards=True)
    return 100 * float(np.mean(rewards)), 196 * float(np.std(rewards)) / n_hands**0.5


def train(args: argparse.Namespace) -> tuple[float, float]:
    """Trains, prints and saves; returns points a hand against `simple` before and after."""
    torch.set_num_threads(1)  # small networks: threads would wait for each other
    model = make_model(make_env(args.games, args.opponents, args.seed), args.seed)
    before, error = points(model, "simple", args.hands)
    after = before
    print(f"{0:>9,} decisions: {before:+6.1f} ± {error:.1f} points a hand against simple")
    for _ in range(LOOKS):
        model.learn(args.steps // LOOKS, reset_num_timesteps=False)
        after, error = points(model, "simple", args.hands)
        steps = model.num_timesteps
        print(f"{steps:>9,} decisions: {after:+6.1f} ± {error:.1f} points a hand against simple")
    model.save(args.out)
    print(
        f"untrained {before:+.1f}, trained {after:+.1f}; it is {args.out}, play it against others with"
    )
    print(f"  python evaluate.py {args.out} simple random")
    return before, after


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m agents.masked_ppo", description=__doc__)
    add = made.add_argument
    add("--steps", type=int, default=500_000, help="decisions to learn from (default: 500000)")
    add("--games", type=int, default=256, help="games at once (default: 256)")
    add(
        "--opponents",
        nargs="+",
        default=["simple", "knocker"],
        help="in training (default: simple knocker)",
    )
    add("--hands", type=int, default=2000, help="hands of each evaluation (default: 2000)")
    add("--seed", type=int, default=0, help="of everything (default: 0)")
    add(
        "--out",
        type=Path,
        default=Path("masked_ppo.zip"),
        help="the model (default: masked_ppo.zip)",
    )
    return made


if __name__ == "__main__":
    train(parser().parse_args())
