"""Learning curves as pictures; of several runs of one kind: ``python -m okgin_env.learning.curve RUN RUN RUN --plot FILE``."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from okgin_env.utils.files import write_bytes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # fit for colour-blind eyes


def draw_curve(curve: Sequence[dict[str, Any]], path: Path) -> None:
    """Draws points a hand (with their 95 % band) over steps, a panel for each opponent.

    Args:
        curve: Rows with steps, against, points, low, high.
        path: PNG file, written whole or not at all.
    """
    names = list(dict.fromkeys(row["against"] for row in curve))
    n_columns = min(2, len(names))
    n_rows = -(-len(names) // n_columns)
    size = (4.5 * n_columns, 2.7 * n_rows + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(n_rows, n_columns, sharex=True, squeeze=False).flat
    for axes, name, colour in zip(panels, names, COLOURS * len(names), strict=False):
        rows = [row for row in curve if row["against"] == name]
        steps = [row["steps"] for row in rows]
        axes.fill_between(
            steps,
            [r["low"] for r in rows],
            [r["high"] for r in rows],
            color=colour,
            alpha=0.2,
            lw=0,
        )
        axes.plot(steps, [row["points"] for row in rows], "o-", ms=3, color=colour)
        if min(row["low"] for row in rows) < 15:
            axes.axhline(0, color="0.4", lw=0.8)
        axes.set_title(f"against {name}", fontsize=11)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1e6:g} M"))
        axes.grid(alpha=0.25)
    figure.supxlabel("steps (decisions of the learner)", fontsize=10)
    figure.supylabel("points a hand, 95 % band", fontsize=10)
    _save(figure, path, 150)


def draw_bands(rows: Sequence[dict[str, Any]], label: str, path: Path) -> None:
    """Draws points over steps, a colour for each algorithm: its mean, and a band from its worst to its best seed.

    Args:
        rows: Rows with algorithm, seed, steps, points.
        label: What the points are.
        path: PNG file, written whole or not at all.
    """
    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, colour in zip(dict.fromkeys(r["algorithm"] for r in rows), COLOURS, strict=False):
        own = [row for row in rows if row["algorithm"] == name]
        runs = [[r for r in own if r["seed"] == seed] for seed in sorted({r["seed"] for r in own})]
        n = min(len(run) for run in runs)
        steps = [row["steps"] for row in runs[0][:n]]
        points = [[row["points"] for row in run[:n]] for run in runs]
        worst, best = (
            [min(p) for p in zip(*points, strict=True)],
            [max(p) for p in zip(*points, strict=True)],
        )
        mean = [sum(p) / len(p) for p in zip(*points, strict=True)]
        axes.fill_between(steps, worst, best, color=colour, alpha=0.2, linewidth=0)
        axes.plot(steps, mean, color=colour, label=f"{name} ({len(runs)} seeds)")
    axes.axhline(0, color="0.7", linewidth=1, zorder=0)
    axes.set_xlabel("decisions of the learner")
    axes.set_ylabel(label)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1e6:g} M"))
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.1))
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path, 130)


def draw_seeds(curves: Sequence[Sequence[dict[str, Any]]], path: Path) -> None:
    """Draws points a hand over steps, a panel for each opponent and a line for each run.

    Args:
        curves: Of each run rows with steps, against, points.
        path: PNG file, written whole or not at all.
    """
    names = list(dict.fromkeys(row["against"] for row in curves[0] if row["against"] != "random"))
    figure = Figure(figsize=(4 * len(names), 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False).flat, names, strict=True):
        for k, (curve, colour) in enumerate(zip(curves, COLOURS * len(curves), strict=False)):
            rows = [row for row in curve if row["against"] == name]
            steps = [row["steps"] for row in rows]
            axes.plot(steps, [r["points"] for r in rows], color=colour, lw=1.2, label=f"run {k}")
        axes.axhline(0, color="0.4", lw=0.8)
        axes.set_title(f"against {name}", fontsize=11)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1e6:g} M"))
        axes.grid(alpha=0.25)
    figure.axes[0].legend(frameon=False)
    figure.supxlabel("steps (decisions of the learner)", fontsize=10)
    figure.supylabel("points a hand", fontsize=10)
    _save(figure, path, 130)


def _save(figure: Figure, path: Path, dpi: int) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=dpi)
    write_bytes(path, picture.getvalue())


def read_curve(path: Path) -> list[dict[str, Any]]:
    """The rows of a run's curve.csv."""
    with path.open(newline="") as file:
        rows = [
            {k: v if k == "against" else float(v) for k, v in row.items()}
            for row in csv.DictReader(file)
        ]
    return [{**row, "steps": int(row["steps"])} for row in rows]


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m okgin_env.learning.curve", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="run folders, such as of three seeds")
    parser.add_argument("--plot", type=Path, required=True, metavar="FILE", help="PNG to write")
    args = parser.parse_args(argv)
    try:
        curves = [read_curve(run / "curve.csv") for run in args.runs]
        draw_seeds(curves, args.plot)
    except (ValueError, KeyError, OSError) as error:
        print(f"curve.py: {error}", file=sys.stderr)
        return 2
    print("| run | steps | " + " | ".join(_opponents(curves[0])) + " |")
    print("|---|--:|" + "--:|" * len(_opponents(curves[0])))
    for run, curve in zip(args.runs, curves, strict=True):
        steps = curve[-1]["steps"]
        last = {row["against"]: row for row in curve if row["steps"] == steps}
        cells = (
            f"{last[n]['points']:+.1f} ({last[n]['low']:+.1f} to {last[n]['high']:+.1f})"
            for n in _opponents(curve)
        )
        print(f"| {run.name} | {steps:,} | {' | '.join(cells)} |")
    return 0


def _opponents(curve: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["against"] for row in curve))


if __name__ == "__main__":
    sys.exit(main())
