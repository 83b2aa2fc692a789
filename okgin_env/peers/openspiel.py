"""OpenSpiel's simple player at our table, and our players at OpenSpiel's (`play_at_openspiel`).

python -m okgin_env.peers.openspiel simple openspiel --hands 2000 --seed 0
"""

from __future__ import annotations

import sys
import threading
from functools import lru_cache
from typing import Any

import numpy as np

from okgin_env import analysis, cards
from okgin_env.layout import DRAW_STOCK, KNOCK
from okgin_env.peers import spiel
from okgin_env.peers.spiel_hand import DIFFERENCES
from okgin_env.peers.spiel_report import main
from okgin_env.peers.spiel_state import mirrored
from okgin_env.peers.spiel_table import TableResults, play_at_openspiel
from okgin_env.players.base import Bot
from okgin_env.rules import Rules
from okgin_env.view import SeatView

__all__ = ["DIFFERENCES", "OpenSpielSimple", "TableResults", "choice", "play_at_openspiel"]


class OpenSpielSimple(Bot):
    """OpenSpiel's ``simple_gin_rummy_bot`` as a `Player`, for two players with ten cards each.

    It keeps its own ways: a legal knock that OpenSpiel overlooks, it overlooks here too. Where it wants to throw back
    the card it has just taken, which only OpenSpiel allows, it makes the nearest legal move: a knock stays a
    knock and a discard a discard if there is one, with the card that leaves the least deadwood (of equals the one of
    most pips, then of lowest id). Melds and layoffs are the table's business, so here it lays off.

    Raises:
        ImportError: OpenSpiel is not installed.
    """

    name = "openspiel-simple"

    def __init__(self) -> None:
        spiel.game()

    def check_rules(self, rules: Rules) -> None:
        """Raises a ValueError unless OpenSpiel knows such a table."""
        if rules.players != 2 or rules.hand_size != 10:
            raise ValueError(
                f"openspiel-simple: {rules.players} players with {rules.hand_size} cards each; "
                "allowed: 2 players with 10"
            )

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """The move of OpenSpiel's player; it draws no chance."""
        return _nearest(view, choice(view))


def choice(view: SeatView, hidden: list[int] | None = None) -> int:
    """The action id that OpenSpiel's player asks for, legal at our table or not.

    Args:
        view: What the seat to move may see.
        hidden: As for `mirrored`; it makes no difference.
    """
    state = mirrored(view, hidden)
    bot = _bot(view.limit, state.current_player(), threading.get_ident())
    bot.restart()
    wanted = int(bot.step(state))
    if wanted == spiel.KNOCK:
        state.apply_action(wanted)
        return KNOCK + int(bot.step(state))  # its next move is the discard
    return spiel.MOVES.get(wanted, wanted)


@lru_cache
def _bot(limit: int, seat: int, thread: int) -> Any:
    """OpenSpiel's player, kept since it takes longer to make than to ask; threads share none, it has a memory."""
    return spiel.simple_bot(limit, seat)


def _nearest(view: SeatView, wanted: int) -> int:
    """The wanted action, or where our table does not allow it the nearest one that it does."""
    if wanted in view.legal:
        return wanted
    discards = [action for action in view.legal if action < KNOCK]
    knocks = [action for action in view.legal if KNOCK <= action < DRAW_STOCK]
    held = cards.mask(view.hand)

    def badness(action: int) -> tuple[int, int, int]:
        card = action % KNOCK
        return analysis.deadwood(held & ~(1 << card)), -cards.pips(card), card

    knocks_too = knocks and KNOCK <= wanted < DRAW_STOCK
    return min(knocks if knocks_too else discards, key=badness)


if __name__ == "__main__":
    sys.exit(main())
