"""Learning curves as pictures; of several runs of one kind: ``python -m okgin_env.learning.curve RUN RUN RUN --plot FILE``."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from okgin_env.learning.ladder import FLOOR, read_curve, table
from okgin_env.utils.commands import run
from okgin_env.utils.files import write_bytes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # fit for colour-blind eyes
STEPS = "steps (decisions of the learner)"


def draw_curve(curve: pd.DataFrame, path: Path) -> None:
    """Draws points a hand (with their 95 % band) over steps, a panel for each opponent.

    Args:
        curve: Columns steps, against, points, low, high.
        path: PNG file, written whole or not at all.
    """
    names = curve["against"].unique()
    n_columns = min(2, len(names))
    n_rows = -(-len(names) // n_columns)
    figure = _figure(4.5 * n_columns, 2.7 * n_rows + 0.6)
    panels = figure.subplots(n_rows, n_columns, sharex=True, squeeze=False).flat
    for axes, name, colour in zip(panels, names, COLOURS * len(names), strict=False):
        own = curve.loc[curve["against"] == name]
        axes.fill_between(own["steps"], own["low"], own["high"], color=colour, alpha=0.2, lw=0)
        axes.plot(own["steps"], own["points"], "o-", ms=3, color=colour)
        _name_panel(axes, name, zero=bool((own["low"] < 15).any()))
    _save(figure, path, 150, STEPS, "points a hand, 95 % band")


def draw_seeds(curves: Sequence[pd.DataFrame], path: Path) -> None:
    """Draws points a hand over steps, a panel for each opponent and a line for each run.

    Args:
        curves: Of each run columns steps, against, points.
        path: PNG file, written whole or not at all.
    """
    names = [name for name in curves[0]["against"].unique() if name != FLOOR]
    figure = _figure(4 * len(names), 3.4)
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False).flat, names, strict=True):
        for k, (curve, colour) in enumerate(zip(curves, COLOURS * len(curves), strict=False)):
            own = curve.loc[curve["against"] == name]
            axes.plot(own["steps"], own["points"], color=colour, lw=1.2, label=f"run {k}")
        _name_panel(axes, name, zero=True)
    figure.axes[0].legend(frameon=False)
    _save(figure, path, 130, STEPS, "points a hand")


def draw_bands(rows: pd.DataFrame, label: str, path: Path) -> None:
    """Draws points over steps, a colour for each algorithm: its mean, and a band from its worst to its best seed.

    Args:
        rows: Columns algorithm, seed, steps, points.
        label: What the points are.
        path: PNG file, written whole or not at all.
    """
    figure = _figure(7, 4)
    axes = figure.subplots()
    for name, colour in zip(rows["algorithm"].unique(), COLOURS, strict=False):
        own = rows.loc[rows["algorithm"] == name]
        seeds = own.pivot_table("points", "steps", "seed", aggfunc="last").dropna()
        worst, best = seeds.min(axis=1), seeds.max(axis=1)
        axes.fill_between(seeds.index, worst, best, color=colour, alpha=0.2, linewidth=0)
        axes.plot(seeds.mean(axis=1), color=colour, label=f"{name} ({len(seeds.columns)} seeds)")
    axes.axhline(0, color="0.7", linewidth=1, zorder=0)
    axes.set(xlabel="decisions of the learner", ylabel=label)
    axes.xaxis.set_major_formatter(FuncFormatter(_in_millions))
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.1))
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path, 130)


def _figure(width: float, height: float) -> Figure:
    """A figure that needs no display."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _name_panel(axes: Axes, name: str, zero: bool) -> None:
    """Gives a panel its title and its axes, and a line at 0 where that is near."""
    if zero:
        axes.axhline(0, color="0.4", lw=0.8)
    axes.set_title(f"against {name}", fontsize=11)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(_in_millions))
    axes.grid(alpha=0.25)


def _in_millions(steps: float, _: object) -> str:
    return f"{steps / 1e6:g} M"


def _save(figure: Figure, path: Path, dpi: int, x: str = "", y: str = "") -> None:
    for name, text in ((figure.supxlabel, x), (figure.supylabel, y)):
        if text:
            name(text, fontsize=10)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=dpi)
    write_bytes(path, picture.getvalue())


def _draw(args: argparse.Namespace) -> None:
    curves = [read_curve(folder / "curve.csv") for folder in args.runs]
    draw_seeds(curves, args.plot)
    last = [int(curve["steps"].to_numpy()[-1]) for curve in curves]
    labels = (f"{f.name} | {steps:,}" for f, steps in zip(args.runs, last, strict=True))
    ends = (curve.loc[curve["steps"] == steps] for curve, steps in zip(curves, last, strict=True))
    print(table("run | steps", zip(labels, ends, strict=True), 1))


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m okgin_env.learning.curve", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="run folders, such as of three seeds")
    parser.add_argument("--plot", type=Path, required=True, metavar="FILE", help="PNG to write")
    return run(parser, _draw, argv)


if __name__ == "__main__":
    sys.exit(main())
