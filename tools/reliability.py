"""Command line, progress bar and result of the campaigns behind `docs/reliability.md`.

Each campaign takes ``--row`` and then prints its line of the page's table: what was tried, how often, with which command and
seed, and what was found. The page is those lines, so that it says nothing that was not run.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from okgin_env.utils.commands import run

SHOWN = ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT")  # settings that belong to a command


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        what: What was tried.
        how_often: How often, in the campaign's own unit.
        found: What did not hold, or "none".
    """

    what: str
    how_often: str
    found: str = "none"


def campaign(
    text: str | None,
    add_options: Callable[[argparse.ArgumentParser], object],
    work: Callable[[argparse.Namespace], Iterable[Row]],
    argv: list[str] | None = None,
) -> int:
    """Runs a campaign as a command.

    Args:
        text: Its help.
        add_options: Adds its options to a command line.
        work: Does it, and gives its rows.
        argv: The words after the command; None: those of the process.

    Returns:
        The exit status: 0 where nothing was found, 1 where something was.
    """
    name = f"python -m tools.{Path(sys.argv[0]).stem}"
    parser = argparse.ArgumentParser(
        prog=name, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser)
    parser.add_argument("--row", action="store_true", help="end with rows for docs/reliability.md")

    def do(args: argparse.Namespace) -> int:
        failed = 0
        words = [word for word in (sys.argv[1:] if argv is None else argv) if word != "--row"]
        settings = [f"{name}={os.environ[name]}" for name in SHOWN if name in os.environ]
        command = " ".join([*settings, name, *map(shlex.quote, words)])
        for row in work(args):
            failed += row.found != "none"
            print(f"{row.what}: {row.how_often}: found: {row.found}", flush=True)
            if args.row:
                print(f"| {row.what} | {row.how_often} | `{command}` | {row.found} |")
        return 1 if failed else 0

    return run(parser, do, argv)


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """A progress bar with rich where it is installed; gives a function that moves it on."""
    try:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield lambda n: None
        return
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeRemainingColumn(), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda n: bar.advance(task, n)
