"""A scene as SVG."""

from __future__ import annotations

from html import escape

from okgin_env.render.pieces import Instruction, Rect, Text
from okgin_env.render.scene import Scene, compose
from okgin_env.view import SeatView

_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"


def draw(view: SeatView, theme: str = "light", four_colours: bool = False) -> str:
    """The view as a whole SVG document. Arguments and errors as for `scene.compose`."""
    return scene_to_svg(compose(view, theme, four_colours))


def scene_to_svg(scene: Scene) -> str:
    """A scene as a whole SVG document."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scene.width:g} {scene.height:g}" '
        f'width="{scene.width:g}" height="{scene.height:g}" role="img" font-family="{_FONT}">'
    )
    title = f"<title>{escape(scene.title)}</title>"
    return "\n".join([head, title, *map(element, scene.parts), "</svg>"]) + "\n"


def element(part: Instruction) -> str:
    """A drawing instruction as an SVG element."""
    if isinstance(part, Rect):
        edge = f' stroke="{part.edge}" stroke-width="{part.edge_width:g}"' if part.edge else ""
        return (
            f'<rect x="{part.x:g}" y="{part.y:g}" width="{part.w:g}" height="{part.h:g}" '
            f'rx="{part.radius:g}" fill="{part.fill}"{edge}/>'
        )
    if isinstance(part, Text):
        weight = ' font-weight="600"' if part.bold else ""
        anchor = f' text-anchor="{part.anchor}"' if part.anchor != "start" else ""
        return (
            f'<text x="{part.x:g}" y="{part.y:g}" font-size="{part.size:g}" '
            f'fill="{part.fill}"{weight}{anchor}>{escape(part.text)}</text>'
        )
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in part.points)
    return f'<polygon points="{points}" fill="{part.fill}"/>'
