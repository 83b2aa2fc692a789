"""Hands to step through on the report's page: every picture of a hand, packed small.

A picture is a list of drawing instructions (`render.scene`). Most of them stand in many pictures of a hand, so the hand keeps
each instruction once and a picture is a list of numbers. The page unpacks a hand when somebody opens it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.engine.decisions import view_of
from okgin_env.histories.hand import HandHistory
from okgin_env.histories.text import ILLEGAL
from okgin_env.layout import BIG_GIN, DRAW_STOCK, DRAW_TOP, KNOCK, N_CARDS, PASS
from okgin_env.render.scene import Instruction, Rect, Scene, Shape, Text, compose
from okgin_env.render.style import SUIT_SHAPES, SUIT_SIGNS

LABEL = 13  # letters of a name beside a hand
HEADLINE = 46  # letters of all names above a table
LAST_LINE = 34  # how much of a picture's height its last line takes
OUTLINES = [outline for suit in "scdh" for outline in SUIT_SHAPES[suit]]
"""What suits are drawn from; the page's script has them once and instructions name them by number."""


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
    return ShownHand(
        number=number,
        seats=seats,
        ending=hand.ending,
        by=None if by is None else seats[by],
        winner=None if winner is None else seats[winner],
        points=points,
        turns=int(states[-1]["n_turns"][0]),
        packed=_packed({"steps": list(_steps(hand, seats, states)), **_pictures(hand, seats, states)}),
    )  # fmt: skip


def _packed(content: dict[str, Any]) -> str:
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


# --- pictures -----------------------------------------------------------------------------------------


def _pictures(
    hand: HandHistory, seats: Sequence[str], states: Sequence[NDArray[np.void]]
) -> dict[str, Any]:
    """The instructions of a hand, its colours in light and dark, and its pictures by view and step.

    View 0 has all cards open; view p + 1 is what seat p saw.
    """
    book = _Book()
    record, names = hand.rules.to_record(), short_names(seats)
    pictures: list[list[list[int]]] = []
    for view in range(hand.rules.players + 1):
        pictures.append([])
        for state in states:
            seen = view_of(state, hand.rules, record, max(0, view - 1), reveal=view == 0)
            light, dark = (compose(seen, t, True, names) for t in ("light", "dark"))
            pictures[-1].append(book.picture(light, dark))
    return {"parts": list(book.parts), "colours": list(book.colours), "pictures": pictures}


class _Book:
    """Instructions and colours, each once, in the order in which they were first needed."""

    def __init__(self) -> None:
        self.parts: dict[tuple[Any, ...], int] = {}
        self.colours: dict[tuple[str, str], int] = {}

    def picture(self, light: Scene, dark: Scene) -> list[int]:
        """A picture as its height and the numbers of its instructions.

        Its last instruction, a line that says what happened, is left out: the page says it below.
        """
        parts = list(zip(light.parts, dark.parts, strict=True))[:-1]
        return [round(light.height) - LAST_LINE, *(self._part(*part) for part in parts)]

    def _part(self, light: Instruction, dark: Instruction) -> int:
        fill = self._colour(light.fill, dark.fill)
        if isinstance(light, Rect) and isinstance(dark, Rect):
            edge = self._colour(light.edge, dark.edge)
            part = ("r", light.x, light.y, light.w, light.h, light.radius, fill, edge, light.edge_width)  # fmt: skip
        elif isinstance(light, Text):
            part = ("t", light.x, light.y, light.text, fill, light.size, light.bold, light.anchor)
        elif isinstance(light, Shape):
            part = ("s", *_fitted(light), fill)
        else:
            raise TypeError(f"{light!r}; allowed: Rect, Text and Shape")
        return self.parts.setdefault(part, len(self.parts))

    def _colour(self, light: str, dark: str) -> int:
        return self.colours.setdefault((light, dark), len(self.colours))


