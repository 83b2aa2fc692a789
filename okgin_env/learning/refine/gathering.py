"""The positions of a round, gathered into files by several processes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from okgin_env.learning.refine.config import Refinement
from okgin_env.learning.refine.hindsight import gather
from okgin_env.players.network import NetworkPlayer
from okgin_env.rules import as_rules
from okgin_env.utils.progress import NeverSilent
from okgin_env.utils.workers import obey

PER_FILE = 500_000

Job = tuple[Refinement, Path, int, tuple[int, ...], Path]


def gather_all(
    asked: Refinement, folder: Path, k: int, policy: Path, workers: int, bar: NeverSilent
) -> list[Path]:
    """Gathers what is missing of a round's positions.

    Args:
        asked: The run.
        folder: Of the positions.
        k: The round.
        policy: The policy that plays.
        workers: Processes.
        bar: Where progress is shown.

    Returns:
        Their files. The first is for measuring, the others are for learning.
    """
    folder.mkdir(parents=True, exist_ok=True)
    n_files, n_each = 1 + max(1, round(asked.positions / PER_FILE)), min(PER_FILE, asked.positions)
    paths = [folder / f"{f:04d}.npz" for f in range(n_files)]
    missing = [f for f in range(n_files) if not paths[f].exists()]
    jobs = [(asked, policy, n_each, (asked.seed, k, f), paths[f]) for f in missing]
    if missing:
        n_there = n_each * (n_files - len(missing))
        name = f"round {k + 1}: positions"
        task = bar.add_task(name, total=n_each * n_files, completed=n_there, unit="positions")
        _do(jobs, workers, lambda: bar.advance(task, n_each))
    return paths


def _do(jobs: list[Job], workers: int, done: Callable[[], None]) -> None:
    """Does the jobs, here or in other processes; calls `done` after each."""
    if workers == 1:
        for job in jobs:
            _gather_file(*job)
            done()
        return
    context = get_context("spawn")
    leash, end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, obey, (leash,))
    try:
        for ended in as_completed([pool.submit(_gather_file, *job) for job in jobs]):
            ended.result()
            done()
    except BaseException:
        end.close()  # nobody waits for the files that are being gathered
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _gather_file(
    asked: Refinement, policy: Path, n: int, seed: tuple[int, ...], path: Path
) -> None:
    player, rules = NetworkPlayer.load(policy), as_rules(asked.rules)
    gather(player, rules, asked.opponents, n, seed, asked.plays_on).save(path)
