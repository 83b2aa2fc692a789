"""The moves of a hand, one after another, and their words: what histories, programs, pictures, pages and people are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from okgin_env import cards
from okgin_env.histories.text import ILLEGAL
from okgin_env.layout import BIG_GIN, DRAW_STOCK, DRAW_TOP, KNOCK, N_CARDS, PASS
from okgin_env.view import SeatView


class Move(NamedTuple):
    """One move of a hand.

    Attributes:
        seat: The seat that moved.
        action: Its action id; `ILLEGAL`: it did something illegal and forfeited the hand.
        card: Id of the card that was drawn, taken or discarded; None: no card moved, or nobody who is told saw it.
        forced: Whether it is the draw after all have passed, about which nobody is asked (rules.md, Turns 1).
    """

    seat: int
    action: int
    card: int | None
    forced: bool = False


def replay(
    actions: Iterable[tuple[int, int]],
    players: int,
    dealer: int,
    pile: Iterable[int] = (),
    stock: Iterable[int] = (),
) -> Iterator[Move]:
    """Follows the cards of a hand from action to action.

    Args:
        actions: (seat, action id) in order.
        players: Seats at the table.
        dealer: The dealer's seat, which is asked last about the upcard.
        pile: Card ids of the discard pile before the first action, the top last, as far as they are known.
        stock: Card ids of the stock, its top first, as far as they are known.

    Yields:
        The moves, with the draw that is forced when all have passed.
    """
    lying, rest = [*pile], iter(stock)
    for seat, action in actions:
        card = None
        if action == DRAW_TOP:
            card = lying.pop() if lying else None
        elif action == DRAW_STOCK:
            card = next(rest, None)
        elif action < DRAW_STOCK:
            card = action % N_CARDS
            lying.append(card)
        yield Move(seat, action, card)
        if action == PASS and seat == dealer:
            yield Move((seat + 1) % players, DRAW_STOCK, next(rest, None), forced=True)


def seen(view: SeatView, draws: Mapping[int, int] | None = None) -> list[Move]:
    """The moves of the hand so far as one seat saw them.

    Args:
        view: What the seat may see.
        draws: Card ids of the seat's own draws from the stock by their place in this list, where they are remembered: a
            view does not hold them.
    """
    n, dealer = view.rules.players, view.dealer
    found = [*replay(view.history, n, dealer, [cards.card_id(view.upcard)])]
    if _pile(found, [cards.card_id(view.upcard)]) != cards.ids(view.pile):
        found = [
            *replay(view.history, n, dealer)
        ]  # set up as a position: how the pile began is lost
    own = draws or {}
    return [move._replace(card=own.get(k, move.card)) for k, move in enumerate(found)]


def _pile(moves: Iterable[Move], pile: list[int]) -> list[int]:
    """The discard pile after some moves."""
    for move in moves:
        if move.action == DRAW_TOP and pile:
            pile.pop()
        elif move.action < DRAW_STOCK:
            pile.append(move.action % N_CARDS)
    return pile


def describe(move: Move, who: str = "", card_text: Callable[[int], str] = cards.card_text) -> str:
    """A move in words, such as "seat 1 discards Td".

    Args:
        move: The move.
        who: What the seat is called; "you" is the reader; empty: the words begin with the verb.
        card_text: How cards are written.
    """
    s, es = ("", "") if who == "you" else ("s", "es")
    card = "" if move.card is None else card_text(move.card)
    if move.action == ILLEGAL:
        words = f"do{es} something illegal and forfeit{s} the hand"
    elif move.action == PASS:
        words = f"pass{es}"
    elif move.action == BIG_GIN:
        words = f"lay{s} down every card: big gin"
    elif move.action == DRAW_TOP:
        words = f"take{s} {card or 'the top card'} from the pile"
    elif move.action == DRAW_STOCK:
        verb = "must draw" if move.forced else f"draw{s}"
        words = f"{verb} {card + ' ' if card else ''}from the stock"
    else:
        words = f"{f'knock{s}, discarding' if move.action >= KNOCK else f'discard{s}'} {card}"
    return f"{who} {words}".lstrip()