@lru_cache(8192)
def _fitted(shape: Shape) -> tuple[int, float, float, float]:
    """A suit's part as the number of its outline, where it stands and its size."""
    drawn = np.array(shape.points)
    for k, outline in enumerate(OUTLINES):
        if len(outline) != len(drawn):
            continue
        unit = np.array(outline)
        size = float(np.ptp(drawn[:, 0]) / np.ptp(unit[:, 0]))
        x, y = (drawn[0] - size * unit[0]).tolist()
        if np.abs(drawn - (unit * size + (x, y))).max() < 1e-6:
            return k, round(x, 2), round(y, 2), round(size, 3)
    raise ValueError(f"a shape of {len(drawn)} points; allowed: those of SUIT_SHAPES")


def short_names(seats: Sequence[str]) -> list[str]:
    """Names that fit beside a hand, each with its seat where two would be the same."""
    most = min(LABEL, HEADLINE // len(seats))
    cut = [name if len(name) <= most else f"{name[: most - 1]}…" for name in seats]
    if len(set(cut)) == len(cut):
        return cut
    return [f"{name[: most - 2]} {p}" for p, name in enumerate(cut)]


# --- words --------------------------------------------------------------------------------------------


def _steps(
    hand: HandHistory, seats: Sequence[str], states: Sequence[NDArray[np.void]]
) -> Iterator[list[Any]]:
    """Of every step: who acted (-1: the deal), what happened, and what those heard who saw no card.

    The last entry is the seat that does see the card, or -1.
    """
    dealt = f"{seats[hand.dealer]} deals; {_card(int(states[0]['upcard'][0]))} is turned up"
    yield [-1, dealt, dealt, -1]
    for k, (seat, action) in enumerate(hand.actions):
        before, after = states[k], states[k + 1]
        open_, public, knower = _words(seats, seat, action, before, after)
        if k == len(hand.actions) - 1:
            result = f"; {_result(hand, seats)}"
            open_, public = open_ + result, public + result
        yield [seat, open_, public, knower]


def _words(
    seats: Sequence[str], seat: int, action: int, before: NDArray[np.void], after: NDArray[np.void]
) -> tuple[str, str, int]:
    """An action in words: for who sees all, for the others, and the seat that sees its card."""
    if action == ILLEGAL:
        words = "does something illegal and forfeits the hand"
        return words, words, -1
    if action == DRAW_STOCK:
        return f"draws {_gained(seat, before, after)} from the stock", "draws from the stock", seat
    if action == PASS:
        return _pass_words(seats, before, after)
    if action == DRAW_TOP:
        words = f"takes {_card(int(before['pile'][0][before['n_pile'][0] - 1]))} from the pile"
    elif action == BIG_GIN:
        words = "lays down all eleven cards: big gin"
    else:
        verb = "discards" if action < KNOCK else "knocks, discarding"
        words = f"{verb} {_card(action % N_CARDS)}"
    return words, words, -1


def _pass_words(
    seats: Sequence[str], before: NDArray[np.void], after: NDArray[np.void]
) -> tuple[str, str, int]:
    """A pass; the last one makes somebody draw (rules.md, Turns 1)."""
    for seat, name in enumerate(seats):
        if card := _gained(seat, before, after):
            words = f"passes; {name} must draw"
            return f"{words} {card} from the stock", f"{words} from the stock", seat
    return "passes", "passes", -1


def _gained(seat: int, before: NDArray[np.void], after: NDArray[np.void]) -> str:
    """The card that came to a hand; "" if none did."""
    new = int(after["hands"][0][seat]) & ~int(before["hands"][0][seat])
    return " ".join(_sign(card) for card in cards.text(new).split())


def _result(hand: HandHistory, seats: Sequence[str]) -> str:
    ending = hand.ending.replace("_", " ")
    scored = [f"{seats[p]} +{points}" for p, points in enumerate(hand.points) if points]
    return f"{ending}: {', '.join(scored) or 'nobody scores'}"


def _card(card: int) -> str:
    return _sign(cards.card_text(card))


def _sign(card: str) -> str:
    """A card for people: 10♦."""
    return ("10" if card[0] == "T" else card[0]) + SUIT_SIGNS[card[1]]
