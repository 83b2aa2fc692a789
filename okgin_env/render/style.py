"""The style of pictures: colours and the outlines of the suits."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

SUIT_SIGNS = {"s": "♠", "c": "♣", "d": "♦", "h": "♥"}


@dataclass(frozen=True)
class Theme:
    """Colours of a picture.

    Attributes:
        paper: Background.
        ink: Text.
        faint: Secondary text and lines.
        felt: Panel behind the pile and stock.
        face: A card's face.
        edge: A card's edge.
        back: A card's back.
        mark: What is pointed out (the card taken, the knocker).
        good: Cards laid off.
        suits: Colour of each suit.
    """

    paper: str
    ink: str
    faint: str
    felt: str
    face: str
    edge: str
    back: str
    mark: str
    good: str
    suits: dict[str, str]


TWO_COLOURS = {"s": "#1b1f24", "c": "#1b1f24", "d": "#c8102e", "h": "#c8102e"}
FOUR_COLOURS = {
    "s": "#1b1f24",
    "c": "#00734c",
    "d": "#0058b8",
    "h": "#c8102e",
}  # told apart by every eye
THEMES = {
    "light": Theme("#ffffff", "#1b1f24", "#57606a", "#e9f2ec", "#ffffff", "#8c959f", "#7d93b2", "#b35900", "#0a7f5a", TWO_COLOURS),
    "dark": Theme("#0d1117", "#e6edf3", "#9198a1", "#1b2b22", "#f4f4ef", "#30363d", "#3d5a80", "#f0a343", "#3fb98a", TWO_COLOURS),
}  # fmt: skip


def _circle(cx: float, cy: float, r: float) -> list[tuple[float, float]]:
    return [(cx + r * cos(k * pi / 12), cy + r * sin(k * pi / 12)) for k in range(24)]


def _heart() -> list[tuple[float, float]]:
    """The classic curve, scaled to a unit square around the origin."""
    outline = []
    for k in range(48):
        t = 2 * pi * k / 48
        x = 16 * sin(t) ** 3
        y = 13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)
        outline.append((x / 17, -y / 16))
    return outline


_STEM = [(0.0, 0.1), (0.38, 0.95), (-0.38, 0.95)]
SUIT_SHAPES: dict[str, list[list[tuple[float, float]]]] = {
    "h": [_heart()],
    "d": [[(0.0, -1.0), (0.72, 0.0), (0.0, 1.0), (-0.72, 0.0)]],
    "s": [[(x, -y * 0.95 - 0.08) for x, y in _heart()], _STEM],
    "c": [_circle(0, -0.5, 0.43), _circle(-0.47, 0.18, 0.43), _circle(0.47, 0.18, 0.43), _STEM],
}
"""Outlines of the suits in a unit square around the origin, y downwards."""
