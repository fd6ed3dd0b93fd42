"""What muster sim --validate compared."""

from __future__ import annotations

from matplotlib.axes import Axes

from plot.axes import decimal_ticks, set_log_axis
from plot.page import MARGIN, Box, Legend, Page
from plot.read import COUNT, POSITIVE, TEXT, Row, entries, fields, in_order
from plot.style import DARK, HEAD, NAME, Style, series_style
from plot.words import time_label

POINT = fields({"collective": TEXT, "ranks": COUNT, "measured_us": POSITIVE, "predicted_us": POSITIVE})


class Validation:
    """Predicted against measured, a panel a number of ranks: on the diagonal the two agree."""

    EXPECTED = fields({"points": entries(POINT)}, {"machine": TEXT})
    SIZE, GAP, TOP = 340.0, 70.0, 96.0

    def __init__(self, whole: Row) -> None:
        self.rows = whole["points"]
        self.machine = whole.get("machine", "")
        self.ranks = sorted({row["ranks"] for row in self.rows})
        times = [row[key] for row in self.rows for key in ("measured_us", "predicted_us")] or [1]
        self.least, self.most = min(times) / 1.5, max(times) * 1.5
        self.collectives = in_order(row["collective"] for row in self.rows)

    def style(self, collective: str) -> Style:
        place = self.collectives.index(collective)
        return series_style(place) | {"markersize": 8, "linestyle": "none", "alpha": 0.85}

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
