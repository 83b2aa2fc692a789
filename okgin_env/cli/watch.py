"""Players against each other, move by move, with all cards open."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env import PRESETS, cards, players
from okgin_env.cli.entry import result, score, unique
from okgin_env.cli.play import has_colour
from okgin_env.cli.table import Saver
from okgin_env.engine.decisions import answer, view_of
from okgin_env.engine.games import Games, check_episode
from okgin_env.histories.moves import Move, describe, seen
from okgin_env.kernel.batch import NOBODY
from okgin_env.layout import DRAW_STOCK, PASS
from okgin_env.players.base import Player, check_rules
from okgin_env.render.text import draw, paint, paint_cards
from okgin_env.rules import Rules, as_rules
from okgin_env.utils.commands import run
from okgin_env.view import SeatView

EXAMPLES = """
examples:
  %(prog)s camper simple
  %(prog)s runs/quick/model.zip expert --seed 7
  %(prog)s hunter simple camper --rules french --delay 0 --save three.okgin
  %(prog)s expert camper --episode match --step

a player is one of:
{players}
"""
_GAME = np.zeros(1, np.int64)  # the index of the one game there is


def parser(prog: str) -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog,
        description=__doc__,
        epilog=EXAMPLES.format(players=players.listed().replace("%", "%%")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("players", nargs="+", metavar="PLAYER", help="one for each seat, 2 to 4")
    add("--rules", default="classic", help=f"rules: {', '.join(PRESETS)}, or a variant such as 'classic(gin_bonus=20)' (default: classic)")  # fmt: skip
    add("--episode", default="hand", help="hand or match (default: hand)")
    add("--seed", type=int, metavar="N", help="same seed, same cards (default: drawn)")
    add("--delay", type=float, metavar="SECONDS", help="between two moves (default: 1 in a terminal, else 0)")  # fmt: skip
    add("--step", action="store_true", help="wait for the Enter key after every move instead")
    add("--save", type=Path, metavar="FILE", help="add every hand to this .okgin file")
    add("--no-color", action="store_true", help="no colours")
    return made


class Show:
    """A game of players that somebody looks on at.

    Args:
        rules: The rules of the table.
        field: A player for each seat.
        episode: "hand" or "match".
        seed: Seed of the cards and of the players' random streams.
        say: Shows lines, as `print` does.
        pause: Called after every move.
        colour: Whether to use ANSI colours.
        save: A file that every hand is added to as it ends.

    Raises:
        ValueError: Rules, players and episode do not fit, or a bad file name.
    """

    def __init__(
        self,
        rules: Rules,
        field: Sequence[Player],
        episode: str,
        seed: int,
        *,
        say: Callable[[str], Any] = print,
        pause: Callable[[], Any] = lambda: None,
        colour: bool = False,
        save: Path | None = None,
    ) -> None:
        check_episode(rules, episode, "points")
        for player in field:
            check_rules(player, rules)
        self._rules, self._field, self._seed = rules, field, seed
        self._say, self._pause, self._colour = say, pause, colour
        self._names = unique([player.name for player in field])
        self._games = Games(1, rules, no_learner=NOBODY, episode=episode)
        self._games.recorder = lambda final: self._ended.append(final.copy())
        self._ended: list[NDArray[np.void]] = []
        self._saver = Saver(save, rules, self._names, seed)
        self._told: list[Move] = []  # moves of the hand so far
        self._n_hands = 0

    def run(self) -> None:
        """Plays to the end of the episode."""
        games = self._games
        self._write(f"{' against '.join(self._names)}, rules {self._rules.label}, seed {self._seed}", "1")  # fmt: skip
        games.seed(_GAME, np.array([self._seed], np.uint64))
        games.reset(_GAME)
        self._deal()
        while not games.over(_GAME)[0]:
            before = games.view(0, 0, reveal=True)
            action = answer(self._field[before.to_move], games.decisions(_GAME))
            games.step(action, _GAME, False)
            self._follow(before)
        self._write(f"final score: {score(games.view(0, 0, reveal=True).scores, self._names)}", "1")

    def _follow(self, before: SeatView) -> None:
        """Tells what has happened since `before`: moves, the end of a hand, the next deal."""
        ended, self._ended = self._ended, []
        if failure := self._saver.add(ended):
            self._write(failure)
        for final in ended:
            view = view_of(final, self._rules, self._games.rules_record, 0, reveal=True)
            self._tell(before, view)
            self._n_hands += 1
            self._say(f"\n{draw(view, self._colour, self._names)}\n")
            self._write(f"hand {self._n_hands}: {result(view, self._names)}", "1")
        if not ended:
            self._tell(before, self._games.view(0, 0, reveal=True))
        elif not self._games.over(_GAME)[0]:
            self._deal()

    def _deal(self) -> None:
        """Tells how a hand begins."""
        self._told = []
        view = self._games.view(0, 0, reveal=True)
        self._say(f"\n{draw(view, self._colour, self._names)}\n")
        self._pause()

    def _tell(self, before: SeatView, after: SeatView) -> None:
        """Tells the moves that are new, with the cards that came from the stock."""
        moves = seen(after)
        for move in moves[len(self._told) :]:
            came = set(after.hands[move.seat]) - set(before.hands[move.seat])
            if move.action == DRAW_STOCK and len(came) == 1:
                move = move._replace(card=cards.card_id(came.pop()))
            words = describe(move, self._names[move.seat])
            hand = after.hands[move.seat] if move.action != PASS else []
            self._write(f"  {words:44}{' '.join(hand)}".rstrip())
            self._pause()
        self._told = moves

    def _write(self, text: str, style: str = "") -> None:
        if self._colour:
            text = paint(text, style) if style else paint_cards(text)
        self._say(text)


def _watch(args: argparse.Namespace) -> None:
    """Plays one episode as the options ask for."""
    field = [players.make(spec) for spec in args.players]
    rules = as_rules(args.rules, len(field))
    if args.seed is not None and args.seed < 0:
        raise ValueError(f"--seed {args.seed}; allowed: 0 or more")
    delay = args.delay if args.delay is not None else float(sys.stdout.isatty())
    if not 0 <= delay < 3600:
        raise ValueError(f"--delay {args.delay}; allowed: 0 to 3600 seconds")
    seed = secrets.randbelow(1 << 31) if args.seed is None else args.seed
    show = Show(
        rules,
        field,
        args.episode,
        seed,
        pause=input if args.step else lambda: time.sleep(delay),
        colour=not args.no_color and has_colour(),
        save=args.save,
    )
    show.run()


def main(argv: list[str] | None = None, prog: str = "watch") -> int:
    """Runs the command line; returns the exit status."""
    return run(parser(prog), _watch, argv)
