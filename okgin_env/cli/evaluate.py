"""Compares players on paired deals: which is better, by how much, and how sure that is."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import Any

from okgin_env import PRESETS, Rules, players
from okgin_env.utils.commands import run
from okgin_env.utils.files import check_writable

EXAMPLES = """
examples:
  python evaluate.py simple knocker
  python evaluate.py runs/quick/model.zip random simple knocker --first
  python evaluate.py simple careful camper --rules eaai --hands 100000 --store night.sqlite --report night
  python evaluate.py "cmd:python examples/bots/simple_bot.py" simple --hands 2000
  python evaluate.py simple knocker --until 0.5 --hands 200000
  python evaluate.py simple knocker --store all.sqlite --merge monday.sqlite tuesday.sqlite

a player is one of:
{players}

what is stored is not played again: a run that was killed goes on with the same command. A stored file is only
numbers and texts; one from a stranger can be merged.
"""


def parser(prog: str) -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog,
        description="Plays players against each other, every deck from every seat, and prints points a "
        "hand with 95 % intervals (clustered by deck), matches won, endings, speed, ratings and checks.",
        epilog=EXAMPLES.format(players=players.listed()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("players", nargs="+", metavar="PLAYER", help="two or more players: all pairs are played")
    add(
        "--rules",
        default="classic",
        help=f"preset ({', '.join(PRESETS)}) or a variant such as 'classic(gin_bonus=20)' (default: classic)",
    )
    add("--seats", type=int, help="seats at the table, 2 to 4 (default: 2)")
    add("--hands", type=int, default=20_000, help="hands a pair (default: 20000)")
    add(
        "--matches",
        type=int,
        help="matches a pair, rounded up to whole decks (default: a tenth of the hands; 0: none)",
    )
    add("--seed", type=int, default=0, help="same seed, same hands (default: 0)")
    add("--first", action="store_true", help="play only the pairs of the first player")
    add(
        "--until",
        type=float,
        metavar="POINTS",
        help="stop a pair early, once its interval is at most this wide; looked at after 250, 500, 1000, … decks, "
        "which makes the interval a little too narrow",
    )
    add("--no-check", action="store_true", help="do not play the first player against its double")
    add("--json", type=Path, metavar="FILE", help="also write the results here")
    add(
        "--store",
        type=Path,
        metavar="FILE",
        help="keep results in this file (SQLite) as they come, and go on from it",
    )
    add(
        "--merge",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="first take over other files' results",
    )
    add(
        "--report",
        type=Path,
        metavar="DIR",
        help="also write report.html, figures and CSV files here",
    )
    add("--engine", default="local", help="local or ray (default: local); the results are the same")
    add(
        "--workers",
        type=int,
        help="processes that play (default: 1; with ray: all of its processors)",
    )
    add("--address", help="of an existing Ray cluster (default: one is started on this machine)")
    add(
        "--move-time",
        type=float,
        default=1.0,
        metavar="S",
        help="seconds a cmd: player has for a move (default: 1)",
    )
    return made


def plan_of(args: argparse.Namespace) -> Any:
    """The plan that the options describe.

    Raises:
        ValueError: An option with a value that is not allowed.
    """
    from okgin_env.arena.plan import Plan  # after --help: it takes a moment to import

    rules = Rules.from_label(args.rules, args.seats)
    if args.seats not in (None, rules.players):
        raise ValueError(f"--seats {args.seats}; allowed: {rules.players}, as in {args.rules}")
    if args.matches and rules.target is None:
        raise ValueError(
            f"--matches {args.matches}; allowed: 0, {args.rules} has single hands only"
        )
    if args.merge and args.store is None:
        raise ValueError("--merge; allowed: with --store FILE, which they are merged into")
    return Plan(
        rules=rules,
        n_hands=args.hands,
        n_matches=args.hands // 10 if args.matches is None else args.matches,
        seed=args.seed,
        first_only=args.first,
        until=args.until,
        check=not args.no_check,
        engine=args.engine,
        workers=(0 if args.engine == "ray" else 1) if args.workers is None else args.workers,
        address=args.address,
    )


def evaluate(args: argparse.Namespace) -> None:
    """Plays, prints and writes what the options ask for.

    Raises:
        ValueError: A value that is not allowed; before any work is done.
        OSError: A file that cannot be read or written.
        ImportError: An extra that is not installed.
    """
    if len(args.players) < 2:
        raise ValueError("one player; allowed: two or more")
    plan = plan_of(args)
    seated = [players.make(spec, move_time=args.move_time) for spec in args.players]
    from okgin_env.arena import tournament
    from okgin_env.arena.report import tables
    from okgin_env.arena.store.provenance import commit
    from okgin_env.arena.store.store import Store

    if (
        args.json is not None
        and args.store is not None
        and args.json.resolve() == args.store.resolve()
    ):
        raise ValueError(f"--json {args.json}; allowed: another file than --store")
    for path in (args.json, args.store):
        if path is not None:
            check_writable(path)
    if args.report is not None:
        from okgin_env.arena.report import (
            page,  # what it needs is there, before hours of play
        )

        check_writable(args.report / "report.html")
    store = Store(args.store, plan.rules)
    for path in args.merge:
        if not path.is_file():
            raise FileNotFoundError(f"--merge {path}: no such file")
        print(f"{path}: {store.merge(Store(path))} new rows", file=sys.stderr)
    outcome = tournament.run(seated, plan, store=store, about={"commit": commit()})
    print(tables.as_text(outcome.content))
    if args.json is not None:
        tables.write_json(args.json, outcome.content)
    if args.report is not None:
        from okgin_env.arena.report import page

        print(f"\nreport: {page.write_report(args.report, outcome)}")


def main(argv: list[str] | None = None, prog: str = "evaluate.py") -> int:
    """Runs the command line; returns the exit status."""
    logging.basicConfig(format=f"{prog}: %(message)s")
    return run(parser(prog), evaluate, argv, _how_to_go_on)


def _how_to_go_on(args: argparse.Namespace) -> str:
    return f"go on with the same command, {args.store} has what was played" if args.store else ""
