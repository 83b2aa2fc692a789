"""Self-play: MaskablePPO against its own past selves, ``python -m agents.self_play --out FOLDER``.

After each round the policy is saved, and the games of the next are played against the newest past self, some older ones, and `simple`.
The older ones keep it from forgetting; `simple` pays for knocking while all selves still know nothing of it.
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

ANCHOR = "simple"
OLDER = 2  # past selves besides the newest


def make_model(env: OklahomaGinVecEnv, seed: int) -> MaskablePPO:
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


def opponents(selves: list[Path], rng: np.random.Generator) -> list[str]:
    """Whom the next round is played against, an equal share of the games each."""
    older = rng.choice(len(selves), OLDER)  # the same self may be drawn twice
    return [ANCHOR, str(selves[-1]), *(str(selves[k]) for k in older)]


def points(model: MaskablePPO, opponent: str, n_hands: int) -> tuple[float, float]:
    """Mean points a hand against an opponent on decks that training does not see, and half of its 95 % interval."""
    games = OklahomaGinVecEnv(min(64, n_hands), opponent=opponent, seed=1_000_000, outlook=True)
    rewards, _ = evaluate_policy(model, VecMonitor(games), n_hands, return_episode_rewards=True)
    return 100 * float(np.mean(rewards)), 196 * float(np.std(rewards)) / n_hands**0.5


def train(args: argparse.Namespace) -> tuple[float, float]:
    """Trains, prints and saves; returns points a hand against `simple` before and after."""
    torch.set_num_threads(1)  # small networks: threads would wait for each other
    rng = np.random.default_rng(args.seed)
    env = OklahomaGinVecEnv(args.games, opponent=ANCHOR, seed=args.seed, outlook=True)
    model = make_model(env, args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    selves: list[Path] = []
    before, _ = points(model, ANCHOR, args.hands)
    after = before
    print(f"round 0: {before:+6.1f} points a hand against {ANCHOR}")
    for k in range(1, args.rounds + 1):
        selves.append(args.out / f"self_{k - 1:03}.zip")
        model.save(selves[-1])
        env.set_opponents(pool=opponents(selves, rng))  # from each game's next deal
        model.learn(args.steps // args.rounds, reset_num_timesteps=False)
        after, error = points(model, ANCHOR, args.hands)
        first, _ = points(model, str(selves[0]), args.hands)
        newest, _ = points(model, str(selves[-1]), args.hands)
        print(
            f"round {k}: {after:+6.1f} ± {error:.1f} points a hand against {ANCHOR}, "
            f"{newest:+.1f} against its last self, {first:+.1f} against its first"
        )
    model.save(args.out / "model.zip")
    print(f"untrained {before:+.1f}, trained {after:+.1f} points a hand against {ANCHOR}; see")
    print(f"  python evaluate.py {args.out}/model.zip {selves[0]} simple")
    return before, after


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m agents.self_play", description=__doc__)
    add = made.add_argument
    add("--steps", type=int, default=1_000_000, help="decisions to learn from (default: 1000000)")
    add("--rounds", type=int, default=10, help="between which selves are kept (default: 10)")
    add("--games", type=int, default=256, help="games at once (default: 256)")
    add("--hands", type=int, default=2000, help="hands of each evaluation (default: 2000)")
    add("--seed", type=int, default=0, help="of everything (default: 0)")
    add(
        "--out",
        type=Path,
        default=Path("self_play"),
        help="folder of the selves (default: self_play)",
    )
    return made


if __name__ == "__main__":
    train(parser().parse_args())
