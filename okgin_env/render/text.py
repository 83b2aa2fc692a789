"""A seat's view as text: cards in a grid of suits and ranks, and what matters beside it."""

from __future__ import annotations

from okgin_env import analysis
from okgin_env.cards import RANKS, SUITS
from okgin_env.view import SeatView, action_text

_NAMES = {"s": "spades", "c": "clubs", "d": "diamonds", "h": "hearts"}


def draw(view: SeatView) -> str:
    """The view as lines of text."""
    lines = [_headline(view), ""]
    if view.knocker is not None:
        lines += _showdown(view)
    else:
        lines += [f"  {'':8} {' '.join(RANKS)}"]
        for suit in SUITS:
            marks = " ".join(_mark(view, rank + suit) for rank in RANKS)
            lines.append(f"  {_NAMES[suit]:8} {marks}")
        lines += [
            "",
            "  # own   K known to be theirs   ^ top of the pile   . in the pile   - unseen",
        ]
        lines += ["", f"  hand      {_melds_then_rest(view.hand)}   (deadwood {view.deadwood})"]
        if view.taken:
            lines.append(f"  taken     {view.taken} (stays in hand this turn)")
        lines += _others(view)
    lines += ["", f"  {_last_action(view)}"]
    return "\n".join(lines)


def _headline(view: SeatView) -> str:
    limit = "gin only" if view.limit == 0 else str(view.limit)
    scores = " ".join(f"seat {seat}: {score}" for seat, score in enumerate(view.scores))
    return (
        f"upcard {view.upcard}   knock limit {limit}   stock {view.stock_left}   "
        f"dealer seat {view.dealer}   score {scores}"
    )


def _mark(view: SeatView, card: str) -> str:
    if card in view.hand:
        return "#"
    if card == view.top:
        return "^"
    if card in view.pile:
        return "."
    return "K" if any(card in known for known in view.known) else "-"


def _melds_then_rest(hand: list[str]) -> str:
    melds = analysis.arrange(hand)
    used = " ".join(melds).split()
    rest = " ".join(card for card in hand if card not in used)
    return " | ".join([*melds, rest] if rest else melds)


def _others(view: SeatView) -> list[str]:
    lines = []
    for k in range(1, view.rules.players):
        seat = (view.seat + k) % view.rules.players
        known = " ".join(view.known[seat]) or "nothing"
        lines.append(f"  seat {seat}    known to hold {known}")
    return lines


def _showdown(view: SeatView) -> list[str]:
    lines = []
    for seat, hand in enumerate(view.hands):
        who = "knocker" if seat == view.knocker else "       "
        lines.append(
            f"  seat {seat} {who} {_melds_then_rest(hand):40} counted {view.counted[seat]:3}   "
            f"points {view.points[seat]}"
        )
    return lines


def _last_action(view: SeatView) -> str:
    last = "the deal"
    if view.history:
        seat, action = view.history[-1]
        last = f"seat {seat}: {action_text(action)}"
    if view.phase == "over":
        return f"last: {last}   the hand is over: {view.ending}"
    return f"last: {last}   to move: seat {view.to_move} ({view.phase})"
