"""What muster bench measured: rows of libraries and algorithms, and what is read off them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from plot.read import COUNT, POSITIVE, TEXT, WHOLE, Row, check_size, fields, in_order, one_of, or_null
from plot.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, Style

LIBRARIES = {
    "muster": "Muster", "openmpi": "Open MPI", "openmpi_han": "Open MPI with HAN", "mpich": "MPICH", "gloo": "Gloo",
}
LIBRARY_STYLES = {
    "muster": {"color": VERMILION, "marker": "o", "linewidth": 2.6, "markersize": 7.5},
    "openmpi": {"color": BLUE, "marker": "s", "linewidth": 1.8, "markersize": 6.5},
    "openmpi_han": {"color": SKY, "marker": "D", "linewidth": 1.8, "markersize": 6},
    "mpich": {"color": PURPLE, "marker": "^", "linewidth": 1.8, "markersize": 7.5},
    "gloo": {"color": GREEN, "marker": "v", "linewidth": 1.8, "markersize": 7.5},
}

ROW = fields({
    "collective": TEXT, "library": one_of(LIBRARIES), "ranks": COUNT, "nodes": COUNT, "bytes": WHOLE,
    "median_us": or_null(POSITIVE),
}, {
    "asked": TEXT, "arrivals": TEXT, "type": TEXT, "offset": WHOLE, "ratio": POSITIVE, "to_first": POSITIVE,
    "limit_us": POSITIVE, "machine": TEXT, "date": TEXT, "version": TEXT,
})
FIGURES = fields({"p10_us": POSITIVE, "p90_us": POSITIVE})
LATE = fields({"seed": WHOLE})


def check_row(row: Any, where: str) -> None:
    ROW(row, where)
    check_size(row, where)
    if row["median_us"] is not None:
        FIGURES(row, where)
    if "arrivals" in row:
        LATE(row, where)


class Contender(NamedTuple):
    """A library, or Muster with an algorithm that was asked for."""

    library: str
    asked: str

    @property
    def title(self) -> str:
        return f"{LIBRARIES[self.library]} {self.asked}".rstrip()


def contender_of(row: Row) -> Contender:
    return Contender(row["library"], row.get("asked", ""))


def geometric_mean(values: Sequence[float]) -> float | None:
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


class Measured:
    """All rows that have figures."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = [row for row in rows if row["median_us"] is not None]
        everybody = in_order(map(contender_of, self.rows))
        self.ours = [who for who in everybody if who.library == "muster"]
        self.contenders = self.ours + [who for who in everybody if who.library != "muster"]
        self.several = len(self.ours) > 1
        self.figure = "ratio" if any("ratio" in row for row in self.rows) else "to_first"
        self.ranks = in_order(row["ranks"] for row in self.rows)
        self.collectives = in_order(row["collective"] for row in self.rows)
        self.sized = [what for what in self.collectives if what != "barrier"]
        self.with_barrier = "barrier" in self.collectives
        self.sizes = sorted({row["bytes"] for row in self.rows if row["bytes"] > 0})

    def any_has(self, key: str, value: Any) -> bool:
        return any(row.get(key) == value for row in self.rows)

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

    def style(self, who: Contender) -> Style:
        if not self.several or who.library != "muster":
            return dict(LIBRARY_STYLES[who.library])
        colours = [VERMILION, GREEN, ORANGE, SKY, "#6b6b6b", BLACK]
        place = self.ours.index(who)
        return LIBRARY_STYLES["muster"] | {
            "color": colours[place % len(colours)],
            "marker": "oD"[place % 2],
        }
