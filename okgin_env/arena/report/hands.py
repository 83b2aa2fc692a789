"""Hands to step through on the report's page: every picture of a hand, packed small.

Most of what a picture is drawn from stands in many pictures of a hand, so the hand keeps each element once and a picture is a
list of numbers. The page unpacks a hand when somebody opens it.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.engine.decisions import view_of
from okgin_env.histories import HandHistory, describe
from okgin_env.layout import DRAW_STOCK
from okgin_env.render.scene import Instruction, Rect, Shape, compose
from okgin_env.render.style import SUIT_SIGNS
from okgin_env.render.svg import element

LABEL = 13  # letters of a name beside a hand
HEADLINE = 46  # letters of all names above a table
LAST_LINE = 34  # how much of a picture's height its last line takes


@dataclass(frozen=True)
class ShownHand:
    """A hand of the page's list.

    Attributes:
        number: From 1, its place in the outcome, and its name in the page's address.
        seats: The players by seat.
        ending: As `HandHistory.ending`.
        by: Who ended it: the knocker, the undercutter (of several who scored most), who played illegally; None for a void hand.
        winner: Who scored most; None: nobody did.
        points: The most points that anybody scored.
        turns: Discards of all seats.
        packed: Its pictures and words: JSON, gzip, base64.
    """

    number: int
    seats: tuple[str, ...]
    ending: str
    by: str | None
    winner: str | None
    points: int
    turns: int
    packed: str


def shown_hand(number: int, hand: HandHistory) -> ShownHand:
    """A hand, replayed and drawn.

    Raises:
        ValueError: It does not replay to its stated result.
    """
    seats = hand.names or tuple(f"seat {p}" for p in range(hand.rules.players))
    states = [hand.start(), *hand.replay()]
    points = max(hand.points)
    last, n = hand.actions[-1][0], hand.rules.players
    in_turn = [(last + k) % n for k in range(n)]  # from who knocked, or played illegally
    winner = max(in_turn, key=hand.points.__getitem__) if points else None
    by = last if hand.ending == "illegal" else hand.knocker
    if hand.ending == "undercut":  # with more than two seats the knocker can win the hand yet
        by = max(in_turn[1:], key=hand.points.__getitem__)
    content = {"steps": _steps(hand, seats), **_pictures(hand, seats, states)}
    return ShownHand(
        number=number,
        seats=seats,
        ending=hand.ending,
        by=None if by is None else seats[by],
        winner=None if winner is None else seats[winner],
        points=points,
        turns=int(states[-1]["n_turns"][0]),
        packed=packed(content),
    )


def packed(content: Any) -> str:
    """JSON for the page's script, which unpacks it when somebody wants to see it."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


# --- pictures -----------------------------------------------------------------------------------------


def _pictures(
    hand: HandHistory, seats: Sequence[str], states: Sequence[NDArray[np.void]]
) -> dict[str, Any]:
    """The SVG elements of a hand, each once, and its pictures by view and step as numbers of elements.

    View 0 has all cards open; view p + 1 is what seat p saw. A picture's last element, a line that says what happened, is left
    out: the page says it below.
    """
    numbers: dict[str, int] = {}
    record, names, height = hand.rules.to_record(), short_names(seats), 0.0
    pictures: list[list[list[int]]] = []
    for view in range(hand.rules.players + 1):
        pictures.append([])
        for state in states:
            seen = view_of(state, hand.rules, record, max(0, view - 1), reveal=view == 0)
            light, dark = (compose(seen, theme, True, names) for theme in ("light", "dark"))
            height = max(height, light.height)
            drawn = map(themed, light.parts[:-1], dark.parts[:-1])
            pictures[-1].append([numbers.setdefault(part, len(numbers)) for part in drawn])
    return {"height": round(height) - LAST_LINE, "parts": list(numbers), "pictures": pictures}


@lru_cache(8192)  # most cards stay where they are from step to step
def themed(light: Instruction, dark: Instruction) -> str:
    """An instruction as an SVG element whose colours follow the page's theme by themselves."""
    part = dataclasses.replace(light, fill=_either(light.fill, dark.fill))
    if isinstance(part, Rect) and isinstance(dark, Rect):
        part = dataclasses.replace(part, edge=_either(part.edge, dark.edge))
    if not isinstance(part, Shape):
        return element(part)
    x, y = part.points[0]  # outlines that start at zero are the same text wherever they stand
    outline = element(Shape(tuple((u - x, v - y) for u, v in part.points), part.fill))
    return f'<g transform="translate({x:.2f} {y:.2f})">{outline}</g>'


def _either(light: str, dark: str) -> str:
    return light if light == dark else f"light-dark({light}, {dark})"


def short_names(seats: Sequence[str]) -> list[str]:
    """Names that fit beside a hand, each with its seat where two would be the same."""
    most = min(LABEL, HEADLINE // len(seats))
    cut = [name if len(name) <= most else f"{name[: most - 1]}…" for name in seats]
    if len(set(cut)) == len(cut):
        return cut
    return [f"{name[: most - 2]} {p}" for p, name in enumerate(cut)]


# --- words --------------------------------------------------------------------------------------------


def _steps(hand: HandHistory, seats: Sequence[str]) -> list[list[Any]]:
    """Of every step: who acted (-1: the deal), what happened, and what those heard who saw no card.

    The last entry is the seat that does see the card, or -1. A forced draw is part of the pass before it.
    """
    upcard = hand.deck[hand.rules.players * hand.rules.hand_size]
    dealt = f"{seats[hand.dealer]} deals; {_card(upcard)} is turned up"
    found: list[list[Any]] = [[-1, dealt, dealt, -1]]
    for move in hand.moves():
        drawn = move.action == DRAW_STOCK
        who = seats[move.seat] if move.forced else ""
        words = [describe(m, who, _card) for m in (move, move._replace(card=None if drawn else move.card))]  # fmt: skip
        step = [move.seat, *words, move.seat if drawn else -1]
        if move.forced:
            seat, *before, _ = found.pop()
            step[:3] = seat, *(f"{a}; {b}" for a, b in zip(before, words, strict=True))
        found.append(step)
    for k in (1, 2):
        found[-1][k] += f"; {_result(hand, seats)}"
    return found


def _result(hand: HandHistory, seats: Sequence[str]) -> str:
    ending = hand.ending.replace("_", " ")
    scored = [f"{seats[p]} +{points}" for p, points in enumerate(hand.points) if points]
    return f"{ending}: {', '.join(scored) or 'nobody scores'}"


def _card(card: int) -> str:
    """A card for people: 10♦."""
    rank, suit = cards.card_text(card)
    return ("10" if rank == "T" else rank) + SUIT_SIGNS[suit]
