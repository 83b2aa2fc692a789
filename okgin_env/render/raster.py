"""A scene as an RGB array, drawn with Pillow at twice the size and scaled down."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from okgin_env.render.pieces import Rect, Shape, Text
from okgin_env.render.scene import Scene, compose, table_height
from okgin_env.view import SeatView

_SCALE = 2
_PLAIN = str.maketrans(
    {"♠": "s", "♣": "c", "♦": "d", "♥": "h", "▸": ">"}
)  # Pillow's own font has none


def draw(view: SeatView, theme: str = "light", four_colours: bool = False) -> NDArray[np.uint8]:
    """The view as an (H, W, 3) uint8 array, of one size for all views of a table. Arguments and errors as for `scene.compose`."""
    scene = compose(view, theme, four_colours)
    return scene_to_array(replace(scene, height=table_height(view.rules.players)))


def check_installed() -> None:
    """Checks that pictures can be drawn.

    Raises:
        DependencyNotInstalled: Pillow is not installed.
    """
    if find_spec("PIL") is None:
        raise DependencyNotInstalled("pictures need Pillow: pip install 'okgin-env[render]'")


def scene_to_array(scene: Scene) -> NDArray[np.uint8]:
    """A scene as an (H, W, 3) uint8 array."""
    from PIL import Image, ImageDraw

    size = round(scene.width), round(scene.height)
    image = Image.new("RGB", (size[0] * _SCALE, size[1] * _SCALE), scene.parts[0].fill)
    pen = ImageDraw.Draw(image)
    for part in scene.parts:
        if isinstance(part, Rect):
            box = _scaled(part.x, part.y, part.x + part.w, part.y + part.h)
            pen.rounded_rectangle(
                box,
                radius=part.radius * _SCALE,
                fill=part.fill,
                outline=part.edge or None,
                width=round(part.edge_width * _SCALE),
            )
        elif isinstance(part, Text):
            anchor = {"start": "ls", "middle": "ms", "end": "rs"}[part.anchor]
            at = part.x * _SCALE, part.y * _SCALE
            width = 0.6 if part.bold else 0
            pen.text(
                at,
                part.text.translate(_PLAIN),
                fill=part.fill,
                font=_font(round(part.size * _SCALE)),
                anchor=anchor,
                stroke_width=width,
            )
        elif isinstance(part, Shape):
            pen.polygon([_scaled(x, y) for x, y in part.points], fill=part.fill)
    return np.asarray(image.resize(size, Image.Resampling.LANCZOS), np.uint8).copy()


@lru_cache
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _scaled(*values: float) -> tuple[float, ...]:
    return tuple(value * _SCALE for value in values)
