"""Makes a trained policy stronger with hindsight, the second stage of training."""

from __future__ import annotations

import argparse
import inspect
from importlib.util import find_spec
from pathlib import Path

from okgin_env.learning import NEEDS, naming_extra
from okgin_env.learning.config import ENDLESS, check_range
from okgin_env.learning.refine.config import Refinement
from okgin_env.utils.commands import add_options, options_of, run, terminal_width


def parser(prog: str) -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog,
        description=inspect.getdoc(Refinement),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    text = "policy.safetensors of a run of train.py with outlook, two seats, hands"
    made.add_argument("policy", help=text)
    made.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder of the run")
    add_options(made, Refinement(""))
    made.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes that gather (default: 1)"
    )
    return made


def _refine(args: argparse.Namespace) -> None:
    if find_spec("torch") is None:  # looking for it is cheap, importing it is not
        raise ImportError(NEEDS)
    asked = Refinement(args.policy, **options_of(args, Refinement))
    check_range("workers", args.workers, 1, ENDLESS)
    asked.check()
    with naming_extra():  # after the checks: torch takes a while to import
        from rich.console import Console

        from okgin_env.arena.report.tables import as_text
        from okgin_env.learning.refine.run import refine, table
    content = refine(asked, args.out, args.workers, Console())
    print(f"{table(args.out)}\n\n{as_text(content, terminal_width())}")


def main(argv: list[str] | None = None, prog: str = "refine") -> int:
    """Runs the command line; returns the exit status."""
    return run(parser(prog), _refine, argv, lambda args: "the same command goes on")
