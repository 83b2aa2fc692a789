"""Who is better, and by how much: players against each other on paired deals."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from okgin_env import PRESETS, Rules, players
from okgin_env.files import check_writable

EXAMPLES = """
examples:
  python evaluate.py simple knocker
  python evaluate.py runs/quick/model.zip random simple knocker --first
  python evaluate.py simple novice --rules eaai --hands 100000 --json result.json
  python evaluate.py mybots.clever:Clever simple --hands 2000

a player is one of:
{players}
  a model file (.zip of stable-baselines3, .safetensors); only its numbers are read, no code is run
  package.module:Class for a class of your own (its module is imported, and so runs its code)
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    listed = "\n".join(f"  {name:8} {text}" for name, text in players.DESCRIPTIONS.items())
    made = argparse.ArgumentParser(
        description="Plays players against each other, every deck from every seat, and prints points a "
        "hand with 95 % intervals (clustered by deck), matches won, endings and speed.",
        epilog=EXAMPLES.format(players=listed),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("players", nargs="+", metavar="PLAYER", help="two or more players: all pairs are played")
    add("--rules", default="classic", help=f"rules preset: {', '.join(PRESETS)} (default: classic)")
    add("--seats", type=int, default=2, help="seats at the table, 2 to 4 (default: 2)")
    add("--hands", type=int, default=20_000, help="hands a pair (default: 20000)")
    add(
        "--matches",
        type=int,
        help="matches a pair, rounded up to whole decks (default: a tenth of the hands; 0: none)",
    )
    add("--seed", type=int, default=0, help="same seed, same hands (default: 0)")
    add("--first", action="store_true", help="play only the pairs of the first player")
    add("--json", type=Path, metavar="FILE", help="also write the results here")
    return made


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = parser().parse_args(argv)
    try:
        rules = Rules.preset(args.rules, args.seats)
        if len(args.players) < 2:
            raise ValueError("one player; allowed: two or more")
        if args.hands < args.seats:
            raise ValueError(f"--hands {args.hands}; allowed: {args.seats} or more")
        if args.matches is not None and args.matches < 0:
            raise ValueError(f"--matches {args.matches}; allowed: 0 or more")
        if args.matches and rules.target is None:
            raise ValueError(
                f"--matches {args.matches}; allowed: 0, {args.rules} has single hands only"
            )
        if args.seed < 0:
            raise ValueError(f"--seed {args.seed}; allowed: 0 or more")
        if args.json is not None:
            check_writable(args.json)
        seated = [players.make(spec) for spec in args.players]
        from okgin_env.arena import evaluate  # after the checks: it takes a moment to import

        content = evaluate.round_robin(
            seated,
            rules,
            n_hands=args.hands,
            n_matches=args.hands // 10 if args.matches is None else args.matches,
            seed=args.seed,
            first_only=args.first,
        )
        print(evaluate.as_text(content))
        if args.json is not None:
            evaluate.write_json(args.json, content)
    except (ValueError, FileNotFoundError, ImportError, OSError) as error:
        print(f"evaluate.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("evaluate.py: stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
