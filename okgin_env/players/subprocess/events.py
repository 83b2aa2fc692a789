"""The hand so far as one seat could have seen it happen: its cards as dealt, then everybody's moves.

A view holds the moves, but not which card the seat itself drew in which turn, since a player is asked about one decision at a
time and remembers nothing. `Memory` keeps that from one decision to the next, also when the decisions of many hands
come mixed.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from okgin_env import cards
from okgin_env.layout import BIG_GIN, DRAW_STOCK, DRAW_TOP, KNOCK, N_CARDS, PASS
from okgin_env.view import SeatView, action_text

MAX_REMEMBERED = 1 << 15  # decisions; a batch of more hands at a time is told without own draws


class Event(NamedTuple):
    """A move.

    Attributes:
        seat: Who made it.
        move: The action in words.
        card: The card, if the seat that is told has seen it.
    """

    seat: int
    move: str
    card: str | None


@dataclass(frozen=True)
class Story:
    """A hand so far.

    Attributes:
        seat: The seat that is told.
        dealer: The dealer's seat.
        upcard: The card that set the limit.
        limit: Knock limit in pips.
        scores: Match score of every seat before the hand.
        dealt: The own cards at the beginning; None if that was not seen.
        events: All moves, in order.
        drawn: The card just drawn from the stock, if the seat is to discard and it is known.
    """

    seat: int
    dealer: int
    upcard: str
    limit: int
    scores: tuple[int, ...]
    dealt: tuple[str, ...] | None
    events: tuple[Event, ...]
    drawn: str | None

    def goes_on(self, other: Story) -> bool:
        """Whether it is the same hand as another story, told on."""
        same = ("seat", "dealer", "upcard", "limit", "scores", "dealt")
        if any(getattr(self, name) != getattr(other, name) for name in same):
            return False
        return self.events[: len(other.events)] == other.events


class _Past(NamedTuple):
    """What the seat knows of its own cards: as dealt (a mask), and the draws by their place in the history."""

    dealt: int | None
    draws: tuple[tuple[int, int], ...]


Moves = tuple[tuple[int, int], ...]


class Memory:
    """Remembers the own cards of hands in progress."""

    def __init__(self) -> None:
        self._pasts: OrderedDict[tuple, _Past] = OrderedDict()

    def story(self, view: SeatView) -> Story:
        """The hand so far, and remembers it: call it at every decision of a hand, and after the hand."""
        moves = _moves(view)
        past = self._past(view, moves)
        key = _key(view, moves, cards.mask(view.hand))
        self._pasts[key] = past
        self._pasts.move_to_end(key)
        if len(self._pasts) > MAX_REMEMBERED:
            self._pasts.popitem(last=False)
        draws = dict(past.draws)
        dealt = None if past.dealt is None else tuple(cards.text(past.dealt).split())
        drawn = draws.get(len(moves) - 1) if view.phase == "discard" else None
        return Story(
            view.seat,
            view.dealer,
            view.upcard,
            view.limit,
            tuple(_scores_before(view)),
            dealt,
            _events(view, moves, draws),
            None if drawn is None else cards.card_text(drawn),
        )

    def _past(self, view: SeatView, moves: Moves) -> _Past:
        """The past of a hand, from what was known at the own decision before this one."""
        own = [k for k, (seat, _) in enumerate(moves) if seat == view.seat]
        now = cards.mask(view.hand)
        if not own:
            return _Past(now, ())
        last = own[-1]
        if len(own) > 1 and _is_forced(moves, last):
            last = own[-2]  # nobody was asked about that draw
        for before, drawn in _cards_before(now, view, moves, last):
            past = self._pasts.get(_key(view, moves[:last], before))
            if past is not None:
                return _Past(past.dealt, past.draws if drawn is None else (*past.draws, drawn))
        return _Past(None, ())


def _moves(view: SeatView) -> Moves:
    """The history with the draw that is forced when all have passed, which is no decision (Turns 1)."""
    moves: list[tuple[int, int]] = []
    for seat, action in view.history:
        moves.append((seat, action))
        if action == PASS and seat == view.dealer:  # the dealer is asked last
            moves.append(((seat + 1) % view.rules.players, DRAW_STOCK))
    return tuple(moves)


def _is_forced(moves: Moves, k: int) -> bool:
    return k > 0 and moves[k][1] == DRAW_STOCK and moves[k - 1][1] == PASS


def _key(view: SeatView, moves: Moves, own_cards: int) -> tuple:
    """What tells one decision from all others, as far as the seat can."""
    scores = tuple(_scores_before(view))
    return (view.seat, view.dealer, view.upcard, view.limit, scores, moves, own_cards)


def _scores_before(view: SeatView) -> list[int]:
    """Scores before the hand, also when it is over."""
    if view.phase != "over":
        return view.scores
    return [score - points for score, points in zip(view.scores, view.points, strict=True)]


def _cards_before(
    now: int, view: SeatView, moves: Moves, last: int
) -> list[tuple[int, tuple[int, int] | None]]:
    """What the own cards may have been before the own move at `last`.

    Returns:
        Pairs of a mask and the draw since then, as its place in the history and its card, if there was one.
    """
    action = moves[last][1]
    drew = last if action == DRAW_STOCK else None
    if action == PASS:
        drew = next(
            (k for k, (seat, _) in enumerate(moves) if k > last and seat == view.seat), None
        )
    if drew is not None:
        return [(now ^ 1 << card, (drew, card)) for card in range(N_CARDS) if now >> card & 1]
    if action == DRAW_TOP:
        taken = view.taken or _cards_taken(view, moves)[last]
        return [(now & ~cards.mask(taken), None)] if taken else []
    if action in (PASS, BIG_GIN):
        return [(now, None)]
    return [(now | 1 << action % KNOCK, None)]


def _events(view: SeatView, moves: Moves, draws: dict[int, int]) -> tuple[Event, ...]:
    """The moves with the cards the seat has seen."""
    taken = _cards_taken(view, moves)
    events = []
    for k, (seat, action) in enumerate(moves):
        card = taken[k]
        if action < DRAW_STOCK:
            card = cards.card_text(action % KNOCK)
        elif action == DRAW_STOCK and k in draws:
            card = cards.card_text(draws[k])
        events.append(Event(seat, action_text(action), card))
    return tuple(events)


def _cards_taken(view: SeatView, moves: Moves) -> list[str | None]:
    """The card each move took from the pile; None for other moves.

    In a hand that was set up as a position, cards of the pile it began with stay None.
    """
    pile, taken = _replayed(moves, [view.upcard])
    return taken if pile == view.pile else _replayed(moves, [])[1]


def _replayed(moves: Moves, pile: list[str]) -> tuple[list[str], list[str | None]]:
    taken: list[str | None] = []
    for _, action in moves:
        taken.append(pile.pop() if action == DRAW_TOP and pile else None)
        if action < DRAW_STOCK:
            pile.append(cards.card_text(action % KNOCK))
    return pile, taken
