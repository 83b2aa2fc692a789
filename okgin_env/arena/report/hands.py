"""Hands to step through on the report's page: every picture of a hand, packed small.

A picture is a list of pieces, most of which stand in many pictures of a hand. So the hand keeps each look once (a card, wherever
it lies), each place of a look once, and a picture is a list of numbers of places. The page unpacks a hand when somebody opens it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.engine.decisions import ask, view_of
from okgin_env.histories import HandHistory, describe
from okgin_env.kernel import batch
from okgin_env.layout import DRAW_STOCK
from okgin_env.render.pieces import Piece, Rect, Text, instructions
from okgin_env.render.scene import table
from okgin_env.render.style import FOUR_COLOURS, SUIT_SIGNS, THEMES, Theme
from okgin_env.render.svg import element
from okgin_env.view import SeatView

MOST = 100  # hands of a page
LABEL = 13  # letters of a name beside a hand
HEADLINE = 46  # letters of all names above a table
LAST_LINE = 34  # how much of a picture's height its last line takes


@dataclass(frozen=True)
class ShownHand:
    """A hand of the page's list.

    Attributes:
        number: From 1, its place on the page, and its name in the page's address.
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


def chosen(hands: Sequence[HandHistory], most: int = MOST) -> list[HandHistory]:
    """At most so many of some hands, in their order.

    One after another, the hand whose players have been chosen least is, of an ending that has been chosen least, and of
    these the one of the most points.
    """
    left = sorted(range(len(hands)), key=lambda k: -max(hands[k].points))
    counts: Counter[str] = Counter()
    found: list[int] = []

    def rank(k: int) -> tuple[int, int]:
        return sum(counts[name] for name in hands[k].names), counts["ending: " + hands[k].ending]

    while left and len(hands) > most > len(found):
        best = min(left, key=rank)
        left.remove(best)
        found.append(best)
        counts.update([*hands[best].names, "ending: " + hands[best].ending])
    return [hands[k] for k in sorted(found)] if len(hands) > most else [*hands]


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
    """The looks of a hand's pieces, where they lie, and its pictures by view and step as numbers of places.

    View 0 has all cards open; view p + 1 is what seat p saw. A picture's last line, which says what happened, is left out: the
    page says it below.
    """
    looks: dict[str, int] = {}
    places: dict[tuple[int, float, float], int] = {}
    names, height = short_names(seats), 0.0
    pictures: list[list[list[int]]] = []
    for views in _views(hand, states):
        pictures.append([])
        for view in views:
            tall, pieces = table(view, _THEME, names)
            height = max(height, tall)
            lying = ((looks.setdefault(look, len(looks)), x, y) for look, x, y in map(_placed, pieces))  # fmt: skip
            pictures[-1].append([places.setdefault(place, len(places)) for place in lying])
    return {
        "height": round(height) - LAST_LINE,
        "looks": list(looks),
        "places": list(places),
        "pictures": pictures,
    }


def _views(hand: HandHistory, states: Sequence[NDArray[np.void]]) -> Iterator[Iterable[SeatView]]:
    """Every state with all cards open, then as each seat saw it."""
    rules, record, n = hand.rules, hand.rules.to_record(), len(states)
    yield (view_of(state, rules, record, 0, reveal=True) for state in states)
    together = np.concatenate(states)
    for p in range(rules.players):
        asked = ask(together, np.arange(n), rules, record, np.full(n, p), batch.HAND)
        yield (asked.view(k) for k in range(n))


def _either(light: str, dark: str) -> str:
    """A colour that follows the page's theme by itself."""
    return light if light == dark else f"light-dark({light}, {dark})"


def _both(light: Theme, dark: Theme) -> Theme:
    """Two themes in one, for whatever shows the picture to choose from."""
    names = (f.name for f in fields(Theme) if f.name != "suits")
    colours = {name: _either(getattr(light, name), getattr(dark, name)) for name in names}
    return Theme(**colours, suits=FOUR_COLOURS)


_THEME = _both(THEMES["light"], THEMES["dark"])


@lru_cache(8192)  # most pieces stay where they are from step to step
def _placed(piece: Piece) -> tuple[str, float, float]:
    """A piece as SVG elements and where they are put."""
    if isinstance(piece, Rect | Text):
        return element(piece), 0, 0
    return _look(piece._replace(x=0, y=0)), piece.x, piece.y


@lru_cache
def _look(piece: Piece) -> str:
    return "".join(map(element, instructions(piece)))


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
