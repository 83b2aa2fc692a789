"""You against any player, or several, in the terminal."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

from okgin_env import PRESETS, players
from okgin_env.players.base import check_rules
from okgin_env.rules import as_rules
from okgin_env.utils.commands import STOPPED, run

EXAMPLES = """
examples:
  okgin play
  okgin play --against careful --seed 7
  okgin play --rules french --against simple hunter --save evening.okgin
  okgin play --seats 4 --against novice --episode hand
  okgin play --against runs/quick/model.zip --hint runs/quick/model.zip

at the table:
  7h discards the 7 of hearts, k 7h knocks with it, d draws from the stock, t takes the top of the
  pile (or the upcard), p passes; help, hint, hand, history, score, undo and quit do what they say

a player is one of:
{players}

the same seed and the same entries give the same match; NO_COLOR in the environment turns colours off
"""


def parser(prog: str) -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog,
        description=__doc__,
        epilog=EXAMPLES.format(players=players.listed()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add(
        "--against",
        "--opponent",
        nargs="+",
        default=["camper"],
        metavar="PLAYER",
        help="one player, or one for each other seat in turn order (default: camper)",
    )
    add(
        "--rules",
        default="classic",
        help=f"preset ({', '.join(PRESETS)}) or a variant such as 'classic(gin_bonus=20)' (default: classic)",
    )
    add("--seats", type=int, metavar="N", help="seats at the table, 2 to 4 (default: as --against)")
    add("--episode", default="match", help="match or hand (default: match)")
    add("--seed", type=int, metavar="N", help="same seed, same cards (default: drawn)")
    add("--hint", default="camper", metavar="PLAYER", help="who gives hints (default: camper)")
    add("--save", type=Path, metavar="FILE", help="add every hand to this .okgin file")
    add("--no-color", action="store_true", help="no colours")
    return made


def _play(args: argparse.Namespace) -> int:
    """Plays a match or a hand; returns the exit status."""
    specs = args.against
    seats = len(specs) + 1 if args.seats is None and len(specs) > 1 else args.seats
    rules = as_rules(args.rules, seats)
    seats = rules.players
    if len(specs) == 1:
        specs = specs * (seats - 1)
    if len(specs) != seats - 1:
        raise ValueError(f"--against: {len(specs)} players; allowed: 1 or {seats - 1}")
    if args.episode not in ("match", "hand"):
        raise ValueError(f"--episode {args.episode}; allowed: match, hand")
    if args.episode == "match" and rules.target is None:
        raise ValueError(f"--episode match; allowed with --rules {args.rules}: hand")
    if args.seed is not None and args.seed < 0:
        raise ValueError(f"--seed {args.seed}; allowed: 0 or more")
    opponents = [players.make(spec) for spec in specs]
    hinter = players.make(args.hint)
    check_rules(hinter, rules)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # no letter ends a game
    from okgin_env.cli.session import Session  # after the checks: it takes a moment to import

    session = Session(
        rules,
        opponents,
        hinter,
        episode=args.episode,
        seed=secrets.randbelow(1 << 31) if args.seed is None else args.seed,
        read=_reader(),
        colour=not args.no_color and has_colour(),
        save=args.save,
    )
    how = session.run()
    return 2 if session.saver.waiting else STOPPED if how == "interrupted" else 0


def has_colour() -> bool:
    """Whether the terminal takes colours and nobody has asked for none (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def _reader() -> Callable[[str], str]:
    """`input` with line editing at a terminal; entries from a pipe are shown as if they were typed."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - importing it is what makes input() edit lines
        return input

    def read(prompt: str) -> str:
        entry = input(prompt)
        print(entry)
        return entry

    return read


def main(argv: list[str] | None = None, prog: str = "play") -> int:
    """Runs the command line; returns the exit status."""
    return run(parser(prog), _play, argv)
