"""What muster bench measured: the panels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from plot.axes import binary_ticks, place_of, set_log_axis, set_size_axis, set_time_axis
from plot.bench_rows import Measured
from plot.page import AXIS_ROOM, Box, Page, panel_width
from plot.read import Row
from plot.style import AHEAD, BEHIND, DARK, GREY, NAME, SMALL, STRONG, Style

LIMIT = {"color": DARK, "linewidth": 1.4, "dashes": (4 / 1.4, 3 / 1.4)}


class Panels:
    """Times above, ratios below; alike at every rank count."""

    TITLE_ROOM, TIMES, GAP, RATIOS = 30.0, 196.0, 12.0, 66.0

    def __init__(self, found: Measured, page: Page) -> None:
        self.found = found
        self.page = page
        # At least from 1/2 to 2, and room for the figures at the bars' ends.
        ratios = [row[found.figure] for row in found.rows if found.figure in row] + [0.5, 2]
        self.ratio_ends = min(ratios) / 1.8, max(ratios) * 1.8

    def draw_cell(self, where: Box, name: str, mean: float | None) -> tuple[Axes, Axes]:
        """The axes of a cell: of its times, and of its ratios below."""
        page = self.page
        x, width = where.x + AXIS_ROOM, where.width - AXIS_ROOM - 14
        indent = 0 if len(name) > 24 else AXIS_ROOM
        page.text(where.x + indent, where.y + 16, name, size=NAME, weight="bold", color=DARK)
        if mean is not None:
            colour = AHEAD if mean >= 1 else BEHIND
            page.text(x + width, where.y + 16, f"{mean:.2f}×", size=STRONG, color=colour, ha="right")
        above = where.y + self.TITLE_ROOM
        times = page.axes(Box(x, above, width, self.TIMES))
        ratios = page.axes(Box(x, above + self.TIMES + self.GAP, width, self.RATIOS))
        times.set_xticks([])
        set_log_axis(ratios, "y", *self.ratio_ends, binary_ticks(*self.ratio_ends),
                     lambda ratio: f"{ratio:g}×" if ratio >= 1 else f"1/{1 / ratio:g}×")
        ratios.grid(axis="y")
        ratios.axhline(1, color=GREY, linewidth=1)
        ratios.set_ylabel("ratio")
        ratios.yaxis.set_label_coords(-(AXIS_ROOM - 10) / width, 0.5)
        return times, ratios

    def set_times(self, axes: Axes, collective: str) -> None:
        rows = [row for row in self.found.rows if row["collective"] == collective]
        values = [row[key] for row in rows for key in ("p10_us", "p90_us", "limit_us") if key in row]
        set_time_axis(axes, values, collective != "barrier")

    def draw_sized(self, where: Box, collective: str, ranks: int) -> None:
        found = self.found
        mean = found.mean_of_panel(collective=collective, ranks=ranks)
        times, ratios = self.draw_cell(where, f"{collective}, {ranks} ranks", mean)
        self.set_times(times, collective)
        sizes = sorted({row["bytes"] for row in found.rows if row["collective"] == collective})
        set_size_axis(times, sizes, found.sizes, collective)
        times.set_xticks([])
        times.set_xlabel("")
        set_size_axis(ratios, sizes, found.sizes, collective)
        self.draw_limit(times, collective, ranks)
        # Ours last, on top.
        for who in reversed(found.contenders):
            rows = sorted(found.select(who, collective, ranks), key=lambda row: row["bytes"])
            if not rows:
                continue
            style = found.style(who)
            along = [place_of(row["bytes"]) for row in rows]
            low, high = ([row[key] for row in rows] for key in ("p10_us", "p90_us"))
            times.fill_between(along, low, high, color=style["color"], alpha=0.16, linewidth=0)
            times.plot(along, [row["median_us"] for row in rows], **style)
            if who in found.ours:
                self.draw_ratios(ratios, [row for row in rows if found.figure in row], style)

    def draw_limit(self, axes: Axes, collective: str, ranks: int) -> None:
        limits = {
            row["bytes"]: row["limit_us"] for row in self.found.rows
            if (row["collective"], row["ranks"]) == (collective, ranks) and "limit_us" in row
        }
        if limits:
            axes.plot([place_of(size) for size in sorted(limits)],
                      [limits[size] for size in sorted(limits)], **LIMIT)

    def draw_ratios(self, axes: Axes, rows: Sequence[Row], style: Style) -> None:
        along = [place_of(row["bytes"]) for row in rows]
        figures = [row[self.found.figure] for row in rows]
        if self.found.several:
            axes.plot(along, figures, **style)
            return
        least, most = axes.get_xlim()
        unit = (most - least) / panel_width(axes)
        gaps = [after - before for before, after in zip(along, along[1:])]
        width = min([20 * unit] + [0.7 * gap for gap in gaps])
        free = -math.inf
        for x, ratio in zip(along, figures):
            draw_ratio_bar(axes, x, width, ratio, x >= free)
            free = max(free, x + 22 * unit) if x >= free else free

    def draw_barriers(self, where: Box) -> None:
        """Bars of a contender's colour at every rank count; no sizes to draw lines over."""
        found = self.found
        name = "barrier" if len(found.ranks) > 1 else f"barrier, {found.ranks[0]} ranks"
        times, ratios = self.draw_cell(where, name, found.mean_of_panel(collective="barrier"))
        self.set_times(times, "barrier")
        members = [
            who for who in found.contenders
            if any(found.select(who, "barrier", ranks) for ranks in found.ranks)
        ]
        room = panel_width(times) / len(found.ranks)
        bar = min(34 / room, 0.8 / len(members))
        for place, ranks in enumerate(found.ranks):
            for number, who in enumerate(members):
                x = place + bar * (number - (len(members) - 1) / 2)
                for row in found.select(who, "barrier", ranks):
                    draw_barrier_bar(times, x, bar, row, found.style(who)["color"])
                    if found.figure in row:
                        at = x if found.several else place
                        draw_ratio_bar(ratios, at, bar, row[found.figure], True)
                    if "limit_us" in row:
                        half = bar * len(members) / 2
                        times.plot((place - half, place + half), (row["limit_us"],) * 2, **LIMIT)
        for axes in (times, ratios):
            axes.set_xlim(-0.5, len(found.ranks) - 0.5)
        ratios.set_xticks(range(len(found.ranks)), [f"{ranks} ranks" for ranks in found.ranks])
        ratios.tick_params(axis="x", length=0)


def draw_ratio_bar(axes: Axes, x: float, width: float, ratio: float, labelled: bool) -> None:
    axes.bar(x, ratio - 1, width, bottom=1, color=AHEAD if ratio >= 1 else BEHIND, alpha=0.75)
    if labelled:
        words = f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:#.2g}"
        axes.annotate(words, (x, ratio), (0, 3 if ratio >= 1 else -3), textcoords="offset points",
                      size=SMALL, ha="center", va="bottom" if ratio >= 1 else "top")


def draw_barrier_bar(axes: Axes, x: float, bar: float, row: Row, colour: str) -> None:
    median = row["median_us"]
    axes.bar(x, median, bar * 0.9, color=colour, alpha=0.85)
    axes.plot((x, x), (row["p10_us"], row["p90_us"]), color=DARK, linewidth=1.2)
    # Two digits, or all before the point: there is no room for more on a bar.
    words = f"{median:.{2 if median < 1 else 1 if median < 10 else 0}f}"
    axes.annotate(words, (x, row["p90_us"]), (0, 3), textcoords="offset points", size=SMALL,
                  ha="center", va="bottom")
