"""One training run with MaskablePPO: folder, progress, evaluation on the way, table at the end."""

from __future__ import annotations

import gc
import io
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from rich.console import Console
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, make_output_format
from stable_baselines3.common.vec_env import VecMonitor
from torch.distributions import Distribution

from okgin_env import __version__, players
from okgin_env.arena.report.tables import as_text
from okgin_env.arena.store.provenance import commit
from okgin_env.learning import checkpoint, ladder, selfplay
from okgin_env.learning.config import AGENT, NOBODY, SELF, TrainConfig
from okgin_env.learning.curve import draw_curve
from okgin_env.learning.export import as_player, export
from okgin_env.learning.imitate import imitate
from okgin_env.learning.model import is_here, make_env, make_model
from okgin_env.utils.commands import terminal_width
from okgin_env.utils.files import write_bytes, write_text
from okgin_env.utils.progress import NeverSilent

_LEARNING = "learning"  # what a progress bar says


def train(config: TrainConfig, console: Console | None = None) -> dict[str, Any]:
    """Runs or resumes a training run.

    Args:
        config: The run; with `resume` its folder's own configuration is used.
        console: Where to print; None: standard output.

    Returns:
        The evaluation at the end, as `evaluate.py --json` writes it.

    Raises:
        ValueError: A folder that is not new, a device that is not there, nothing to resume, or a run that is not trusted.
        OSError: The folder cannot be written.
    """
    console = console or Console()
    if config.resume:
        folder = config.resume
        config = TrainConfig.of_run(folder, config.trust)
        if not is_here(config.device):
            console.print(f"no device {config.device} here: this goes on with cpu")
            config = replace(config, device="cpu")
    else:
        config.check()
        if not is_here(config.device):
            raise ValueError(f"device={config.device!r} is not there; allowed: cpu, auto")
        folder = _new_folder(config)
        write_text(folder / "config.json", config.to_json())
        write_text(folder / "commit.txt", f"okgin_env {__version__}, commit {commit()}\n")
    try:
        run = _Run(config, folder, console)
        run.train()
        return run.finish()
    except OSError as error:
        raise OSError(f"{error}; once that is mended, go on with --resume {folder}") from error


