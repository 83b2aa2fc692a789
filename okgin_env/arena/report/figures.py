"""The report's figures for print: the same numbers, drawn by matplotlib."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from okgin_env.arena.outcome import KNOCK_DEADWOOD, KNOCK_TURNS
from okgin_env.arena.report.charts import FEW, ending_segments
from okgin_env.arena.report.counts import ENDED_OWN
from okgin_env.arena.report.data import Report
from okgin_env.arena.report.wording import percent, signed, span

_STYLE: Any = {
    "svg.hashsalt": "okgin",  # else every file has ids of its own
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8c959f",
    "axes.labelcolor": "#1b1f24",
    "text.color": "#1b1f24",
    "xtick.color": "#57606a",
    "ytick.color": "#1b1f24",
    "savefig.dpi": 200,
}
_DATELESS = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
_BLUE, _ORANGE, _GREY = "#2b73b8", "#d97a1f", "#9aa3ad"
_NOTHING = "#eceef1"  # where there are no numbers
_ENDINGS = {"knock": "#0072b2", "gin": "#e69f00", "undercut": "#009e73", "illegal": "#c2410c", "void": _GREY}  # fmt: skip
_DIVERGING = LinearSegmentedColormap.from_list("okgin", ["#e9b27a", "#ffffff", "#86b1da"])
_DEEPENING = LinearSegmentedColormap.from_list("okgin_one", ["#ffffff", "#2b73b8"])
_LETTERS = 24  # of a name


def figure_files(report: Report) -> dict[str, bytes]:
    """File names and their contents: every figure as PNG and as SVG."""
    figures: dict[str, Callable[[Report], Figure]] = {
        "pairs": _pairs,
        "ratings": _ratings,
        "endings": _endings,
        "points": _points,
        "knocks": _knocks,
    }
    found = {}
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # nobody's own settings
        matplotlib.rcParams.update(_STYLE)
        warnings.filterwarnings("ignore", "Glyph .* missing")  # of a name; a box stands for it
        for name, draw in figures.items():
            figure = draw(report)
            for kind in ("png", "svg"):
                found[f"{name}.{kind}"] = _saved(figure, kind)
    return found


def _saved(figure: Figure, kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, bbox_inches="tight", metadata=_DATELESS[kind])
    return file.getvalue()


def _blank(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)  # no window, whatever a user has set
    return figure


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"


def _pairs(report: Report) -> Figure:
    """The cross-table of points a hand."""
    names = report.players
    n = len(names)
    table, texts = np.full((n, n), np.nan), []
    for i, name in enumerate(names):
        for j, other in enumerate(names):
            if (duel := report.duel(name, other)) is not None:
                table[i, j] = duel.points.value
                texts.append((i, j, duel))
    figure = _blank(1.6 + 1.05 * n, 0.8 + 0.55 * n)
    axes = figure.add_subplot()
    most = max(float(np.nanmax(np.abs(table))), 1e-9)
    depth = np.sign(table) * np.sqrt(np.abs(table) / most)  # as on the page
    axes.imshow(depth, cmap=_DIVERGING, vmin=-1, vmax=1, aspect="auto")
    axes.set_facecolor(_NOTHING)
    for i, j, duel in texts:
        weight = "bold" if duel.differs else "normal"
        axes.text(j, i - 0.1, signed(duel.points.value), ha="center", va="center", fontweight=weight)  # fmt: skip
        axes.text(j, i + 0.25, span(duel.points), ha="center", va="center", fontsize=5.5)
    axes.set_xticks(range(n), [_short(name) for name in names], rotation=0 if n < 5 else 20, ha="center")  # fmt: skip
    axes.set_yticks(range(n), [_short(name) for name in names])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel("points a hand, row against column, with 95 % intervals; bold: significant")
    return figure


def _ratings(report: Report) -> Figure:
    """Dots and intervals; points a hand where there are no ratings."""
    rated = any(math.isfinite(s.elo.value) for s in report.standings)
    figure = _blank(5.5, 0.9 + 0.3 * len(report.standings))
    axes = figure.add_subplot()
    for row, s in enumerate(report.standings):
        value = s.elo.value if rated else s.points
        if rated and math.isfinite(s.elo.low) and math.isfinite(s.elo.high):
            axes.plot([s.elo.low, s.elo.high], [row, row], color=_BLUE, linewidth=1.5)
        axes.plot([value], [row], "o", color=_BLUE, markersize=5)
    _name_rows(axes, report)
    axes.grid(axis="x", color="#dfe3e8", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("rating (Elo scale) with 95 % interval" if rated else "points a hand, mean over opponents")  # fmt: skip
    return figure


def _endings(report: Report) -> Figure:
    """Stacked bars: what a player did, void hands, what its opponents did."""
    figure = _blank(6.5, 1.2 + 0.32 * len(report.standings))
    axes = figure.add_subplot()
    for row, s in enumerate(report.standings):
        for part in ending_segments(s):
            alpha = 1.0 if part.own else 0.42
            axes.barh(row, part.width, 0.7, part.x, color=_ENDINGS[part.ending], alpha=alpha, edgecolor="white", linewidth=0.5)  # fmt: skip
    for name in (*(n for n in ENDED_OWN if n != "illegal" or any(s.own[n] for s in report.standings)), "void"):  # fmt: skip
        axes.barh([0], [0], color=_ENDINGS[name], label=name)
    axes.legend(ncols=5, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, handlelength=1)
    _name_rows(axes, report)
    axes.set_xlim(0, 100)
    axes.set_xlabel("per cent of hands; from the left: ended by the player, pale: by its opponents")
    return figure


def _points(report: Report) -> Figure:
    """Histograms of points a hand, one for each player."""
    columns = min(3, len(report.standings))
    rows = -(-len(report.standings) // columns)
    figure = _blank(2.4 * columns, 1.5 * rows + 0.3)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    colours = [_BLUE if x > 0 else _ORANGE if x < 0 else _GREY for x in report.bins.tolist()]
    for k, axes in enumerate(grid.flat):
        axes.set_visible(k < len(report.standings))
        if k < len(report.standings):
            s = report.standings[k]
            share = 100 * s.histogram / max(1, s.histogram.sum())
            axes.bar(report.bins, share, width=4.6, color=colours)
            axes.set_title(f"{_short(s.player)}  {signed(s.points)}", fontsize=9, loc="left")
    figure.supxlabel("points a hand", fontsize=9)
    figure.supylabel("per cent of hands", fontsize=9)
    return figure


def _knocks(report: Report) -> Figure:
    """Chance of knocking by deadwood and turn, one map for each player."""
    columns = min(3, len(report.standings))
    rows = -(-len(report.standings) // columns)
    figure = _blank(2.5 * columns + 0.6, 2.1 * rows + 0.3)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    image = None
    for k, axes in enumerate(grid.flat):
        axes.set_visible(k < len(report.standings))
        if k >= len(report.standings):
            continue
        s = report.standings[k]
        could, did = s.knocks.sum(axis=1).astype(np.float64)  # over limits: (turn, deadwood)
        share = np.divide(did, could, out=np.full_like(did, np.nan), where=could > 0).T
        image = axes.imshow(share, cmap=_DEEPENING, vmin=0, vmax=1, aspect="auto")
        axes.set_facecolor(_NOTHING)
        few_rows, few_columns = np.nonzero(((could > 0) & (could < FEW)).T)
        axes.plot(few_columns, few_rows, "x", color=_GREY, markersize=3, markeredgewidth=0.7)
        axes.set_title(f"{_short(s.player)}  n = {int(could.sum()):,}", fontsize=9, loc="left")
        ticks = range(0, KNOCK_TURNS, 3)
        axes.set_xticks(ticks, [str(turn + 1) for turn in ticks])
        axes.set_yticks(range(0, KNOCK_DEADWOOD, 2))
    figure.supxlabel(f"own turn (the last: {KNOCK_TURNS} or later); ×: fewer than {FEW} chances", fontsize=9)  # fmt: skip
    figure.supylabel("deadwood", fontsize=9)
    if image is not None:
        bar = figure.colorbar(image, ax=list(grid.flat), fraction=0.03, ticks=[0, 0.5, 1])
        bar.ax.set_yticklabels([percent(x, 0) for x in (0, 0.5, 1)])
        bar.set_label("knocked when it could")
        bar.outline.set_visible(False)
    return figure


def _name_rows(axes: Any, report: Report) -> None:
    """Players as rows, the best at the top."""
    axes.set_yticks(range(len(report.standings)), [_short(name) for name in report.players])
    axes.set_ylim(len(report.standings) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
