"""What the scripts behind `docs/reliability.md` share: a progress bar, and rows of its table.

Each script takes ``--row`` and then prints its line of the table: what was tried, how often, with which command and
seed, and what was found. The page is those lines, so that it says nothing that was not run.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SHOWN = ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT")  # settings that belong to a command


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        what: What was tried.
        how_often: How often, in the script's own unit.
        found: What did not hold, or "none".
    """

    what: str
    how_often: str
    found: str


def add_row_option(parser: argparse.ArgumentParser) -> None:
    """Adds ``--row``."""
    parser.add_argument(
        "--row", action="store_true", help="end with a row for the table in docs/reliability.md"
    )


def say_row(args: argparse.Namespace, row: Row) -> None:
    """Prints the row, with the command that was run, where it was asked for."""
    if not args.row:
        return
    settings = [f"{name}={os.environ[name]}" for name in SHOWN if name in os.environ]
    path = Path(sys.argv[0]).resolve()
    script = f"{path.parent.name}/{path.name}"
    words = [word for word in sys.argv[1:] if word != "--row"]
    command = " ".join([*settings, "python", script, *map(shlex.quote, words)])
    print(f"| {row.what} | {row.how_often} | `{command}` | {row.found} |")


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
