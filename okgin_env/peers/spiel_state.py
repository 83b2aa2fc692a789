"""A game of OpenSpiel's that looks to one seat just as our table does.

OpenSpiel's players read a whole game state. Here one is made from a `SeatView` alone: the shortest game that ends in
the same hand, pile, stock and knock limit, in which the other cards lie in any order (`hidden`). A player that reads
only its observation, as it should, so gets what it would get at OpenSpiel's own table, and cannot peek at
more than its view holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from okgin_env import cards
from okgin_env.layout import N_CARDS
from okgin_env.peers import spiel
from okgin_env.view import SeatView


def mirrored(view: SeatView, hidden: Sequence[int] | None = None) -> Any:
    """A `pyspiel` state for the seat to move of a view; the seat there is `state.current_player()`.

    Args:
        view: What the seat to move may see, of a table of two with ten cards each.
        hidden: Order in which the cards that it cannot see are dealt to the other hand and the stock
            (card ids; others are ignored); None: ascending.
    """
    order = range(N_CARDS) if hidden is None else hidden
    state = spiel.game(view.limit).new_initial_state()
    if view.phase == "offer":
        _offered(state, view, order)
    else:
        _played_on(state, view, order)
    return state


def _offered(state: Any, view: SeatView, order: Sequence[int]) -> None:
    """Deals; the other seat has passed already if it was asked first."""
    own = cards.ids(view.hand)
    other = _filled([], 10, [*own, *cards.ids(view.pile)], order)
    asked_first = view.seat == (view.dealer + 1) % view.rules.players
    for card in [*own, *other] if asked_first else [*other, *own]:
        state.apply_action(card)
    state.apply_action(cards.card_id(view.upcard))
    if not asked_first:
        state.apply_action(spiel.PASS)


def _played_on(state: Any, view: SeatView, order: Sequence[int]) -> None:
    """Builds the pile card by card.

    The first player takes the upcard and throws the pile's lowest card; from then on both draw from
    the stock and throw what they drew. So n cards lie on the pile after n - 1 draws from the stock, as at our table, and
    the parity of n says which of OpenSpiel's seats is to move.
    """
    own, pile = cards.ids(view.hand), cards.ids(view.pile)
    drawn = _drawn(view, own)
    if view.taken is not None:
        pile.append(drawn)
    kept = [card for card in own if card != drawn]
    known = cards.ids(view.known[1 - view.seat])
    other = _filled(known, 10, [*own, *pile, *known], order)
    mover = len(pile) % 2
    hands = [kept, other] if mover == 0 else [other, kept]
    upcard = hands[0].pop()
    for card in [*hands[0], pile[0], *hands[1], upcard, spiel.TAKE, pile[0]]:
        state.apply_action(card)
    for card in pile[1:]:
        for action in (spiel.STOCK, card, card):  # draw it, be dealt it, throw it
            state.apply_action(action)
    if view.taken is not None:
        # With two cards left there is no taking, only a knock with the top card: it is asked for that.
        if spiel.TAKE in state.legal_actions():
            state.apply_action(spiel.TAKE)
    elif view.phase == "discard":
        state.apply_action(spiel.STOCK)
        state.apply_action(drawn)


def _drawn(view: SeatView, own: list[int]) -> int:
    """The card of this turn's draw, or -1; of a draw from the stock any will do, the hand is a set."""
    if view.phase != "discard":
        return -1
    return own[-1] if view.taken is None else cards.card_id(view.taken)


def _filled(held: list[int], size: int, seen: list[int], order: Sequence[int]) -> list[int]:
    """A hand of `size` cards: those known to be in it, and unseen ones in the given order."""
    unseen = [card for card in order if card not in seen]
    return [*held, *unseen[: size - len(held)]]
