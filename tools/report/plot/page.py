"""What is drawn on. Lengths are in points, of which a figure's inch has 72; y runs downwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath

from plot.style import DARK, STRONG, USUAL, Style

POINTS = 72
MARGIN = 36.0
PANEL = 350.0
AXIS_ROOM = 62.0  # left of a panel, for its labels


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float


class Page:
    """A figure on which places are in points from its upper left corner."""

    def __init__(self, title: str, width: float, height: float) -> None:
        self.title = title
        self.width = width
        self.height = height
        self.figure = Figure(figsize=(width / POINTS, height / POINTS), facecolor="white")

    def text(self, x: float, y: float, words: str, **style: Any) -> None:
        self.figure.text(x / self.width, 1 - y / self.height, words, **{"size": USUAL} | style)

    def axes(self, where: Box) -> Axes:
        bottom = 1 - (where.y + where.height) / self.height
        return self.figure.add_axes(
            (where.x / self.width, bottom, where.width / self.width, where.height / self.height)
        )

    def whole(self) -> Axes:
        """Axes in points, without anything of theirs to see."""
        axes = self.axes(Box(0, 0, self.width, self.height))
        axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        axes.axis("off")
        axes.set_zorder(-1)
        return axes


def width_of(words: str, size: float) -> float:
    return TextPath((0, 0), words, size=size).get_extents().width if words.strip() else 0.0


def panel_width(axes: Axes) -> float:
    return axes.get_position().width * axes.figure.get_figwidth() * POINTS


class Legend:
    """Samples of lines beside their names, wrapped to a width."""

    ROW = 22.0

    def __init__(self, entries: Sequence[tuple[str, Style]], left: float, right: float) -> None:
        self.places: list[tuple[float, int]] = []
        self.entries = entries
        x, row = left, 0
        for words, _ in entries:
            needed = 33 + width_of(words, STRONG)
            if x > left and x + needed > right:
                x, row = left, row + 1
            self.places.append((x, row))
            x += needed + 27
        self.height = self.ROW * (row + 1)

    def draw(self, page: Page, top: float) -> None:
        axes = page.whole()
        for (words, style), (x, row) in zip(self.entries, self.places):
            y = top + self.ROW * row
            axes.plot((x, x + 13, x + 26), (y - 4,) * 3, markevery=(1, 5), **style)
            page.text(x + 33, y, words, size=STRONG, color=DARK)
