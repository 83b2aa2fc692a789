"""Compares players on paired deals: which is better, by how much, and how sure that is."""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import dataclass
from pathlib import Path

from okgin_env import players
from okgin_env.arena.plan import Plan
from okgin_env.utils.commands import add_options, option, options_of, run, terminal_width
from okgin_env.utils.files import check_writable

FORFEITED = 3  # exit status when there is nothing but forfeits
EXAMPLES = """
examples:
  okgin evaluate simple knocker
  okgin evaluate runs/quick/model.zip random simple knocker --first
  okgin evaluate simple careful camper --rules eaai --hands 100000 --store night.sqlite --report night
  okgin evaluate "cmd:python examples/bots/simple_bot.py" simple --hands 2000
  okgin evaluate simple knocker --until 0.5 --hands 200000
  okgin evaluate "cmd:./bot" simple --store bot.sqlite --again faults
  okgin evaluate simple knocker --store all.sqlite --merge monday.sqlite tuesday.sqlite

a player is one of:
{players}

what is stored is not played again: a run that was killed goes on with the same command. A stored file is only
numbers and texts; one from a stranger can be merged.
"""


@dataclass(frozen=True)
class More:
    """Options besides those of the plan: the files, and the patience with programs."""

    json: Path | None = option(None, "also write the results here")
    store: Path | None = option(
        None, "keep results in this file (SQLite) as they come, and go on from it"
    )
    merge: tuple[Path, ...] = option((), "first take over the results of these files")
    replay: int = option(
        3, "rows of built-in players that are played again of each merged file, to compare"
    )
    report: Path | None = option(None, "also write report.html, figures and CSV files here")
    move_time: float = option(1.0, "seconds a cmd: player has for a move")

    def check_files(self, again: str | None) -> None:
        """Checks that all files can be read and written, before hours of play.

        Raises:
            ValueError: Options that do not go together.
            OSError: A file that cannot be read or written.
            ImportError: The report needs something that is not installed.
        """
        if self.merge and self.store is None:
            raise ValueError("--merge; allowed: with --store FILE, which they are merged into")
        if self.replay < 0:
            raise ValueError(f"--replay {self.replay}; allowed: 0 or more")
        if again and self.store is None:
            raise ValueError(f"--again {again}; allowed: with --store FILE, whose deals they are")
        if self.json and self.store and self.json.resolve() == self.store.resolve():
            raise ValueError(f"--json {self.json}; allowed: another file than --store")
        for path in self.merge:
            if not path.is_file():
                raise FileNotFoundError(f"--merge {path}: no such file")
        if self.report is not None:
            import okgin_env.arena.report.page  # noqa: F401
        for path in (self.json, self.store, self.report and self.report / "report.html"):
            if path is not None:
                check_writable(path)


def parser(prog: str) -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog,
        description="Plays players against each other, every deck from every seat, and prints points a "
        "hand with 95 % intervals (clustered by deck), matches won, endings, speed, ratings and checks.",
        epilog=EXAMPLES.format(players=players.listed()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "players", nargs="+", metavar="PLAYER", help="two or more players: all pairs are played"
    )
    add_options(made, Plan)
    add_options(made, More)
    return made


def evaluate(args: argparse.Namespace) -> int:
    """Plays, writes and prints what the options ask for; files first, since what reads the output may have left.

    Returns:
        The exit status: `FORFEITED` if every hand was.

    Raises:
        ValueError: A value that is not allowed; before any work is done.
        OSError: A file that cannot be read or written.
        ImportError: An extra that is not installed.
    """
    if len(args.players) < 2:
        raise ValueError("one player; allowed: two or more")
    plan, more = Plan(**options_of(args, Plan)), More(**options_of(args, More))
    field = [players.make(spec, move_time=more.move_time) for spec in args.players]
    from okgin_env.arena import tournament  # after --help: it takes a moment to import
    from okgin_env.arena.replay import replay
    from okgin_env.arena.report import tables
    from okgin_env.arena.store.provenance import commit
    from okgin_env.arena.store.store import Store

    more.check_files(plan.again)
    store = Store(more.store, plan.rules)
    for path in more.merge:
        other = Store(path)
        n_played = replay(other, more.replay)
        told = f"{store.merge(other)} new rows; {n_played} played again, which agree"
        print(f"{path}: {told}", file=sys.stderr)
    outcome = tournament.run(field, plan, store=store, about={"commit": commit()})
    if more.json is not None:
        tables.write_json(more.json, outcome.content)
    written = None
    if more.report is not None:
        from rich.console import Console

        from okgin_env.arena.report import page
        from okgin_env.utils.progress import NeverSilent

        with NeverSilent(console=Console(stderr=True)) as bar:
            bar.add_task("writing the report", total=None)
            written = page.write_report(more.report, outcome)
    print(tables.as_text(outcome.content, terminal_width()))
    if written is not None:
        print(f"\nreport: {written}")
    pairs = outcome.content["pairs"]
    return FORFEITED if len(tables.all_forfeited(pairs)) == len(pairs) else 0


def main(argv: list[str] | None = None, prog: str = "evaluate.py") -> int:
    """Runs the command line; returns the exit status."""
    logging.basicConfig(format=f"{prog}: %(message)s")
    return run(parser(prog), evaluate, argv, _how_to_go_on)


def _how_to_go_on(args: argparse.Namespace) -> str:
    return f"go on with the same command, {args.store} has what was played" if args.store else ""
