"""Trains a player and prints its table against the scripted players."""

from __future__ import annotations

import argparse
import inspect
import sys

from okgin_env.learning import naming_extra
from okgin_env.learning.config import PRESETS, TrainConfig
from okgin_env.utils.commands import add_options, options_of, run

EXAMPLES = """examples:
  okgin train --preset smoke                          seconds: does it all work?
  okgin train --preset quick                          minutes: beats simple and knocker
  okgin train --preset quick --rules eaai --seed 1
  okgin train --opponents camper simple self          past selves of the run as opponents, too
  okgin train --resume runs/quick-20260101-120000     goes on with a run that was stopped"""


def parser(prog: str, argv: list[str]) -> argparse.ArgumentParser:
    """The command line; its defaults are those of the preset that it names."""
    first = argparse.ArgumentParser(prog, add_help=False, allow_abbrev=False)
    first.add_argument("--preset", default="quick")
    preset = first.parse_known_args(argv)[0].preset
    made = argparse.ArgumentParser(
        prog,
        description=inspect.getdoc(TrainConfig),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_options(made, PRESETS.get(preset, PRESETS["quick"]))
    return made


def _train(args: argparse.Namespace) -> None:
    config = TrainConfig(**options_of(args, TrainConfig))
    if config.resume:
        TrainConfig.of_run(config.resume, config.trust)
    with naming_extra():  # after the checks: torch takes a while to import
        from okgin_env.learning.ppo import train
    train(config)


def main(argv: list[str] | None = None, prog: str = "train.py") -> int:
    """Runs the command line; returns the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    return run(
        parser(prog, argv),
        _train,
        argv,
        lambda args: "go on with --resume and the run folder above",
    )
