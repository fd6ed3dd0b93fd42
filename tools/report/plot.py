#!/usr/bin/python3
"""Draws what Muster's commands found, from the JSON that they write.

The JSON says itself what it is: measurements of muster bench, simulations of muster sim, what
muster sim --validate compared, a selection table, or the arrivals of a recorded run. The same JSON
gives the same file.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import math
import pathlib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

# Where it keeps its fonts is of no interest.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

try:
    import matplotlib
    from matplotlib import colors
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.textpath import TextPath
except ImportError:
    sys.exit("muster: no picture without matplotlib; install python3-matplotlib")

Row = dict[str, Any]

# Lengths are in points, of which a figure's inch has 72; y runs downwards.
POINTS = 72
MARGIN = 36.0
PANEL = 350.0
AXIS_ROOM = 62.0  # left of a panel, for its labels

DARK, GREY, FRAME, GRID = "#1f2328", "#57606a", "#d0d7de", "#eaeef2"
HEAD, NAME, STRONG, USUAL, SMALL = 22, 14, 13, 11, 10

# Okabe's and Ito's colours, which people tell apart who do not see all colours alike.
BLACK, ORANGE, SKY, GREEN, YELLOW = "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
SERIES = (BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, "#6b6b6b", BLACK)
MARKERS = "os^Dv<>p"
# Ahead and behind: also told apart by the side of the line that they are on.
AHEAD, BEHIND = "#1b7f79", "#a6611a"

LIBRARIES = {"muster": "Muster", "openmpi": "Open MPI", "mpich": "MPICH"}
LIBRARY_STYLES = {
    "muster": {"color": VERMILION, "marker": "o", "linewidth": 2.6, "markersize": 7.5},
    "openmpi": {"color": BLUE, "marker": "s", "linewidth": 1.8, "markersize": 6.5},
    "mpich": {"color": PURPLE, "marker": "^", "linewidth": 1.8, "markersize": 7.5},
}
LIMIT = {"color": DARK, "linewidth": 1.4, "dashes": (4 / 1.4, 3 / 1.4)}

WHOLE_MESSAGES = {"bcast", "reduce", "allreduce", "scan", "exscan"}

matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "muster",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
        "font.size": USUAL,
        "text.color": GREY,
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


# Words


def readable_bytes(count: float) -> str:
    for bits, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << bits:
            return f"{count / (1 << bits):.3g} {unit}"
    return f"{count:.0f} B"


def readable_time(us: float) -> str:
    for unit_us, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= unit_us:
            return f"{us / unit_us:#.3g} {unit}"
    return f"{us:.0f} µs" if us >= 100 else f"{us:.{1 if us >= 10 else 2}f} µs"


def time_label(us: float) -> str:
    """Of a tick: `20 µs`."""
    for unit_us, unit in ((1e6, "s"), (1e3, "ms"), (1, "µs")):
        if us >= unit_us:
            return f"{us / unit_us:g} {unit}"
    return f"{us * 1e3:g} ns"


def plural(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def size_axis_label(collective: str) -> str:
    return "size of the message" if collective in WHOLE_MESSAGES else "size of one rank's block"


def list_of(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


# Figures


def in_order(values: Iterable[Any]) -> list[Any]:
    """Each once, as they first appear."""
    return list(dict.fromkeys(values))


def geometric_mean(values: Sequence[float]) -> float | None:
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


def decimal_ticks(least: float, most: float) -> list[float]:
    """Powers of ten, or 1-2-5 where few of them fit."""
    exponents = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    powers = [10.0**exponent for exponent in exponents if least <= 10.0**exponent <= most]
    if len(powers) >= 3:
        return powers
    between = [factor * 10.0**exponent for exponent in exponents for factor in (1, 2, 5)]
    return [tick for tick in between if least <= tick <= most]


def binary_ticks(least: float, most: float) -> list[float]:
    """Powers of two, every second, fourth, … where there would be more than four."""
    first, last = math.ceil(math.log2(least)), math.floor(math.log2(most))
    step = 1
    while (last - first) // step + 1 > 4:
        step *= 2
    return [2.0**exponent for exponent in range(first, last + 1) if exponent % step == 0]


# The page


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


class Legend:
    """Samples of lines beside their names, wrapped to a width."""

    ROW = 22.0

    def __init__(self, entries: Sequence[tuple[str, Row]], left: float, right: float) -> None:
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


def set_log_axis(axes: Axes, which: str, least: float, most: float, ticks: Sequence[float],
                 label: Callable[[float], str]) -> None:
    """A logarithmic axis, `x` or `y`, with these ticks alone."""
    axes.set(**{f"{which}scale": "log", f"{which}lim": (least, most)})
    axis = getattr(axes, f"{which}axis")
    axis.set_ticks(ticks, [label(tick) for tick in ticks])
    axis.set_ticks([], minor=True)


def set_time_axis(axes: Axes, times: Sequence[float], sized: bool) -> None:
    least, most = min(times) * (0.75 if sized else 0.3), max(times) * (1.35 if sized else 2)
    set_log_axis(axes, "y", least, most, decimal_ticks(least, most), time_label)
    axes.grid(axis="y")
    axes.set_ylabel("time a call")
    axes.yaxis.set_label_coords(-(AXIS_ROOM - 10) / panel_width(axes), 0.5)


def panel_width(axes: Axes) -> float:
    return axes.get_position().width * axes.figure.get_figwidth() * POINTS


def place_of(size: float) -> float:
    """Of a size along an axis: equal factors are equal distances."""
    return math.log2(size)


def set_size_axis(axes: Axes, sizes: Sequence[int], every: Sequence[int], collective: str) -> None:
    """An axis over all sizes that are drawn, with labels at this panel's as far as they fit."""
    least, most = place_of(min(every)), place_of(max(every))
    if least == most:
        least, most = least - 1, most + 1
    inside = panel_width(axes) - 2 * 14  # so that the outermost markers stay inside
    room = (most - least) / inside * 14
    axes.set_xlim(least - room, most + room)
    labels, free = [], -math.inf
    for size in sizes:
        at = (place_of(size) - least) / (most - least) * inside
        labels.append(readable_bytes(size) if at >= free else "")
        free = at + 44 if labels[-1] else free
    axes.set_xticks([place_of(size) for size in sizes], labels)
    axes.set_xlabel(size_axis_label(collective))


