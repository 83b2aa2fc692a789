"""Words that every form of a view shares: what seats are called, what happened last and who is to do what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from okgin_env import cards
from okgin_env.histories.moves import describe, seen
from okgin_env.view import SeatView

_ASKED = {"offer": "take or pass the upcard", "draw": "draw", "discard": "discard"}


def name_of(view: SeatView, seat: int, names: Sequence[str] = ()) -> str:
    """The name of a seat; without names "you" and "seat 1"."""
    if names:
        return names[seat]
    return "you" if seat == view.seat else f"seat {seat}"


def last_line(
    view: SeatView,
    name: Callable[[int], str],
    card_text: Callable[[int], str] = cards.card_text,
) -> str:
    """The last move, and who is to move or who scored what.

    Args:
        view: What one seat may see.
        name: What a seat is called.
        card_text: How cards are written.
    """
    moves = seen(view)
    last = "the cards are dealt"
    if moves:
        last = describe(moves[-1], name(moves[-1].seat), card_text)
    if view.phase != "over":
        return f"{last}; {name(view.to_move)} to {_ASKED[view.phase]}"
    if view.ending == "void":
        return f"{last}; the hand is void, nobody scores"
    if view.ending == "illegal":
        return f"{last}; {name(view.to_move)} did something illegal, the others score"
    won = [f"{name(seat)} +{points}" for seat, points in enumerate(view.points) if points]
    return f"{last}; {', '.join(won) or 'nobody scores'}"