def _new_folder(config: TrainConfig) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    folder = config.out or Path("runs") / f"{config.preset}-{stamp}"
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(
            f"out={str(folder)!r}; allowed: a new folder, or --resume {folder} to go on"
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Run:
    """The parts of a run: environment, model, folder."""

    def __init__(self, config: TrainConfig, folder: Path, console: Console) -> None:
        self.config, self.folder, self.console = config, folder, console
        self.rules = config.table()
        torch.set_num_threads(config.threads)
        # A tenth of the time, for checks of our own masks.
        Distribution.set_default_validate_args(False)
        self.env = make_env(config)
        self.monitor = VecMonitor(self.env)
        self.model = make_model(config, self.monitor)
        self.curve = pd.DataFrame(columns=list(ladder.RUN_COLUMNS))
        start = checkpoint.newest(folder / "checkpoints")
        self.resumed = start is not None
        if start is not None:
            checkpoint.load(self.model, self.env, self.monitor, start)
            curve = ladder.read_curve(folder / "curve.csv")
            self.curve = curve.loc[curve["steps"] <= self.model.num_timesteps]
            if SELF in config.opponents:
                selfplay.check_kept(folder, set(self.curve["steps"]))
            self.seat_opponents()
            console.print(f"resumed at {self.model.num_timesteps:,} steps from {start}")
        formats = [
            make_output_format(kind, str(folder), f"_{self.model.num_timesteps}")
            for kind in ("csv", "tensorboard")
        ]
        self.model.set_logger(Logger(str(folder), formats))

    def seat_opponents(self) -> None:
        """Seats the opponents of the steps to come."""
        steps = self.model.num_timesteps
        past = selfplay.pool(self.config, self.folder, steps)
        self.env.games.set_opponents(pool=past, at_once=True)  # so that a run goes on exactly

    def train(self) -> None:
        """Trains to the configured number of steps."""
        left = self.config.steps - self.model.num_timesteps
        if left <= 0:
            return
        self.console.print(f"run folder: {self.folder}")
        with NeverSilent(console=self.console) as bar:
            if not self.resumed and self.config.imitate != NOBODY:
                self._imitate(bar)
            callback = _Watcher(self, bar)
            self.model.learn(left, callback=callback, reset_num_timesteps=False, log_interval=10)
        callback.checkpoint()

    def _imitate(self, bar: NeverSilent) -> None:
        """Copies a scripted player before training."""
        teacher = players.make(self.config.imitate)
        task = bar.add_task(f"copying {teacher.name}", total=None, unit="batches")
        share = imitate(
            self.model,
            self.env,
            teacher,
            self.config.imitate_moves,
            lambda done, total: bar.update(task, completed=done, total=total),
        )
        bar.remove_task(task)
        self.monitor.seed(self.config.seed)
        self.console.print(f"plays {share:.0%} of {teacher.name}'s moves after copying it")

    def finish(self) -> dict[str, Any]:
        """Writes the model and the picture, evaluates, and prints the table."""
        zipped = io.BytesIO()
        self.model.save(zipped)
        write_bytes(self.folder / "model.zip", zipped.getvalue())
        export(self.model.policy, self.folder / "policy.safetensors", self.metadata())
        agent = as_player(self.model.policy, AGENT)
        config = self.config
        content = ladder.evaluate(agent, config.ladder, self.rules, config.final_hands, config.seed)
        ladder.write_evaluation(self.folder, content)
        print(as_text(content, terminal_width()))
        self.console.print(
            f"\nmodel, learning curve and table are in {self.folder}; play it against others with\n"
            f"  okgin evaluate {self.folder}/policy.safetensors simple",
            soft_wrap=True,
        )
        return content

    def evaluate(self, seconds: float) -> str:
        """Plays the agent against the ladder, adds to the curve, keeps the best, and says how it went."""
        agent = as_player(self.model.policy, AGENT)
        config, at = self.config, (self.model.num_timesteps, round(seconds, 1))
        rows, scalars = ladder.climb(agent, config.ladder, self.rules, config.evaluation_hands)
        new = pd.DataFrame([(*at, *row.values()) for row in rows], columns=self.curve.columns)
        self.curve = pd.concat([self.curve, new]) if len(self.curve) else new
        for name, value in scalars.items():
            self.model.logger.record(name, value)
        if ladder.is_best(self.curve):
            export(self.model.policy, self.folder / "best.safetensors", self.metadata())
        ladder.write_curve(self.folder / "curve.csv", self.curve)
        draw_curve(self.curve, self.folder / "curve.png")
        gc.collect()  # a figure is made of cycles: 50 MB, until all of memory is next looked through
        return ladder.in_a_line(rows, 1)

    def metadata(self) -> dict[str, str]:
        """The description of itself that an exported policy carries."""
        return {
            "rules": self.rules.label,
            "steps": str(self.model.num_timesteps),
            "seed": str(self.config.seed),
            "commit": commit(),
        }


class _Watcher(BaseCallback):
    """Progress, evaluations and checkpoints, always between two rollouts."""

    def __init__(self, run: _Run, bar: NeverSilent) -> None:
        super().__init__()
        self.run, self.bar = run, bar
        self.began = time.monotonic()
        self.first_step = run.model.num_timesteps
        self.earlier = max(run.curve["seconds"], default=0.0)
        self.task = bar.add_task(
            _LEARNING, total=run.config.steps, completed=self.first_step, unit="steps"
        )
        self.next_checkpoint = next_checkpoint(self.first_step, run.config.checkpoint_every)

    def _on_training_start(self) -> None:
        if not self.run.resumed:
            self.checkpoint()  # what it knows before it has learnt anything by itself

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self.next_checkpoint:
            self.next_checkpoint = next_checkpoint(
                self.num_timesteps, self.run.config.checkpoint_every
            )
            self.checkpoint()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.bar.update(self.task, completed=self.num_timesteps)

    def checkpoint(self) -> None:
        """Evaluates, then writes the checkpoint."""
        run = self.run
        self.bar.update(self.task, description=f"playing {', '.join(run.config.ladder)}")
        said = run.evaluate(self.earlier + time.monotonic() - self.began)
        if SELF in run.config.opponents:
            selfplay.keep(run.model.policy, run.folder, run.model.num_timesteps)
            run.seat_opponents()
        checkpoint.save(run.model, run.env, run.monitor, run.folder / "checkpoints")
        self.bar.update(self.task, description=_LEARNING)
        line = f"{run.model.num_timesteps:>12,} steps: points a hand against {said}"
        run.console.print(line, soft_wrap=True)


def next_checkpoint(steps: int, every: int) -> int:
    """The step from which the checkpoint after `steps` is due: a multiple of `every`, whoever has counted so far.

    A checkpoint comes with the first whole rollout from there on. If the next were due `every` steps after it, a run that
    goes on would have its checkpoints, and with them its past selves as opponents, at other steps than one never stopped.
    """
    return (steps // every + 1) * every
