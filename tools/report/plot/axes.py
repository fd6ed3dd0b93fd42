"""Scales of time, of size, and of whatever else is logarithmic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from plot.page import AXIS_ROOM, panel_width
from plot.words import readable_bytes, time_label

WHOLE_MESSAGES = {"bcast", "reduce", "allreduce", "scan", "exscan"}


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
    axes.set_xlabel("size of the message" if collective in WHOLE_MESSAGES else "size of one rank's block")
