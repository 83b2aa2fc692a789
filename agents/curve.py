"""The learning curve as a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from okgin_env.files import write_bytes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # fit for colour-blind eyes


def draw_curve(curve: Sequence[dict[str, Any]], path: Path) -> None:
    """Draws points a hand (with their 95 % band) over steps, a line for each opponent.

    Args:
        curve: Rows with steps, against, points, low, high.
        path: PNG file, written whole or not at all.
    """
    names = list(dict.fromkeys(row["against"] for row in curve))
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, colour in zip(names, COLOURS * len(names), strict=False):
        rows = [row for row in curve if row["against"] == name]
        steps = [row["steps"] for row in rows]
        axes.plot(steps, [row["points"] for row in rows], "o-", ms=3, color=colour, label=name)
        axes.fill_between(
            steps, [r["low"] for r in rows], [r["high"] for r in rows], color=colour, alpha=0.2
        )
    axes.axhline(0, color="0.4", lw=0.8)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1e6:g} M"))
    axes.set_xlabel("steps (decisions of the learner)")
    axes.set_ylabel("points a hand, 95 % band")
    axes.legend(title="playing its best action against", frameon=False)
    axes.grid(alpha=0.25)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    write_bytes(path, picture.getvalue())
