"""The hand so far as one seat saw it happen: its cards as dealt, then everybody's moves.

A view holds the moves, but not which card the seat itself drew in which turn, since a player is asked about one decision at a
time and remembers nothing. `Memory` keeps that from one decision to the next, also when the decisions of many hands
come mixed.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from okgin_env import cards
from okgin_env.histories.moves import Move, seen
from okgin_env.layout import DRAW_STOCK, DRAW_TOP, N_CARDS
from okgin_env.view import SeatView

MAX_REMEMBERED = 1 << 15  # decisions; a batch of more hands at a time is told without own draws


class Story(NamedTuple):
    """A hand so far.

    Attributes:
        hand: How it began, as the message `hand` says it: seat, dealer, upcard, limit, scores, and the own cards, None
            if they were not seen.
        moves: All moves, in order, with the cards the seat has seen.
        drawn: Id of the card just drawn from the stock, if the seat is to discard and it is known.
    """

    hand: dict[str, Any]
    moves: list[Move]
    drawn: int | None

    def goes_on(self, other: Story) -> bool:
        """Whether it is the same hand as another story, told on."""
        return self.hand == other.hand and self.moves[: len(other.moves)] == other.moves


class _Past(NamedTuple):
    """The seat's knowledge of its own cards: as dealt (a mask), and its draws by their place among the moves."""

    dealt: int | None
    draws: dict[int, int]


class Memory:
    """Remembers the own cards of hands in progress."""

    def __init__(self) -> None:
        self._pasts: OrderedDict[tuple, _Past] = OrderedDict()

    def story(self, view: SeatView) -> Story:
        """The hand so far, and remembers it: call it at every decision of a hand, and after the hand."""
        gained = view.points if view.phase == "over" else [0] * view.rules.players
        hand = {
            "seat": view.seat,
            "dealer": view.dealer,
            "upcard": view.upcard,
            "limit": view.limit,
            "scores": tuple(now - new for now, new in zip(view.scores, gained, strict=True)),
        }
        public, moves = tuple(hand.values()), seen(view)
        past = self._past(view, public, moves)
        key = (public, _decided(moves), cards.mask(view.hand))
        self._pasts[key] = past
        self._pasts.move_to_end(key)
        if len(self._pasts) > MAX_REMEMBERED:
            self._pasts.popitem(last=False)
        dealt = None if past.dealt is None else cards.text(past.dealt).split()
        drawn = past.draws.get(len(moves) - 1) if view.phase == "discard" else None
        return Story({**hand, "cards": dealt}, seen(view, past.draws), drawn)

    def _past(self, view: SeatView, public: tuple, moves: list[Move]) -> _Past:
        """The past of a hand, from what was known at the own decision before this one."""
        now = cards.mask(view.hand)
        own = [k for k, move in enumerate(moves) if move.seat == view.seat]
        if not own:
            return _Past(now, {})
        last = max((k for k in own if not moves[k].forced), default=own[0])  # asked about
        came = [k for k in own if k >= last and moves[k].action in (DRAW_STOCK, DRAW_TOP)]
        went = 0 if moves[last].action >= DRAW_STOCK else 1 << moves[last].action % N_CARDS
        for card in cards.ids(now) if came else [None]:  # which of them is it that came?
            before = (now if card is None else now ^ 1 << card) | went
            past = self._pasts.get((public, _decided(moves[:last]), before))
            if past is None:
                continue
            if card is None or moves[came[0]].action == DRAW_TOP:
                return past
            return _Past(past.dealt, {**past.draws, came[0]: card})
        return _Past(None, {})


def _decided(moves: list[Move]) -> tuple[tuple[int, int], ...]:
    """Moves without their cards: a view of a later moment may know more of them."""
    return tuple((move.seat, move.action) for move in moves)
