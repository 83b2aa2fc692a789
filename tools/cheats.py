"""Sends cheats against the arena: who knows the seed, and who remembers a deal until it comes again.

python -m tools.cheats [--hands 2000] [--decks secret|seed] [--players NAME …] [--programs]

Each plays `simple`. The honest copy thinks in the same way and knows nothing. A cheat should gain nothing, or be flagged by the check of
its pair. It plays in this process, deal by deal, so that in one life it would see both games of a deal in one batch;
with --programs as a program of its own (`cmd:`).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from okgin_env.arena.plan import Plan
from okgin_env.arena.tournament import run
from okgin_env.players import Player, ProcessPlayer
from tests.helpers import cheats

CHEATS = (
    cheats.Honest,
    cheats.KnowsSeed,
    cheats.Remembers,
    cheats.RemembersInClass,
    cheats.RemembersInFile,
)
DEALS = 250  # that a program plays in one life: it takes seconds to start


class Program(ProcessPlayer):
    """A program that plays many deals before it is started anew."""

    @property
    def deals_per_task(self) -> int:
        """See the class."""
        return DEALS


def _player(kind: type[cheats.Honest], as_program: bool) -> Player:
    if not as_program:
        return kind()
    spec = f"tests.helpers.cheats:{kind.__name__}"
    command = [sys.executable, "-m", "okgin_env", "serve", spec]
    return Program(command, 60.0, 60.0, name=f"{kind.name} (program)")


def main() -> None:
    """Plays, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--hands", type=int, default=2000)
    parser.add_argument("--decks", choices=("secret", "seed"), default="secret")
    parser.add_argument("--players", nargs="+", choices=[kind.name for kind in CHEATS])
    parser.add_argument("--programs", action="store_true")
    args = parser.parse_args()
    seed = 0 if args.decks == "seed" else None
    plan = Plan(n_hands=args.hands, n_matches=0, check=False, seed=seed)
    print(
        "| player | decks | points a hand | later games of a deal against the first | check | s |"
    )
    print("|---|---|--:|--:|---|--:|", flush=True)
    for kind in CHEATS:
        if args.players and kind.name not in args.players:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.environ[cheats.MEMORY] = str(Path(folder) / "memory")
            begun = time.perf_counter()
            player = _player(kind, args.programs)
            content = run([player, "simple"], plan, show_progress=False).content
        [pair], spent = content["pairs"], time.perf_counter() - begun
        [check] = [c for c in content["checks"] if "later" in c["name"]]
        points = "{:+.2f} ({:+.2f} to {:+.2f})".format(pair["points_per_hand"], *pair["ci95"])
        later = f"{check['value']:+.2f} ({check['low']:+.2f} to {check['high']:+.2f})"
        said = "passed" if check["ok"] else "FLAGGED"
        print(f"| {player.name} | {args.decks} | {points} | {later} | {said} | {spent:.0f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
