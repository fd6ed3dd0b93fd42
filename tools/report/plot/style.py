"""How all pictures look."""

from __future__ import annotations

from typing import Any

import matplotlib

Style = dict[str, Any]

DARK, GREY, FRAME, GRID = "#1f2328", "#57606a", "#d0d7de", "#eaeef2"
HEAD, NAME, STRONG, USUAL, SMALL = 22, 14, 13, 11, 10

# Okabe's and Ito's colours, which people tell apart who do not see all colours alike.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
SERIES = (BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, "#6b6b6b", BLACK)
MARKERS = "os^Dv<>p"
# Ahead and behind: also told apart by the side of the line that they are on.
AHEAD, BEHIND = "#1b7f79", "#a6611a"


def series_style(place: int) -> Style:
    """Of the first, second, … line of a panel."""
    return {"color": SERIES[place % len(SERIES)], "marker": MARKERS[place % len(MARKERS)]}


matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "muster",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
        "font.size": USUAL,
        "text.color": GREY,
        "text.parse_math": False,
        "axes.edgecolor": FRAME,
        "axes.linewidth": 1,
        "axes.axisbelow": True,
        "axes.labelcolor": GREY,
        "axes.labelsize": SMALL,
        "grid.color": GRID,
        "grid.linewidth": 1,
        "lines.solid_joinstyle": "round",
        "lines.markeredgecolor": "white",
        "xtick.color": GREY,
        "ytick.color": GREY,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "ytick.major.size": 0,
    }
)
