"""What muster sim found."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from plot.axes import place_of, set_size_axis, set_time_axis
from plot.page import AXIS_ROOM, MARGIN, PANEL, Box, Legend, Page, panel_width
from plot.read import COUNT, POSITIVE, TEXT, WHOLE, Row, check_size, entries, fields, in_order, or_null
from plot.style import DARK, HEAD, NAME, ORANGE, SMALL, STRONG, Style, series_style
from plot.words import plural, readable_time

ROW = fields({
    "collective": TEXT, "asked": TEXT, "machine": TEXT, "nodes": COUNT, "ranks_a_node": COUNT, "bytes": WHOLE,
    "calls": COUNT, "seed": WHOLE, "arrivals": or_null(TEXT), "median_us": or_null(POSITIVE),
})


def check_row(row: Row, where: str) -> None:
    ROW(row, where)
    check_size(row, where)


class Simulation:
    """A panel a collective, of time against size, with a line an algorithm; barriers as bars."""

    EXPECTED = entries(check_row)
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

    def style(self, name: str) -> Style:
        if name == "auto" and len(self.names) > 1:
            return {"color": ORANGE, "linewidth": 7, "alpha": 0.4, "marker": "o", "markersize": 12}
        place = [one for one in self.names if one != "auto"].index(name) if name != "auto" else 0
        return series_style(place) | {"linewidth": 2, "markersize": 7}

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