# muster bench


class Contender(NamedTuple):
    """A library, or Muster with an algorithm that was asked for."""

    library: str
    asked: str

    @property
    def title(self) -> str:
        return f"{LIBRARIES[self.library]} {self.asked}".rstrip()


def contender_of(row: Row) -> Contender:
    return Contender(row["library"], row.get("asked", ""))


class Benchmark:
    """Panels of time against size with the ratio below, a collective and rank count each; barriers
    as bars; and the geometric means of the ratio."""

    CELL_HEIGHT = 368.0
    TITLE_ROOM, TIMES, GAP, RATIOS = 30.0, 196.0, 12.0, 66.0

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = [row for row in rows if row["median_us"] is not None]
        everybody = in_order(map(contender_of, self.rows))
        self.ours = [who for who in everybody if who.library == "muster"]
        self.contenders = self.ours + [who for who in everybody if who.library != "muster"]
        self.several = len(self.ours) > 1
        self.figure = "ratio" if any("ratio" in row for row in self.rows) else "to_first"
        self.ranks = in_order(row["ranks"] for row in self.rows)
        collectives = in_order(row["collective"] for row in self.rows)
        self.sized = [what for what in collectives if what != "barrier"]
        self.with_barrier = "barrier" in collectives
        self.sizes = sorted({row["bytes"] for row in self.rows if row["bytes"] > 0})
        # At least from 1/2 to 2, and room for the figures at the bars' ends.
        ratios = [row[self.figure] for row in self.rows if self.figure in row] + [0.5, 2]
        self.ratio_ends = min(ratios) / 1.8, max(ratios) * 1.8

    def select(self, who: Contender, collective: str, ranks: int) -> list[Row]:
        return [
            row for row in self.rows
            if (contender_of(row), row["collective"], row["ranks"]) == (who, collective, ranks)
        ]

    def mean(self, **only: Any) -> float | None:
        return geometric_mean([
            row[self.figure] for row in self.rows
            if self.figure in row and all(row.get(key, "") == only[key] for key in only)
        ])

    def mean_of_panel(self, **only: Any) -> float | None:
        """One figure for a panel, unless there are several of ours."""
        return None if self.several else self.mean(**only)

    # What is said around the panels

    def title(self) -> str:
        if not self.contenders:
            return "Nothing measured"
        nodes = max(row["nodes"] for row in self.rows)
        ours = ["Muster" + (f" on {nodes} nodes" if nodes > 1 else "")] if self.ours else []
        peers = [who.title for who in self.contenders if who.library != "muster"]
        return " beside ".join(ours + ([list_of(peers)] if peers else []))

    def any_has(self, key: str, value: Any) -> bool:
        return any(row.get(key) == value for row in self.rows)

    def conditions(self) -> str:
        """How ranks came late, and what else is not as usual."""
        words = []
        if self.rows and "arrivals" in self.rows[0]:
            words.append("arrivals {arrivals}, seed {seed}".format(**self.rows[0]))
        if self.any_has("loop", "barrier"):
            words.append("between barriers")
        words += in_order(row["type"] for row in self.rows if row.get("type", "double") != "double")
        if self.any_has("buffers", "same"):
            words.append("same buffers")
        words += in_order(f"buffers {row['offset']} bytes off" for row in self.rows if "offset" in row)
        if self.any_has("excluded", True):
            words.append("left to the MPI")
        return ", ".join(words)

    def context(self) -> str:
        """The machine, the date and the peers' versions, where the JSON has them."""
        keys = [("machine", True), ("date", True), ("version", False)]
        words = [
            row[key] for key, ours in keys for row in self.rows
            if key in row and (ours or row["library"] != "muster")
        ]
        return "  ·  ".join(in_order(words))

    def footer(self) -> list[str]:
        if not self.several:
            ratios = "Bars: the better peer's median over Muster's; above 1 (teal) Muster is faster."
        elif self.figure == "ratio":
            ratios = "Ratios: the better peer's median over the algorithm's; above 1 Muster is faster."
        else:
            ratios = "Ratios: the first algorithm's median over the other's; above 1 the other is faster."
        same = self.any_has("buffers", "same")
        buffers = "on the same, unchanged buffers" if same else "on rotating, changing buffers"
        if self.rows and "arrivals" in self.rows[0]:
            times = "from a rank's own arrival, after its delay, until its call is done; the mean over calls and ranks."
        elif self.any_has("loop", "barrier"):
            times = f"of the call alone, a barrier before each, {buffers}; the mean over calls and ranks."
        else:
            times = f"the mean over back-to-back calls {buffers}; the slowest rank counts."
        return ["Lines: medians; bands: 10th to 90th percentile. " + ratios, "Times: " + times]

    def style(self, who: Contender) -> Row:
        if not self.several or who.library != "muster":
            return dict(LIBRARY_STYLES[who.library])
        colours = [VERMILION, GREEN, ORANGE, SKY, "#6b6b6b", BLACK]
        place = self.ours.index(who)
        return LIBRARY_STYLES["muster"] | {
            "color": colours[place % len(colours)],
            "marker": "oD"[place % 2],
        }

    def legend(self, right: float) -> Legend:
        entries = []
        for who in self.contenders:
            mean = self.mean(asked=who.asked) if self.several and who in self.ours else None
            entries.append((who.title + (f" {mean:.2f}×" if mean else ""), self.style(who)))
        if any("limit_us" in row for row in self.rows):
            entries.append(("about the least this machine allows", dict(LIMIT)))
        return Legend(entries, MARGIN, right)

    # The page

    def draw(self) -> Page:
        by_ranks = len(self.ranks) > 1
        panels = len(self.sized) + self.with_barrier
        columns = max(len(self.ranks), 3) if by_ranks else min(max(panels, 2), 3)
        lines = len(self.sized) if by_ranks else -(-panels // columns)
        last = by_ranks and (self.with_barrier or self.mean() is not None)
        width = 2 * MARGIN + columns * PANEL
        conditions = self.conditions()
        legend = self.legend(width - MARGIN - (width_of(conditions, STRONG) + 22 if conditions else 0))
        top = 94 + legend.height
        bottom = top + (lines + last) * self.CELL_HEIGHT
        title = ", ".join(filter(None, (self.title(), conditions)))
        page = Page(title, width, bottom + 46)
        self.draw_header(page, conditions)
        legend.draw(page, 94)
        for number, line in enumerate(self.footer()):
            page.text(MARGIN, bottom + 18 + 16 * number, line)

        def cell(row: int, column: int) -> Box:
            return Box(MARGIN + column * PANEL, top + row * self.CELL_HEIGHT, PANEL, self.CELL_HEIGHT)

        places = (
            [(what, ranks) for what in self.sized for ranks in self.ranks]
            if by_ranks
            else [(what, self.ranks[0]) for what in self.sized]
        )
        across = len(self.ranks) if by_ranks else columns
        for number, (what, ranks) in enumerate(places):
            self.draw_sized(page, cell(number // across, number % across), what, ranks)
        if self.with_barrier:
            at = (lines, 0) if by_ranks else divmod(len(places), columns)
            self.draw_barriers(page, cell(*at))
        if last and self.mean() is not None:
            self.draw_means(page, cell(lines, int(self.with_barrier))._replace(width=2 * PANEL))
        return page

    def draw_header(self, page: Page, conditions: str) -> None:
        page.text(MARGIN, 44, self.title(), size=HEAD, weight="bold", color=DARK)
        page.text(MARGIN, 66, self.context())
        right = page.width - MARGIN
        page.text(right, 94, conditions, size=STRONG, color=DARK, ha="right")
        overall = self.mean_of_panel()
        if overall is None:
            return
        colour = AHEAD if overall >= 1 else BEHIND
        page.text(right, 46, f"{overall:.2f}×", size=HEAD, weight="bold", color=colour, ha="right")
        page.text(right, 66, "the better peer's time over Muster's, geometric mean", ha="right")

    def draw_cell(self, page: Page, where: Box, name: str, mean: float | None) -> tuple[Axes, Axes]:
        """The axes of a cell: of its times, and of its ratios below."""
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
        """Alike at every rank count."""
        rows = [row for row in self.rows if row["collective"] == collective]
        values = [row[key] for row in rows for key in ("p10_us", "p90_us", "limit_us") if key in row]
        set_time_axis(axes, values, collective != "barrier")

    def draw_sized(self, page: Page, where: Box, collective: str, ranks: int) -> None:
        mean = self.mean_of_panel(collective=collective, ranks=ranks)
        times, ratios = self.draw_cell(page, where, f"{collective}, {ranks} ranks", mean)
        self.set_times(times, collective)
        sizes = sorted({row["bytes"] for row in self.rows if row["collective"] == collective})
        set_size_axis(times, sizes, self.sizes, collective)
        times.set_xticks([])
        times.set_xlabel("")
        set_size_axis(ratios, sizes, self.sizes, collective)
        self.draw_limit(times, collective, ranks)
        # Ours last, on top.
        for who in reversed(self.contenders):
            rows = sorted(self.select(who, collective, ranks), key=lambda row: row["bytes"])
            if not rows:
                continue
            style = self.style(who)
            along = [place_of(row["bytes"]) for row in rows]
            low, high = ([row[key] for row in rows] for key in ("p10_us", "p90_us"))
            times.fill_between(along, low, high, color=style["color"], alpha=0.16, linewidth=0)
            times.plot(along, [row["median_us"] for row in rows], **style)
            if who in self.ours:
                self.draw_ratios(ratios, [row for row in rows if self.figure in row], style)

    def draw_limit(self, axes: Axes, collective: str, ranks: int) -> None:
        limits = {
            row["bytes"]: row["limit_us"] for row in self.rows
            if (row["collective"], row["ranks"]) == (collective, ranks) and "limit_us" in row
        }
        if limits:
            axes.plot([place_of(size) for size in sorted(limits)],
                      [limits[size] for size in sorted(limits)], **LIMIT)

    def draw_ratios(self, axes: Axes, rows: Sequence[Row], style: Row) -> None:
        along = [place_of(row["bytes"]) for row in rows]
        figures = [row[self.figure] for row in rows]
        if self.several:
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

    def draw_barriers(self, page: Page, where: Box) -> None:
        """Bars of a contender's colour at every rank count; no sizes to draw lines over."""
        name = "barrier" if len(self.ranks) > 1 else f"barrier, {self.ranks[0]} ranks"
        times, ratios = self.draw_cell(page, where, name, self.mean_of_panel(collective="barrier"))
        self.set_times(times, "barrier")
        members = [
            who for who in self.contenders
            if any(self.select(who, "barrier", ranks) for ranks in self.ranks)
        ]
        room = panel_width(times) / len(self.ranks)
        bar = min(34 / room, 0.8 / len(members))
        for place, ranks in enumerate(self.ranks):
            for number, who in enumerate(members):
                x = place + bar * (number - (len(members) - 1) / 2)
                for row in self.select(who, "barrier", ranks):
                    draw_barrier_bar(times, x, bar, row, self.style(who)["color"])
                    if self.figure in row:
                        at = x if self.several else place
                        draw_ratio_bar(ratios, at, bar, row[self.figure], True)
                    if "limit_us" in row:
                        half = bar * len(members) / 2
                        times.plot((place - half, place + half), (row["limit_us"],) * 2, **LIMIT)
        for axes in (times, ratios):
            axes.set_xlim(-0.5, len(self.ranks) - 0.5)
        ratios.set_xticks(range(len(self.ranks)), [f"{ranks} ranks" for ranks in self.ranks])
        ratios.tick_params(axis="x", length=0)

    def draw_means(self, page: Page, where: Box) -> None:
        """A table of geometric means, shaded by how far they are from 1."""
        page.text(where.x + AXIS_ROOM, where.y + 16, "Geometric means of the ratio",
                  size=NAME, weight="bold", color=DARK)
        lines: list[tuple[str, Row]] = []
        for what in in_order(row["collective"] for row in self.rows) + [None]:
            for who in self.ours:
                only = {"collective": what} if what else {}
                only |= {"asked": who.asked} if who.asked else {}
                lines.append((f"{what or 'all'} {who.asked}".rstrip(), only))
        heads: list[tuple[str, Row]] = [(f"{ranks} ranks", {"ranks": ranks}) for ranks in self.ranks]
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
                mean = self.mean(**only, **of)
                if mean is None:
                    continue
                x, y = middle(row, column)
                shade = 0.06 + 0.5 * min(1.0, abs(math.log(mean)) / math.log(4))
                axes.add_patch(matplotlib.patches.Rectangle(
                    (x - width / 2 + 2, y - height / 2 + 2), width - 4, height - 4,
                    color=AHEAD if mean >= 1 else BEHIND, alpha=shade, linewidth=0))
                page.text(x, y, f"{mean:.2f}", size=STRONG, color=DARK, ha="center", va="center")


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


# muster sim


class Simulation:
    """A panel a collective, of time against size, with a line an algorithm; barriers as bars."""

    PANEL_HEIGHT = 320.0

    def __init__(self, rows: Sequence[Row]) -> None:
        self.about = rows[0]
        self.rows = [row for row in rows if row["median_us"] is not None]
        names = in_order(row["asked"] for row in self.rows)
        # What Muster chooses lies beneath, broad and pale, so that a line that it coincides with is
        # seen, too.
        self.names = sorted(names, key=lambda name: name != "auto")
        self.collectives = in_order(row["collective"] for row in self.rows)
        self.sizes = sorted({row["bytes"] for row in self.rows if row["bytes"] > 0})

    def style(self, name: str) -> Row:
        if name == "auto" and len(self.names) > 1:
            return {"color": ORANGE, "linewidth": 7, "alpha": 0.4, "marker": "o", "markersize": 12}
        place = [one for one in self.names if one != "auto"].index(name) if name != "auto" else 0
        return {"color": SERIES[place % len(SERIES)], "marker": MARKERS[place % len(MARKERS)],
                "linewidth": 2, "markersize": 7}

    def draw(self) -> Page:
        about = self.about
        columns = min(max(len(self.collectives), 1), 3)
        each = 2 * PANEL if columns == 1 else PANEL
        width = 2 * MARGIN + columns * each
        legend = Legend([(name, self.style(name)) for name in self.names], MARGIN, width - MARGIN)
        top = 94 + legend.height
        bottom = top + -(-len(self.collectives) // columns) * self.PANEL_HEIGHT
        ranks = f"{about['machine']}, {plural(about['nodes'], 'node')} x {plural(about['ranks_a_node'], 'rank')}"
        late = f"arrivals {about['arrivals']}, " if about["arrivals"] else ""
        page = Page(f"{ranks}, {late}seed {about['seed']}", width, bottom + 46)
        page.text(MARGIN, 44, ranks, size=HEAD, weight="bold", color=DARK)
        together = late or "arrivals together, "
        page.text(MARGIN, 66, f"{together}seed {about['seed']}", size=STRONG, color=DARK)
        legend.draw(page, 94)
        for number, collective in enumerate(self.collectives):
            row, column = divmod(number, columns)
            x, y = MARGIN + column * each, top + row * self.PANEL_HEIGHT
            page.text(x + AXIS_ROOM, y + 16, collective, size=NAME, weight="bold", color=DARK)
            where = Box(x + AXIS_ROOM, y + 30, each - AXIS_ROOM - 14, self.PANEL_HEIGHT - 76)
            self.draw_panel(page.axes(where), collective)
        times = (
            "from a rank's own arrival until its call is done; the mean over the ranks."
            if about["arrivals"]
            else "the slowest rank's."
        )
        page.text(MARGIN, bottom + 18,
                  f"Simulated; the median of {plural(about['calls'], 'call')}. Times: {times}")
        return page

    def draw_panel(self, axes: Axes, collective: str) -> None:
        rows = [row for row in self.rows if row["collective"] == collective]
        set_time_axis(axes, [row["median_us"] for row in rows], collective != "barrier")
        if collective == "barrier":
            self.draw_bars(axes, rows)
            return
        set_size_axis(axes, sorted({row["bytes"] for row in rows}), self.sizes, collective)
        for name in self.names:
            line = sorted((row for row in rows if row["asked"] == name), key=lambda row: row["bytes"])
            axes.plot([place_of(row["bytes"]) for row in line], [row["median_us"] for row in line],
                      **self.style(name))

    def draw_bars(self, axes: Axes, rows: Sequence[Row]) -> None:
        width = min(0.7, 60 * len(self.names) / panel_width(axes))
        for row in rows:
            x = self.names.index(row["asked"])
            axes.bar(x, row["median_us"], width, color=self.style(row["asked"])["color"], alpha=0.85)
            axes.annotate(readable_time(row["median_us"]), (x, row["median_us"]), (0, 3),
                          textcoords="offset points", size=SMALL, ha="center")
        axes.set_xlim(-0.5, len(self.names) - 0.5)
        axes.set_xticks(range(len(self.names)), self.names)
        axes.tick_params(axis="x", length=0)


# muster sim --validate


class Validation:
    """Predicted against measured, a panel a number of ranks: on the diagonal the two agree."""

    SIZE, GAP, TOP = 340.0, 70.0, 96.0

    def __init__(self, whole: Row) -> None:
        self.rows = whole["points"]
        self.machine = whole.get("machine", "")
        self.ranks = sorted({row["ranks"] for row in self.rows})
        times = [row[key] for row in self.rows for key in ("measured_us", "predicted_us")] or [1]
        self.least, self.most = min(times) / 1.5, max(times) * 1.5
        self.collectives = in_order(row["collective"] for row in self.rows)

    def style(self, collective: str) -> Row:
        place = self.collectives.index(collective)
        colours = len(SERIES)
        return {"color": SERIES[place % colours], "marker": MARKERS[place % colours],
                "markersize": 8, "linestyle": "none", "alpha": 0.85}

    def draw(self) -> Page:
        title = ": ".join(filter(None, ("Predicted and measured", self.machine)))
        width = 2 * MARGIN + 2 * self.GAP + 2 * self.SIZE - 24
        lines = -(-len(self.ranks) // 2)
        entries = [(name, self.style(name)) for name in self.collectives]
        legend = Legend(entries, MARGIN, width - MARGIN)
        top = self.TOP + legend.height
        page = Page(title, width, top + lines * (self.SIZE + self.GAP))
        page.text(MARGIN, 40, title, size=HEAD, weight="bold", color=DARK)
        page.text(MARGIN, 62, "Measured on real ranks, and predicted from the machine alone. "
                  "Bands: within 30 %, within a factor of 2.")
        legend.draw(page, self.TOP - 6)
        for number, ranks in enumerate(self.ranks):
            row, column = divmod(number, 2)
            x = MARGIN + self.GAP - 24 + column * (self.SIZE + self.GAP)
            y = top + row * (self.SIZE + self.GAP) + 10
            page.text(x, y - 8, f"{ranks} ranks", size=NAME, weight="bold", color=DARK)
            self.draw_panel(page.axes(Box(x, y, self.SIZE, self.SIZE)), ranks)
        return page

    def draw_panel(self, axes: Axes, ranks: int) -> None:
        ends = [self.least, self.most]
        for factor, colour in ((2, "#f1f3f5"), (1.3, "#dbe4ee")):
            low, high = ([end * by for end in ends] for by in (1 / factor, factor))
            axes.fill_between(ends, low, high, color=colour, linewidth=0)
        axes.plot(ends, ends, color="#8c959f", linewidth=1)
        ticks = decimal_ticks(*ends)
        for which in "xy":
            set_log_axis(axes, which, *ends, ticks, time_label)
        axes.set(xlabel="measured", ylabel="predicted")
        for collective in self.collectives:
            rows = [row for row in self.rows if (row["collective"], row["ranks"]) == (collective, ranks)]
            axes.plot([row["measured_us"] for row in rows], [row["predicted_us"] for row in rows],
                      **self.style(collective))


# Selection tables


class Stretch(NamedTuple):
    """Numbers between which a table tells no difference; the last stretch has no end."""

    first: int
    last: int | None

    def numbers(self) -> str:
        first = max(self.first, 1)
        if self.last is None:
            return f"{first}+"
        return str(first) if first == self.last else f"{first}–{self.last}"

    def sizes(self) -> str:
        if self.last is None:
            return f"> {readable_bytes(self.first - 1)}" if self.first else "any size"
        return f"≤ {readable_bytes(self.last)}"


def stretches(rules: Sequence[Row], key: str) -> list[Stretch]:
    """Between the numbers at which any rule begins or ends."""
    ends = [rule.get(key, [0, None]) for rule in rules]
    starts = {first for first, _ in ends} | {last + 1 for _, last in ends if last is not None}
    ordered = sorted(starts)
    return [Stretch(a, b - 1) for a, b in zip(ordered, ordered[1:])] + [Stretch(ordered[-1], None)]


def holds(rule: Row, key: str, number: int) -> bool:
    first, last = rule.get(key, [0, None])
    return first <= number and (last is None or number <= last)


class SelectionTable:
    """For each collective a grid of teams and sizes, coloured by the algorithm that is selected."""

    ROW, COLUMN, HEAD_ROOM, TEAM_ROOM = 17.0, 92.0, 50.0, 110.0
    COLOURS = ("#a6cee3", "#fdcf8f", "#b2df8a", "#dcc3e8", "#f7b6b0", "#9fded8", "#f3ec9b", "#d5d8dc",
               "#e8c8a0", "#c3cbf5")

    def __init__(self, whole: Row) -> None:
        self.measured = whole.get("measured", "")
        self.rules = whole["rules"]
        self.grids = [
            (what, [rule for rule in self.rules if rule["collective"] == what])
            for what in in_order(rule["collective"] for rule in self.rules)
        ]

    @staticmethod
    def teams(rules: Sequence[Row]) -> list[tuple[Stretch, Stretch]]:
        return [
            (nodes, ranks)
            for nodes in stretches(rules, "nodes")
            for ranks in stretches(rules, "ranks_a_node")
        ]

    @staticmethod
    def selected(rules: Sequence[Row], team: tuple[Stretch, Stretch], size: Stretch) -> str:
        """The first rule that holds decides; empty where none does."""
        at = {"nodes": team[0].first, "ranks_a_node": team[1].first, "bytes": size.first}
        for rule in rules:
            if all(holds(rule, key, at[key]) for key in at):
                return rule["algorithm"]
        return ""

    def size_of(self, rules: Sequence[Row]) -> tuple[float, float]:
        return (self.TEAM_ROOM + self.COLUMN * len(stretches(rules, "bytes")),
                self.HEAD_ROOM + self.ROW * len(self.teams(rules)) + 24)

    def draw(self) -> Page:
        title = "What is selected: " + (self.measured or "a table")
        columns = 2 if len(self.grids) > 1 else 1
        sizes = [self.size_of(rules) for _, rules in self.grids] or [(300.0, 0.0)]
        each = max(width for width, _ in sizes) + 30
        # Into the shorter column.
        ends = [92.0] * columns
        places = []
        for _, height in sizes:
            column = ends.index(min(ends))
            places.append((MARGIN + column * each, ends[column]))
            ends[column] += height
        width = max(2 * MARGIN + columns * each - 30, 2 * MARGIN + width_of(title, HEAD) * 1.15)
        page = Page(title, width, max(ends) + MARGIN / 2)
        page.text(MARGIN, 44, title, size=HEAD, weight="bold", color=DARK)
        page.text(MARGIN, 66, "A row is a team, nodes x ranks on each, a column a size in bytes. "
                  "Where nothing stands the catalog chooses.")
        for (what, rules), (x, y) in zip(self.grids, places):
            self.draw_grid(page, what, rules, x, y)
        return page

    def draw_grid(self, page: Page, what: str, rules: Sequence[Row], x: float, y: float) -> None:
        page.text(x, y + 16, what, size=NAME, weight="bold", color=DARK)
        sizes, teams = stretches(rules, "bytes"), self.teams(rules)
        left, top = x + self.TEAM_ROOM, y + self.HEAD_ROOM
        for column, size in enumerate(sizes):
            x = left + self.COLUMN * (column + 0.5)
            page.text(x, top - 7, size.sizes(), size=SMALL, ha="center")
        axes = page.axes(Box(left, top, self.COLUMN * len(sizes), self.ROW * len(teams)))
        axes.set(xlim=(0, len(sizes)), ylim=(len(teams), 0), xticks=[])
        names = [f"{nodes.numbers()} x {ranks.numbers()} ranks" for nodes, ranks in teams]
        axes.set_yticks([row + 0.5 for row in range(len(teams))], names)
        colours = in_order(rule["algorithm"] for rule in rules)
        for row, team in enumerate(teams):
            chosen = [self.selected(rules, team, size) for size in sizes]
            for first, end in runs(chosen):
                if chosen[first]:
                    colour = self.COLOURS[colours.index(chosen[first]) % len(self.COLOURS)]
                    draw_run(axes, row, first, end, chosen[first], colour)


def runs(values: Sequence[str]) -> list[tuple[int, int]]:
    """From where to where values that follow each other are the same."""
    starts = [at for at in range(len(values)) if at == 0 or values[at] != values[at - 1]]
    return list(zip(starts, starts[1:] + [len(values)]))


def draw_run(axes: Axes, row: int, first: int, end: int, words: str, colour: str) -> None:
    axes.add_patch(matplotlib.patches.Rectangle(
        (first, row), end - first, 1, facecolor=colour, edgecolor="white", linewidth=1))
    room = (end - first) * SelectionTable.COLUMN - 6
    size = min(9.0, 9.0 * room / max(width_of(words, 9), 1))
    axes.text((first + end) / 2, row + 0.5, words, size=size, color=DARK, ha="center", va="center")


# muster arrivals


class Arrivals:
    """Who came when: calls from left to right, a row a rank, the darker the later behind the first."""

    WIDTH, LABELS, TITLE_ROOM, BELOW = 960.0, 60.0, 44.0, 56.0
    ON_TIME = "#f6f8fa"

    def __init__(self, whole: Row) -> None:
        self.ranks = whole["ranks"]
        self.sites = [site for site in whole["sites"] if "lateness" in site]
        latest = max((ns for site in self.sites for row in site["lateness"]["ns"] for ns in row), default=0)
        # Four decades at most; what is below is on time.
        most = max(latest, 100.0)
        self.scale = colors.LogNorm(max(most / 1e4, 10.0), most)
        # From light to dark in one hue, so that everybody tells them apart, and in print.
        stops = ["#fef0d9", "#fdcc8a", "#fc8d59", "#d7301f", "#6e000a"]
        self.colours = colors.LinearSegmentedColormap.from_list("lateness", stops)
        self.colours.set_extremes(under=self.ON_TIME, bad=self.ON_TIME)

    @staticmethod
    def row_height(site: Row) -> float:
        return min(max(160 / len(site["lateness"]["ns"]), 7.0), 18.0)

    def height_of(self, site: Row) -> float:
        return self.row_height(site) * len(site["lateness"]["ns"])

    def draw(self) -> Page:
        title = f"Who arrived when: {plural(self.ranks, 'rank')}"
        room = self.TITLE_ROOM + self.BELOW
        height = 126 + sum(self.height_of(site) + room for site in self.sites)
        page = Page(title, 2 * MARGIN + self.LABELS + self.WIDTH, height)
        page.text(MARGIN, 44, title, size=HEAD, weight="bold", color=DARK)
        if not self.sites:
            page.text(MARGIN, 70, "No call has a record of its ranks.")
            return page
        page.text(MARGIN, 66, "A row is a rank, a column a call or several; the darker, the later behind "
                  "the first rank to come.")
        self.draw_scale(page)
        y = 126.0
        for site in self.sites:
            self.draw_site(page, site, y)
            y += self.height_of(site) + room
        return page

    def cells(self) -> Row:
        """How cells look; they meet without seams."""
        return {"norm": self.scale, "cmap": self.colours, "edgecolors": "face", "linewidth": 0.5}

    def draw_scale(self, page: Page) -> None:
        axes = page.axes(Box(MARGIN + self.LABELS, 78, 420, 10))
        least, most = self.scale.vmin, self.scale.vmax
        steps = [least * (most / least) ** (step / 60) for step in range(61)]
        axes.pcolormesh(steps, [0, 1], [steps[:-1]], **self.cells())
        set_log_axis(axes, "x", least, most, decimal_ticks(least, most), lambda ns: time_label(ns / 1e3))
        axes.set_yticks([])
        page.text(MARGIN + self.LABELS + 430, 87, "behind the first", size=SMALL)
        first = page.axes(Box(MARGIN, 78, 14, 10))
        first.set(facecolor=self.ON_TIME, xticks=[], yticks=[])
        page.text(MARGIN, 101, "first", size=SMALL)

    def draw_site(self, page: Page, site: Row, y: float) -> None:
        cells = site["lateness"]
        page.text(MARGIN, y + 14, site_title(site, self.ranks), size=NAME, weight="bold", color=DARK)
        page.text(MARGIN, y + 32, site_summary(site))
        columns, rows = len(cells["first_call"]), len(cells["ns"])
        width = min(self.WIDTH, 48.0 * columns)
        where = Box(MARGIN + self.LABELS, y + self.TITLE_ROOM, width, self.height_of(site))
        axes = page.axes(where)
        axes.pcolormesh(range(columns + 1), range(rows + 1), cells["ns"], **self.cells())
        axes.set_ylim(rows, 0)
        step = math.ceil(11 / self.row_height(site))
        axes.set_yticks([row + 0.5 for row in range(0, rows, step)], cells["ranks"][::step])
        axes.set_ylabel("rank")
        count = max(1, min(5, columns, int(width / 170)))
        ticks = in_order((columns - 1) * tick // max(count - 1, 1) for tick in range(count))
        starts = [readable_time(ns / 1e3) for ns in cells["first_arrival_ns"]]
        words = [f"operation {cells['first_call'][at]}, after {starts[at]}" for at in ticks]
        axes.set_xticks([at + 0.5 for at in ticks], words)
        for place, label in enumerate(axes.get_xticklabels()):
            label.set_ha("left" if place == 0 else "right" if place + 1 == count else "center")


def site_title(site: Row, ranks: int) -> str:
    some = f", ranks {list_ranks(site['ranks'])}" if site["team_size"] < ranks else ""
    return f"{site['call']}: {site['algorithm']}{some}"


def list_ranks(ranks: Sequence[int]) -> str:
    """`0-3, 5`"""
    starts = [at for at in range(len(ranks)) if at == 0 or ranks[at] != ranks[at - 1] + 1]
    ends = starts[1:] + [len(ranks)]
    return ", ".join(
        str(ranks[first]) if end - first == 1 else f"{ranks[first]}-{ranks[end - 1]}"
        for first, end in zip(starts, ends)
    )


def readable_factor(value: float) -> str:
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def site_summary(site: Row) -> str:
    calls = plural(site["calls"], "call")
    kept = f", {site['kept']} kept" if site["kept"] < site["calls"] else ""
    factors = [
        f"{name} {readable_factor(site[key]['mean'])}, at most {readable_factor(site[key]['most'])}"
        for name, key in (
            ("d/T", "average_case_imbalance_factor"),
            ("Δ/T", "worst_case_imbalance_factor"),
        )
    ]
    time = f"{readable_bytes(site['bytes'])}, T = {readable_time(site['message_time_ns'] / 1e3)}"
    in_call = readable_time(site["time_in_call_ns"] / 1e3)
    waiting = f"{in_call} in a call, {100 * site['waiting_share']:.0f} % of it waiting for the last"
    return "  ·  ".join([calls + kept, time, *factors, waiting])


# The command


def drawing_of(found: Any) -> Page:
    """The picture of what the JSON is of. Raises ValueError where that is nothing known."""
    if isinstance(found, dict):
        for key, kind in (("rules", SelectionTable), ("sites", Arrivals), ("points", Validation)):
            if key in found:
                return kind(found).draw()
    elif isinstance(found, list):
        if not found or "library" in found[0]:
            return Benchmark(found).draw()
        if "asked" in found[0]:
            return Simulation(found).draw()
    raise ValueError("expected what muster bench, sim, tune or arrivals writes as JSON")


def svg_of(page: Page) -> str:
    text = io.StringIO()
    metadata = {"Title": page.title, "Date": None, "Creator": "muster plot"}
    page.figure.savefig(text, format="svg", metadata=metadata)
    # A path in a line.
    return text.getvalue().replace(" \n", " ")


def html_of(page: Page) -> str:
    svg = svg_of(page)
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        "<style>body{margin:0;background:#fff}"
        "svg{display:block;margin:0 auto;max-width:100%;height:auto}</style></head>\n"
        f"<body>\n{svg[svg.index('<svg'):]}</body>\n</html>\n"
    )


def write(page: Page, file: pathlib.Path) -> None:
    """SVG, a page with it, or whatever else matplotlib writes, as the name says."""
    if file.suffix in (".html", ".htm"):
        file.write_text(html_of(page), "utf-8")
    elif file.suffix in (".svg", ""):
        file.write_text(svg_of(page), "utf-8")
    else:
        page.figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(prog="muster plot", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", metavar="FILE.json", help="what a command wrote; -: standard input")
    parser.add_argument("-o", metavar="FILE", dest="file", type=pathlib.Path,
                        help="the picture: .svg, .html, .png or .pdf (default: FILE.svg)")
    wanted = parser.parse_args()
    file = wanted.file or pathlib.Path(wanted.json).with_suffix(".svg")
    try:
        text = sys.stdin.read() if wanted.json == "-" else pathlib.Path(wanted.json).read_text("utf-8")
        write(drawing_of(json.loads(text)), file)
    except (OSError, ValueError) as why:
        sys.exit(f"muster plot: {wanted.json}: {why}")


if __name__ == "__main__":
    main()
