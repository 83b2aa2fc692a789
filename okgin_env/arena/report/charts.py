"""The report's charts, each drawn once by matplotlib, in the colours of the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from okgin_env.arena.outcome import KNOCK_DEADWOOD, KNOCK_TURNS
from okgin_env.arena.report.counts import FEW, Interval, Standing
from okgin_env.arena.report.data import Report
from okgin_env.arena.report.histogram import per_cent
from okgin_env.arena.report.wording import percent, plain, rating, signed, span

CSS = (resources.files("okgin_env.arena.report") / "templates" / "page.css").read_text("utf-8")
COLOURS = dict(re.findall(r"--(\w+): light-dark\((#\w{6}),", CSS))  # the page's, in its light theme
_STYLE: Any = {
    "svg.hashsalt": "okgin",  # else every file has ids of its own
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.labelsize": "small",
    "axes.edgecolor": COLOURS["line"],
    "axes.labelcolor": COLOURS["faint"],
    "text.color": COLOURS["ink"],
    "grid.color": COLOURS["line"],
    "xtick.color": COLOURS["faint"],
    "ytick.color": COLOURS["ink"],
    "xtick.labelsize": "small",
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "savefig.dpi": 200,
}
_WIDTH = 5.4  # inches: small enough for a phone, large enough for a column
_LETTERS = 24  # of a name
_MOST_TOLD = 16  # players whose cross-table has its numbers in it: more could not be read


@contextmanager
def style() -> Iterator[None]:
    """The house's own settings in place of anybody's."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        warnings.filterwarnings("ignore", "Glyph .* missing")  # of a name; a box stands for it
        yield


def _blank(width: float, height: float, layout: Any = "constrained") -> Figure:
    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)  # no window, whatever a user has set
    return figure


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"


def _rows(names: Sequence[str], height: float) -> tuple[Figure, Any]:
    """A figure of one row for each name, the first at the top."""
    figure = _blank(_WIDTH, height + 0.3 * len(names))
    axes = figure.add_subplot()
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    return figure, axes


