"""What muster tune wrote: selection tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from plot.page import MARGIN, Box, Page, width_of
from plot.read import TEXT, Expected, Row, entries, fields, in_order, is_whole
from plot.style import DARK, HEAD, NAME, SMALL
from plot.words import readable_bytes


def is_range(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not is_whole(value[0], 0):
        return False
    return value[1] is None or is_whole(value[1], value[0])


RANGE = Expected("[first, last], where null is no end", is_range)
RULE = fields({"collective": TEXT, "algorithm": TEXT}, {"nodes": RANGE, "ranks_a_node": RANGE, "bytes": RANGE})


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

    EXPECTED = fields({"rules": entries(RULE)}, {"measured": TEXT})
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
    axes.add_patch(Rectangle(
        (first, row), end - first, 1, facecolor=colour, edgecolor="white", linewidth=1))
    room = (end - first) * SelectionTable.COLUMN - 6
    size = min(9.0, 9.0 * room / max(width_of(words, 9), 1))
    axes.text((first + end) / 2, row + 0.5, words, size=size, color=DARK, ha="center", va="center")
