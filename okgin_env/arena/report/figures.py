"""The charts as files to print, and as parts of the page that follow its theme."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from okgin_env.arena.report import charts
from okgin_env.arena.report.data import Report
from okgin_env.arena.report.histogram import per_cent, small_histogram
from okgin_env.arena.report.wording import signed

_DATELESS = {"png": {"Software": None}, "svg": dict.fromkeys(("Date", "Creator", "Format", "Type"))}
_COLOUR = re.compile(r"#\w{6}")
_VARIABLES = {colour: f"var(--{name})" for name, colour in charts.COLOURS.items()}


@charts.style()
def figure_files(report: Report) -> dict[str, bytes]:
    """File names and their contents: every figure as PNG and as SVG."""
    drawings = (charts.pairs, charts.ratings, charts.endings, charts.points, charts.knocks)
    figures = {draw.__name__: draw(report) for draw in drawings}
    return {
        f"{name}.{kind}": _saved(figure, kind)
        for name, figure in figures.items()
        for kind in ("png", "svg")
    }


@charts.style()
def page_charts(report: Report, nash: Sequence[tuple[str, float]] = ()) -> dict[str, Any]:
    """The charts of the page as elements, by name.

    Args:
        report: The numbers.
        nash: The weights of the Nash mixture by player; empty: none was computed.
    """
    whole = [s.histogram for s in report.standings]
    top = max(per_cent(histogram).max() for histogram in (*whole, *report.histograms))
    labels = (
        *(f"{s.player}, {signed(s.points)} points a hand" for s in report.standings),
        *(f"{d.player} against {d.against}, {signed(d.points.value)}" for d in report.duels),
    )
    small = [
        small_histogram(histogram, report.bins, top, f"Hands by points: {label}")
        for label, histogram in zip(labels, (*whole, *report.histograms), strict=True)
    ]
    return {
        "ratings": _inline(charts.ratings(report), "Ratings; the table has the numbers"),
        "endings": _inline(charts.endings(report), "Shares of hands by ending; the table has the numbers"),
        "nash": _inline(charts.nash(nash), "Weights of the mixture; the table has the numbers") if nash else "",
        "players": small[: len(whole)],
        "pairs": small[len(whole) :],
    }  # fmt: skip


def _saved(figure: Figure, kind: str) -> bytes:
    """A figure as a file; what was drawn with a title shows it under the mouse."""
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata=_DATELESS[kind])
    figure.set_layout_engine("none")  # laid out: another format takes it as it is
    if kind == "png":
        return file.getvalue()
    return re.sub(rb'<g id="title: ([^"]*)">', rb"<g><title>\1</title>", file.getvalue())


def _inline(figure: Figure, label: str) -> Markup:
    """A figure as an element of the page, with its fonts and colours, and no id to clash with another's."""
    with matplotlib.rc_context({"svg.fonttype": "none", "savefig.facecolor": "none"}):
        text = _saved(figure, "svg").decode()
    box = re.search(r'viewBox="[^"]*"', text)
    body = re.sub(
        r"<defs>.*?</defs>|<!--.*?-->|\n *", "", text[text.index("<g ") :], flags=re.DOTALL
    )
    body = re.sub(r'(?<=<g) id="[^"]*"| clip-path="[^"]*"', "", body)
    body = re.sub(r'style="[^"]*"', lambda style: _COLOUR.sub(_variable, style[0]), body)
    frame = f'<svg class="drawn" role="img" aria-label="{escape(label)}" {box[0] if box else ""}>'
    return Markup(frame + body)


def _variable(colour: re.Match[str]) -> str:
    return _VARIABLES.get(colour[0], colour[0])
