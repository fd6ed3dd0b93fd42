"""What muster arrivals found."""

from __future__ import annotations

import math
from typing import Any

from matplotlib import colors

from plot.axes import decimal_ticks, set_log_axis
from plot.page import MARGIN, Box, Page
from plot.read import COUNT, NUMBER, OBJECT, TEXT, WHOLE, Row, entries, exactly, fields, in_order
from plot.style import DARK, HEAD, NAME, SMALL, Style
from plot.words import list_ranks, plural, readable_bytes, readable_factor, readable_time, time_label

FACTOR = fields({"mean": NUMBER, "most": NUMBER})


def check_lateness(value: Any, where: str) -> None:
    """A row a rank or several, a column a call or several."""
    sides = {"ranks": entries(TEXT, COUNT), "first_call": entries(WHOLE, COUNT)}
    fields(sides)(value, where)
    rows, columns = (exactly(len(value[side])) for side in sides)
    fields({
        "first_arrival_ns": entries(NUMBER, columns),
        "ns": entries(entries(NUMBER, columns), rows),
    })(value, where)


SITE = fields({
    "call": TEXT, "algorithm": TEXT, "team_size": WHOLE, "ranks": entries(WHOLE), "calls": WHOLE, "kept": WHOLE,
    "bytes": WHOLE, "message_time_ns": NUMBER, "average_case_imbalance_factor": FACTOR,
    "worst_case_imbalance_factor": FACTOR, "time_in_call_ns": NUMBER, "waiting_share": NUMBER,
    "lateness": check_lateness,
})


def is_drawn(site: Row) -> bool:
    """Not without a record, nor behind the first few."""
    return "lateness" in site


def check_site(site: Any, where: str) -> None:
    OBJECT(site, where)
    if is_drawn(site):
        SITE(site, where)


class Arrivals:
    """Who came when: calls from left to right, a row a rank, the darker the later behind the first."""

    EXPECTED = fields({"ranks": WHOLE, "sites": entries(check_site)})
    WIDTH, LABELS, TITLE_ROOM, BELOW = 960.0, 60.0, 44.0, 56.0
    ON_TIME = "#f6f8fa"

    def __init__(self, whole: Row) -> None:
        self.ranks = whole["ranks"]
        self.sites = [site for site in whole["sites"] if is_drawn(site)]
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

    def cells(self) -> Style:
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
