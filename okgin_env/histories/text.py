"""The format of a hand history: its words, its limits, and a hand as lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from okgin_env import cards
from okgin_env.layout import DRAW_STOCK, DRAW_TOP, MAX_LOG, N_ACTIONS, N_CARDS, PASS
from okgin_env.view import action_text

if TYPE_CHECKING:
    from okgin_env.histories.hand import HandHistory

VERSION: Final = 1
SUFFIX: Final = ".okgin"
TITLE: Final = f"okgin hand {VERSION}"
END: Final = "end"
ILLEGAL: Final = N_ACTIONS  # in place of an action id: the seat did something illegal
WORDS: Final = (*(action_text(action) for action in range(N_ACTIONS)), "illegal")
ACTIONS: Final = {words: action for action, words in enumerate(WORDS)}
MAX_LINE: Final = 1000  # bytes
MAX_LINES: Final = MAX_LOG + 50  # of one hand
MAX_NAME: Final = 100  # characters of a player's name


def head(hand: HandHistory) -> list[str]:
    """The lines before the first action."""
    n, size = hand.rules.players, hand.rules.hand_size
    dealt = [cards.text(hand.deck[p * size : (p + 1) * size]) for p in range(n)]
    return [
        TITLE,
        f"rules: {hand.rules.label}",
        *([f"seed: {hand.seed}"] if hand.seed is not None else []),
        f"played: {hand.played}",
        f"won: {_row(hand.won)}",
        f"scores: {_row(hand.scores_before)}",
        *(f"name {p}: {name}" for p, name in enumerate(hand.names)),
        f"dealer: {hand.dealer}",
        *(f"cards {p}: {own}" for p, own in enumerate(dealt)),
        f"upcard: {cards.card_text(hand.deck[n * size])}",
        f"stock: {cards.text(hand.deck[n * size + 1 :])}",
    ]


def moves(hand: HandHistory) -> list[str]:
    """The lines of the actions, with the card that each of them brings as a remark."""
    n, n_passes = hand.rules.players, 0
    top, *rest = hand.deck[n * hand.rules.hand_size :]
    stock = iter(rest)
    lines: list[str] = []
    for seat, action in hand.actions:
        who, brought = "", None
        if action == DRAW_TOP:
            brought = top
        elif action == DRAW_STOCK:
            brought = next(stock, None)
        elif action == PASS:
            n_passes += 1
            if n_passes == n:  # the forced draw, which is nobody's action (rules.md, Turns 1)
                who, brought = f"seat {(hand.dealer + 1) % n} draws ", next(stock, None)
        elif action < DRAW_STOCK:
            top = action % N_CARDS
        note = "" if brought is None else f"  # {who}{cards.card_text(brought)}"
        lines.append(f"seat {seat}: {WORDS[action]}{note}")
    return lines


def tail(hand: HandHistory) -> list[str]:
    """The lines of the result."""
    return [
        f"ending: {hand.ending}",
        f"knocker: {'none' if hand.knocker is None else hand.knocker}",
        f"points: {_row(hand.points)}",
        f"deadwood: {_row(hand.deadwood)}",
        f"scores after: {_row(hand.scores)}",
    ]


def _row(values: Iterable[int]) -> str:
    return " ".join(str(value) for value in values)