def _panels(
    report: Report, width: float, height: float, right: float = 0.2
) -> tuple[Figure, list[tuple[Any, Standing]]]:
    """A figure with the same frame for each player, three beside each other; on the right some inches are free."""
    columns = min(3, len(report.standings))
    rows = -(-len(report.standings) // columns)
    wide, high = width * columns + 0.5, height * rows + 0.4
    figure = _blank(
        wide, high, "none"
    )  # else every word of every frame is measured, again and again
    figure.subplots_adjust(0.6 / wide, 0.6 / high, 1 - right / wide, 1 - 0.3 / high, 0.2, 0.3)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat[len(report.standings) :]:
        axes.set_visible(False)
    return figure, list(zip(grid.flat, report.standings, strict=False))


def ratings(report: Report) -> Figure:
    """Dots and intervals; points a hand where there are no ratings."""
    figure, axes = _rows(report.players, 0.5)
    axes.grid(axis="x")
    for row, s in enumerate(report.standings):
        found, digits = (s.elo, 0) if report.is_rated else (Interval(s.points), 2)
        one_sided = report.is_rated and np.isfinite(found.low) != np.isfinite(found.high)
        told = (
            rating(found) if one_sided else f"{signed(found.value, digits)} {span(found, digits)}"
        )
        gid = _title(f"{s.player}: {told}".strip())
        look: Any = {"color": COLOURS["plus"], "solid_capstyle": "round", "gid": gid}
        ends = [end if np.isfinite(end) else found.value for end in (found.low, found.high)]
        axes.plot(ends, [row, row], linewidth=2, **look)
        if one_sided:  # an arrow to the open end
            look["marker"] = ">" if np.isfinite(found.low) else "<"
        axes.plot([found.value] * 2, [row, row], linewidth=7, **look)
    axes.set_xlabel("rating (Elo scale) with 95 % interval" if report.is_rated else "points a hand, mean over opponents")  # fmt: skip
    return figure


def endings(report: Report) -> Figure:
    """Shares of hands: what a player did, void ones, then what its opponents did, mirrored."""
    figure, axes = _rows(report.players, 0.9)
    for row, s in enumerate(report.standings):
        own = [(name, share, name, 1.0) for name, share in s.own.items()]
        others = [(name, s.others[name], f"{name} by an opponent", 0.42) for name in s.own]
        _stack(axes, row, [*own, ("void", s.void, "void", 1.0), *reversed(others)])
    keys = [Patch(color=COLOURS[name], label=name) for name in (*report.endings, "void")]
    axes.legend(handles=keys, ncols=5, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, handlelength=1)  # fmt: skip
    axes.set_xlim(0, 100)
    axes.set_xlabel("per cent of hands; from the left: ended by the player, pale: by its opponents")
    return figure


def nash(weights: Sequence[tuple[str, float]]) -> Figure:
    """Bars of the weights of the Nash mixture."""
    figure, axes = _rows([name for name, _ in weights], 0.2)
    for row, (name, weight) in enumerate(weights):
        _stack(axes, row, [("knock", weight, name, 1.0), ("line", 1 - weight, "", 0.6)])
    axes.set_xlim(0, 100)
    axes.set_xticks([])
    axes.spines.bottom.set_visible(False)
    return figure


def _stack(axes: Any, row: int, parts: Sequence[tuple[str, float, str, float]]) -> None:
    """A bar of parts, each a colour, a share, its name and its depth."""
    left = 0.0
    for colour, share, name, depth in parts:
        if share > 0:
            look: Any = {"gid": _title(f"{name}: {percent(share)}")} if name else {}
            axes.barh(row, 100 * share, 0.7, left, color=COLOURS[colour], alpha=depth, edgecolor=COLOURS["ground"], linewidth=0.6, **look)  # fmt: skip
        left += 100 * share


def points(report: Report) -> Figure:
    """Histograms of points a hand, one for each player."""
    figure, panels = _panels(report, 2.3, 1.5)
    for axes, s in panels:
        _histogram(axes, s.histogram, report.bins)
        axes.set_title(f"{_short(s.player)}  {signed(s.points)}")
    figure.supxlabel("points a hand", fontsize="medium")
    figure.supylabel("per cent of hands", fontsize="medium")
    return figure


def _histogram(axes: Any, histogram: NDArray[np.int64], bins: NDArray[np.int64]) -> None:
    """Bars in the colour of who won."""
    some = histogram > 0
    colours = [COLOURS[("void", "plus", "minus")[k]] for k in np.sign(bins[some])]
    bars = axes.bar(bins[some], per_cent(histogram)[some], 4.6, color=colours)
    for bar, points, n in zip(bars, bins[some], histogram[some], strict=True):
        bar.set_gid(_title(f"{plain(points, 0)} points (±2): {n:,} hands"))
    axes.axvline(0, color=COLOURS["line"], linewidth=0.8, zorder=0)
    most = int(bins[-1])
    axes.set_xlim(-most - 3, most + 3)
    axes.set_xticks([-most, 0, most], [f"−{most}", "0", f"+{most}"])
    axes.spines.bottom.set_color(COLOURS["faint"])


def _ramp(*names: str) -> Colormap:
    """Colours from name to name, grey where there is no number."""
    ramp = LinearSegmentedColormap.from_list("okgin", [COLOURS[name] for name in names])
    return ramp.with_extremes(bad=COLOURS["line"])


def pairs(report: Report) -> Figure:
    """The cross-table of points a hand, which the page has as a table."""
    names = [_short(name) for name in report.players]
    n, is_told = len(names), len(names) <= _MOST_TOLD
    table = np.full((n, n), np.nan)
    figure = _blank(*(1.6 + 1.05 * n, 0.8 + 0.55 * n) if is_told else (2 + 0.22 * n, 2 + 0.22 * n))
    axes = figure.add_subplot()
    for i, j in np.ndindex(n, n):
        if (duel := report.duel(report.players[i], report.players[j])) is None:
            continue
        table[i, j] = duel.points.value
        if is_told:
            weight = "bold" if duel.differs else "normal"
            axes.text(j, i - 0.1, signed(duel.points.value), ha="center", va="center", fontsize=9, fontweight=weight)  # fmt: skip
            axes.text(j, i + 0.25, span(duel.points), ha="center", va="center", fontsize=5.5)
    most = max(float(np.nanmax(np.abs(table))), 1e-9)
    depth = np.sign(table) * np.sqrt(np.abs(table) / most)  # as on the page
    axes.imshow(depth, cmap=_ramp("minus", "surface", "plus"), vmin=-1, vmax=1, alpha=0.6, aspect="auto")  # fmt: skip
    axes.set_xticks(range(n), names, rotation=0 if n < 5 else 20 if is_told else 90, ha="center")
    axes.set_yticks(range(n), names)
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)
    axes.set_xlabel(
        "points a hand, row against column, with 95 % intervals; bold: significant"
        if is_told
        else f"points a hand, row against column: −{plain(most, 1)} orange to +{plain(most, 1)} blue; pairs.csv has the numbers"
    )
    return figure


def knocks(report: Report) -> Figure:
    """Chance of knocking by deadwood and turn over all limits, which the page has as tables."""
    figure, panels = _panels(report, 2.5, 2.1, 1.2)
    image: Any = None
    for axes, s in panels:
        could, did = s.knocks.sum(axis=1).astype(np.float64)  # (turn, deadwood)
        share = np.divide(did, could, out=np.full_like(did, np.nan), where=could > 0).T
        image = axes.imshow(share, cmap=_ramp("surface", "plus"), vmin=0, vmax=1, aspect="auto")
        few = np.nonzero((could > 0) & (could < FEW))
        axes.plot(*few, "x", color=COLOURS["void"], markersize=3, markeredgewidth=0.7)
        axes.set_title(f"{_short(s.player)}  n = {int(could.sum()):,}")
        axes.set_xticks(range(0, KNOCK_TURNS, 3), range(1, KNOCK_TURNS + 1, 3))
        axes.set_yticks(range(0, KNOCK_DEADWOOD, 2))
    figure.supxlabel(f"own turn (the last: {KNOCK_TURNS} or later); ×: fewer than {FEW} chances", fontsize="medium")  # fmt: skip
    figure.supylabel("deadwood", fontsize="medium")
    beside = figure.add_axes(
        (1 - 0.95 / figure.get_figwidth(), 0.2, 0.15 / figure.get_figwidth(), 0.6)
    )
    bar = figure.colorbar(image, cax=beside, ticks=[0, 0.5, 1], format=lambda x, _: percent(x, 0))
    bar.set_label("knocked when it could")
    bar.outline.set_visible(False)
    return figure


def _title(text: str) -> str:
    """A title on its way through matplotlib, which has none but writes ids; see `figures`."""
    return f"title: {text}"
