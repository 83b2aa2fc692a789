"""``python -m okgin_env``: Oklahoma Gin from the command line."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

from okgin_env import PRESETS, Rules, players
from okgin_env.players.base import check_rules

PROG = "python -m okgin_env"
EXAMPLES = """
examples:
  python -m okgin_env play
  python -m okgin_env play --against careful --seed 7
  python -m okgin_env play --rules french --against simple hunter --save evening.okgin
  python -m okgin_env play --seats 4 --against novice --episode hand
  python -m okgin_env play --against runs/quick/model.zip --hint runs/quick/model.zip

at the table:
  7h discards the 7 of hearts, k 7h knocks with it, d draws from the stock, t takes the top of the
  pile (or the upcard), p passes; help, hint, hand, history, score, undo and quit do what they say

a player is one of:
{players}
  a model file (.zip of stable-baselines3, .safetensors); only its numbers are read, no code is run
  package.module:Class for a class of your own (its module is imported, and so runs its code)
  cmd: and a command line for a program in any language (docs/protocol.md)

the same seed and the same entries give the same match; NO_COLOR in the environment turns colours off
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog=PROG, description="Oklahoma Gin in the terminal.")
    commands = made.add_subparsers(dest="command", metavar="COMMAND")
    listed = "\n".join(f"  {name:8} {text}" for name, text in players.DESCRIPTIONS.items())
    play = commands.add_parser(
        "play",
        help="play against any player (try: play --help)",
        description="You against any player, or several, in the terminal.",
        epilog=EXAMPLES.format(players=listed),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = play.add_argument
    add(
        "--against",
        nargs="+",
        default=["camper"],
        metavar="PLAYER",
        help="one player, or one for each other seat in turn order (default: camper)",
    )
    add("--rules", default="classic", help=f"rules preset: {', '.join(PRESETS)} (default: classic)")
    add("--seats", type=int, metavar="N", help="seats at the table, 2 to 4 (default: as --against)")
    add("--episode", default="match", help="match or hand (default: match)")
    add("--seed", type=int, metavar="N", help="same seed, same cards (default: drawn)")
    add("--hint", default="camper", metavar="PLAYER", help="who gives hints (default: camper)")
    add("--save", type=Path, metavar="FILE", help="add every hand to this .okgin file")
    add("--no-color", action="store_true", help="no colours")
    serve = commands.add_parser(
        "serve",
        help="lend a player to a table elsewhere, as a program (docs/protocol.md)",
        description="A player as a program that reads JSON lines and answers with moves (docs/protocol.md): "
        '"cmd:python -m okgin_env serve mybots:Patient" seats a class of your own in a process of its own.',
    )
    serve.add_argument("player", metavar="PLAYER", help="a player, as for play")
    return made


def play(args: argparse.Namespace) -> int:
    """Plays a match or a hand; returns the exit status."""
    specs = args.against
    seats = args.seats
    if seats is None:
        seats = len(specs) + 1
    rules = Rules.preset(args.rules, seats)
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
    return 2 if session.saver.waiting else 130 if how == "interrupted" else 0


def serve(args: argparse.Namespace) -> int:
    """Answers a table's messages until the input ends; returns the exit status."""
    player = players.make(args.player)
    from okgin_env.cli.serve import serve as answer  # after the check: it takes a moment to import

    answer(player, sys.stdin, sys.stdout)
    return 0


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


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    made = parser()
    args = made.parse_args(argv)
    if args.command is None:
        made.print_help()
        return 2
    try:
        return serve(args) if args.command == "serve" else play(args)
    except BrokenPipeError:  # whoever read the output has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, FileNotFoundError, ImportError, OSError) as error:
        print(f"{PROG} {args.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{PROG} {args.command}: stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
