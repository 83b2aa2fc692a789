"""Trains a player and prints its table against the scripted players."""

from __future__ import annotations

import argparse
import sys

EXAMPLES = """examples:
  python train.py --preset smoke                          seconds: does it all work?
  python train.py --preset quick                          minutes: beats simple and knocker
  python train.py --preset quick --rules eaai --seed 1
  python train.py --resume runs/quick-20260101-120000     goes on with a run that was stopped"""


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--preset", default="quick")
    preset = first.parse_known_args(argv)[0].preset
    try:
        import tyro

        from okgin_env.learning.config import PRESETS, TrainConfig

        config = tyro.cli(
            TrainConfig,
            args=argv,
            default=PRESETS.get(preset, PRESETS["quick"]),
            description=f"{TrainConfig.__doc__}\n{EXAMPLES}",
        )
        if config.resume:
            TrainConfig.of_run(config.resume, config.trust)
        from okgin_env.learning.ppo import train  # after the checks: torch takes a while to import

        train(config)
    except (ValueError, FileNotFoundError, ImportError, OSError) as error:
        missing = isinstance(error, ModuleNotFoundError)
        needs = "; training needs: pip install 'okgin-env[train]'" if missing else ""
        print(f"train.py: {error}{needs}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("train.py: stopped; go on with --resume and the run folder above", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
