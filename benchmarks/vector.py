"""The vector environment beside the kernel it calls and beside SyncVectorEnv: `python benchmarks/vector.py`."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from okgin_env import ENV_ID
from okgin_env.vector import OklahomaGinVectorEnv

WANTED = {"kernel": 0.8, "sync": 25.0}


def _choose(masks: np.ndarray) -> np.ndarray:
    """The first legal action of every game."""
    return masks.argmax(axis=1)


def _native(n: int, threads: int) -> OklahomaGinVectorEnv:
    return OklahomaGinVectorEnv(n, autoreset_mode="SameStep", threads=threads)


def kernel_runner(n: int, threads: int) -> Callable[[int], float]:
    """Median seconds a step of N games with nothing around the compiled call but fresh arrays."""
    env = _native(n, threads)
    env.reset(seed=0)
    games, everyone = env.games, np.arange(n)

    def run(n_steps: int) -> float:
        masks, spent = env.action_masks().view(np.int8), []
        for _ in range(n_steps):
            actions = _choose(masks)
            start = time.perf_counter()
            written = games.step(actions, everyone, autoreset=True)
            spent.append(time.perf_counter() - start)
            masks = written.masks
        return statistics.median(spent)

    return run


def vector_runner(env: Any) -> Callable[[int], float]:
    """Median seconds a step of a vector environment."""
    _, info = env.reset(seed=0)
    last = {"masks": info["action_mask"]}

    def run(n_steps: int) -> float:
        spent = []
        for _ in range(n_steps):
            actions = _choose(last["masks"])
            start = time.perf_counter()
            info = env.step(actions)[4]
            spent.append(time.perf_counter() - start)
            last["masks"] = info["action_mask"]
        return statistics.median(spent)

    return run


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1024, help="games at once (default: 1024)")
    parser.add_argument("--threads", type=int, default=1, help="of the environment (default: 1)")
    parser.add_argument("--repeats", type=int, default=15, help="rounds (default: 15)")
    args = parser.parse_args()
    n = args.games
    runners = {
        "kernel": (kernel_runner(n, args.threads), 100),
        "vector": (vector_runner(_native(n, args.threads)), 100),
        "sync": (vector_runner(gym.make_vec(ENV_ID, n, vectorization_mode="sync")), 3),
    }
    speeds: dict[str, list[float]] = {name: [] for name in runners}
    for k in range(args.repeats + 1):
        for name, (run, n_steps) in runners.items():
            speed = n / run(n_steps)
            if k:  # the first round warms up
                speeds[name].append(speed)
    print(
        f"{n} games, {args.threads} thread(s), medians of {args.repeats} rounds, learners' decisions\n"
    )
    print("| | decisions/s | vector environment is | wanted |\n|---|--:|--:|--:|")
    for name, values in speeds.items():
        ratio = statistics.median(v / o for v, o in zip(speeds["vector"], values, strict=True))
        wanted = f"{WANTED[name]:g} x" if name in WANTED else "-"
        print(f"| {name} | {statistics.median(values):,.0f} | {ratio:.2f} x | {wanted} |")


if __name__ == "__main__":
    main()
