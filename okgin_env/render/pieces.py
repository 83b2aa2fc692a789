"""The pieces of a picture, such as a card, and the drawing instructions that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from okgin_env.render.style import SUIT_SHAPES

CARD_W, CARD_H = 52, 74


@dataclass(frozen=True)
class Rect:
    """A rectangle with round corners; sizes in picture units."""

    x: float
    y: float
    w: float
    h: float
    fill: str
    edge: str = ""
    edge_width: float = 1
    radius: float = 6


@dataclass(frozen=True)
class Text:
    """A line of text; (x, y) is its baseline at the anchor (start, middle or end)."""

    x: float
    y: float
    text: str
    fill: str
    size: float = 15
    bold: bool = False
    anchor: str = "start"


@dataclass(frozen=True)
class Shape:
    """A filled polygon."""

    points: tuple[tuple[float, float], ...]
    fill: str


Instruction = Rect | Text | Shape


class Suit(NamedTuple):
    """The outline of a suit around (x, y)."""

    x: float
    y: float
    suit: str
    size: float
    colour: str

    def instructions(self) -> tuple[Instruction, ...]:
        """What draws it, the first at the bottom."""
        return _suit_shapes(*self)


class Card(NamedTuple):
    """A card that lies open, by its upper left corner."""

    x: float
    y: float
    card: str
    colour: str
    face: str
    edge: str
    edge_width: float

    def instructions(self) -> tuple[Instruction, ...]:
        """What draws it, the first at the bottom."""
        x, y, colour, (rank, suit) = self.x, self.y, self.colour, self.card
        return (
            Rect(x, y, CARD_W, CARD_H, self.face, self.edge, self.edge_width),
            Text(x + 5, y + 20, "10" if rank == "T" else rank, colour, 18, True),
            *_suit_shapes(x + 13, y + 34, suit, 8, colour),
            *_suit_shapes(x + CARD_W - 17, y + CARD_H - 20, suit, 13, colour),
        )


class Back(NamedTuple):
    """A card that lies face down, by its upper left corner."""

    x: float
    y: float
    back: str
    edge: str
    face: str

    def instructions(self) -> tuple[Instruction, ...]:
        """What draws it, the first at the bottom."""
        x, y = self.x, self.y
        return (
            Rect(x, y, CARD_W, CARD_H, self.back, self.edge),
            Rect(x + 5, y + 5, CARD_W - 10, CARD_H - 10, self.back, self.face, 1, 3),
        )


Piece = Rect | Text | Suit | Card | Back


def instructions(piece: Piece) -> tuple[Instruction, ...]:
    """What draws a piece, the first at the bottom."""
    return (piece,) if isinstance(piece, Rect | Text) else piece.instructions()


@lru_cache(4096)  # hands are drawn step after step, and most cards stay where they are
def _suit_shapes(x: float, y: float, suit: str, size: float, colour: str) -> tuple[Shape, ...]:
    outlines = SUIT_SHAPES[suit]
    return tuple(Shape(tuple((x + size * px, y + size * py) for px, py in o), colour) for o in outlines)  # fmt: skip
