"""The page's small histograms, written straight as SVG: there is one for every pair, too many for matplotlib."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from okgin_env.arena.report.wording import plain

_WIDTH, _HEIGHT = 202, 86
_LEFT, _RIGHT, _TOP, _BOTTOM = 6.0, 196.0, 1.0, 71.7  # of the frame that bars stand in
_BAR = 4.6  # points
_COLOURS = ("void", "plus", "minus")  # by the sign of the points


def per_cent(histogram: NDArray[np.int64]) -> NDArray[np.float64]:
    """The shares of a histogram's bars."""
    return 100 * histogram / max(1, histogram.sum())


def small_histogram(
    histogram: NDArray[np.int64], bins: NDArray[np.int64], top: float, label: str
) -> Markup:
    """One histogram without words.

    Args:
        histogram: (B,) hands by points.
        bins: (B,) the middles of the bins, in points.
        top: The highest bar of all its like, in per cent.
        label: What it shows, for whoever cannot see it.
    """
    most = int(bins[-1])
    scale = (_RIGHT - _LEFT) / (2 * most + 6)
    middle = (_LEFT + _RIGHT) / 2
    ends = ((middle - most * scale, f"−{most}"), (middle, "0"), (middle + most * scale, f"+{most}"))
    return Markup("").join(
        Markup(part)
        for part in (
            f'<svg class="drawn" role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {_HEIGHT}">',
            f'<path class="middle" d="M{middle:g} {_BOTTOM}V{_TOP}"/>',
            *_bars(histogram, bins, top, scale, middle),
            f'<path class="base" d="M{_LEFT:g} {_BOTTOM}H{_RIGHT:g}"/>',
            *(f'<text x="{x:.1f}" y="81.5">{text}</text>' for x, text in ends),
            "</svg>",
        )
    )


def _bars(
    histogram: NDArray[np.int64], bins: NDArray[np.int64], top: float, scale: float, middle: float
) -> Iterator[str]:
    """Bars in the colour of who won, each with its number under the mouse."""
    heights = per_cent(histogram) * ((_BOTTOM - _TOP) / top)
    wide = f"{_BAR * scale:.2f}"
    for points, n, height in zip(bins.tolist(), histogram.tolist(), heights.tolist(), strict=True):
        if n:
            colour = _COLOURS[(points > 0) - (points < 0)]
            left = middle + (points - _BAR / 2) * scale
            title = f"{plain(points, 0)} points (±2): {n:,} hands"
            yield f'<path class="{colour}" d="M{left:.1f} {_BOTTOM}v-{height:.1f}h{wide}v{height:.1f}z"><title>{title}</title></path>'
