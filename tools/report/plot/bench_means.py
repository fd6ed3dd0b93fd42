"""What muster bench measured: the table of geometric means."""

from __future__ import annotations

import math

from matplotlib.patches import Rectangle

from plot.bench_rows import Measured
from plot.page import AXIS_ROOM, Box, Page, width_of
from plot.read import Row
from plot.style import AHEAD, BEHIND, DARK, NAME, STRONG


def draw_means(page: Page, where: Box, found: Measured) -> None:
    """Of the ratio, shaded by how far they are from 1."""
    page.text(where.x + AXIS_ROOM, where.y + 16, "Geometric means of the ratio",
              size=NAME, weight="bold", color=DARK)
    lines: list[tuple[str, Row]] = []
    for what in found.collectives + [None]:
        for who in found.ours:
            only = {"collective": what} if what else {}
            only |= {"asked": who.asked} if who.asked else {}
            lines.append((f"{what or 'all'} {who.asked}".rstrip(), only))
    heads: list[tuple[str, Row]] = [(f"{ranks} ranks", {"ranks": ranks}) for ranks in found.ranks]
    heads.append(("all", {}))
    left = where.x + AXIS_ROOM
    names = max(width_of(words, STRONG) for words, _ in lines) + 20
    height = min(40.0, 300 / (len(lines) + 1))
    width = min(100.0, (where.x + where.width - left - names - 10) / len(heads))
    axes = page.whole()

    def middle(row: int, column: int) -> tuple[float, float]:
        return left + names + width * (column + 0.5), where.y + 30 + height * (row + 0.5)

    for column, (words, _) in enumerate(heads):
        x, y = middle(0, column)
        page.text(x, y, words, size=STRONG, color=DARK, ha="center", va="center")
    for row, (words, only) in enumerate(lines, 1):
        page.text(left, middle(row, 0)[1], words, size=STRONG, color=DARK, va="center")
        for column, (_, of) in enumerate(heads):
            mean = found.mean(**only, **of)
            if mean is None:
                continue
            x, y = middle(row, column)
            shade = 0.06 + 0.5 * min(1.0, abs(math.log(mean)) / math.log(4))
            axes.add_patch(Rectangle(
                (x - width / 2 + 2, y - height / 2 + 2), width - 4, height - 4,
                color=AHEAD if mean >= 1 else BEHIND, alpha=shade, linewidth=0))
            page.text(x, y, f"{mean:.2f}", size=STRONG, color=DARK, ha="center", va="center")
