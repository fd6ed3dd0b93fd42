"""What muster bench measured: the page, and what is said around its panels."""

from __future__ import annotations

from collections.abc import Sequence

from plot.bench_means import draw_means
from plot.bench_panels import LIMIT, Panels
from plot.bench_rows import Measured, check_row
from plot.page import MARGIN, PANEL, Box, Legend, Page, width_of
from plot.read import Row, entries, in_order
from plot.style import AHEAD, BEHIND, DARK, HEAD, STRONG
from plot.words import list_of


class Benchmark:
    """Panels of time against size with the ratio below, a collective and rank count each; barriers
    as bars; and the geometric means of the ratio."""

    EXPECTED = entries(check_row)
    CELL_HEIGHT = 368.0

    def __init__(self, rows: Sequence[Row]) -> None:
        self.measured = Measured(rows)
        self.rows = self.measured.rows

    def title(self) -> str:
        found = self.measured
        if not found.contenders:
            return "Nothing measured"
        nodes = max(row["nodes"] for row in self.rows)
        ours = ["Muster" + (f" on {nodes} nodes" if nodes > 1 else "")] if found.ours else []
        peers = [who.title for who in found.contenders if who.library != "muster"]
        return " beside ".join(ours + ([list_of(peers)] if peers else []))

    def conditions(self) -> str:
        """How ranks came late, and what else is not as usual."""
        words = []
        if self.rows and "arrivals" in self.rows[0]:
            words.append("arrivals {arrivals}, seed {seed}".format(**self.rows[0]))
        if self.measured.any_has("loop", "barrier"):
            words.append("between barriers")
        words += in_order(row["type"] for row in self.rows if row.get("type", "double") != "double")
        if self.measured.any_has("buffers", "same"):
            words.append("same buffers")
        words += in_order(f"buffers {row['offset']} bytes off" for row in self.rows if "offset" in row)
        if self.measured.any_has("excluded", True):
            words.append("left to the MPI")
        if self.measured.any_has("torch", True):
            words.append("in torch")
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
        if not self.measured.several:
            ratios = "Bars: the better peer's median over Muster's; above 1 (teal) Muster is faster."
        elif self.measured.figure == "ratio":
            ratios = "Ratios: the better peer's median over the algorithm's; above 1 Muster is faster."
        else:
            ratios = "Ratios: the first algorithm's median over the other's; above 1 the other is faster."
        same = self.measured.any_has("buffers", "same")
        buffers = "on the same, unchanged buffers" if same else "on rotating, changing buffers"
        if self.rows and "arrivals" in self.rows[0]:
            times = "from a rank's own arrival, after its delay, until its call is done; the mean over calls and ranks."
        elif self.measured.any_has("loop", "barrier"):
            times = f"of the call alone, a barrier before each, {buffers}; the mean over calls and ranks."
        else:
            times = f"the mean over back-to-back calls {buffers}; the slowest rank counts."
        return ["Lines: medians; bands: 10th to 90th percentile. " + ratios, "Times: " + times]

    def legend(self, right: float) -> Legend:
        found = self.measured
        entries = []
        for who in found.contenders:
            mean = found.mean(asked=who.asked) if found.several and who in found.ours else None
            entries.append((who.title + (f" {mean:.2f}×" if mean else ""), found.style(who)))
        if any("limit_us" in row for row in self.rows):
            entries.append(("about the least this machine allows", dict(LIMIT)))
        return Legend(entries, MARGIN, right)

    def draw(self) -> Page:
        found = self.measured
        by_ranks = len(found.ranks) > 1
        cells = len(found.sized) + found.with_barrier
        columns = max(len(found.ranks), 3) if by_ranks else min(max(cells, 2), 3)
        lines = len(found.sized) if by_ranks else -(-cells // columns)
        last = by_ranks and (found.with_barrier or found.mean() is not None)
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
            [(what, ranks) for what in found.sized for ranks in found.ranks]
            if by_ranks
            else [(what, found.ranks[0]) for what in found.sized]
        )
        across = len(found.ranks) if by_ranks else columns
        panels = Panels(found, page)
        for number, (what, ranks) in enumerate(places):
            panels.draw_sized(cell(number // across, number % across), what, ranks)
        if found.with_barrier:
            at = (lines, 0) if by_ranks else divmod(len(places), columns)
            panels.draw_barriers(cell(*at))
        if last and found.mean() is not None:
            draw_means(page, cell(lines, int(found.with_barrier))._replace(width=2 * PANEL), found)
        return page

    def draw_header(self, page: Page, conditions: str) -> None:
        page.text(MARGIN, 44, self.title(), size=HEAD, weight="bold", color=DARK)
        page.text(MARGIN, 66, self.context())
        right = page.width - MARGIN
        page.text(right, 94, conditions, size=STRONG, color=DARK, ha="right")
        overall = self.measured.mean_of_panel()
        if overall is None:
            return
        colour = AHEAD if overall >= 1 else BEHIND
        page.text(right, 46, f"{overall:.2f}×", size=HEAD, weight="bold", color=colour, ha="right")
        page.text(right, 66, "the better peer's time over Muster's, geometric mean", ha="right")
