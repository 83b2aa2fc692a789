"""OpenSpiel's gin rummy as the adapters meet it: its action ids, its game, how melds and layoffs go down.

Everything here asks OpenSpiel; nothing asks our kernel, so the lock-step tests may lean on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from okgin_env import layout
from okgin_env.peers import need

TAKE, STOCK, PASS, KNOCK = 52, 53, 54, 55  # below: cards, by the same ids as ours
MELD = 56  # and up: lay the meld of that number
MOVES = {TAKE: layout.DRAW_TOP, STOCK: layout.DRAW_STOCK, PASS: layout.PASS}  # to our action ids
MOVES_BACK = {ours: theirs for theirs, ours in MOVES.items()}
LONGEST_MELD = 5  # longer runs are laid as two or three melds
WALL_STOCK = 2


@lru_cache
def game(knock_card: int | None = None) -> Any:
    """Its game: with a fixed knock limit of 0 to 10 pips, or (None) the upcard's, an ace being gin only.

    Raises:
        ImportError: OpenSpiel is not installed.
    """
    parameters = {"oklahoma": True} if knock_card is None else {"knock_card": knock_card}
    return need("pyspiel").load_game("gin_rummy", parameters)


@lru_cache
def utils() -> Any:
    """Its card analysis (`min_deadwood`, `best_meld_group`, `all_layoffs`, …)."""
    return need("pyspiel").gin_rummy.GinRummyUtils(13, 4, 10)


def simple_bot(knock_card: int | None, seat: int) -> Any:
    """A new one of its own players for one of its two seats; it remembers the hand, so `restart()` it."""
    return need("pyspiel").make_simple_gin_rummy_bot(game(knock_card).get_parameters(), seat)


def laid_in_parts(meld: Sequence[int]) -> list[list[int]]:
    """A meld (card ids in order) as OpenSpiel can lay it: a run of six or more in parts of 3 to 5."""
    rest, parts = list(meld), []
    while len(rest) > LONGEST_MELD:
        parts.append(rest[:3])
        rest = rest[3:]
    return [*parts, rest] if rest else parts


@dataclass(frozen=True)
class Layoff:
    """The best layoff that OpenSpiel offers on a knocker's melds.

    Attributes:
        deadwood: What is left then, in pips.
        cards: The cards to lay off, in an order that OpenSpiel accepts.
        offered: Every card that it offered on the way.
    """

    deadwood: int
    cards: tuple[int, ...]
    offered: frozenset[int]


def best_layoff(laid: Sequence[int], hand: Sequence[int]) -> Layoff:
    """Tries every set of layoffs that OpenSpiel offers; of equally good ones one of fewest cards.

    Args:
        laid: Numbers of the knocker's melds.
        hand: The opponent's ten card ids.
    """
    offered: set[int] = set()
    best, best_cards = utils().min_deadwood(list(hand)), ()
    todo: list[tuple[int, ...]] = [()]
    reached: set[frozenset[int]] = {frozenset()}
    for cards in todo:  # grows: breadth first, so fewer cards come earlier
        rest = [card for card in hand if card not in cards]
        if (left := utils().min_deadwood(rest)) < best:
            best, best_cards = left, cards
        for card in utils().all_layoffs(list(laid), list(cards)):
            further = frozenset((*cards, card))
            if card in rest:
                offered.add(card)
                if further not in reached:
                    reached.add(further)
                    todo.append((*cards, card))
    return Layoff(int(best), best_cards, frozenset(offered))
