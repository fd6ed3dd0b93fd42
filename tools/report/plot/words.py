"""Figures as people read them."""

from __future__ import annotations

from collections.abc import Sequence


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


def readable_factor(value: float) -> str:
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def plural(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def list_of(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def list_ranks(ranks: Sequence[int]) -> str:
    """`0-3, 5`"""
    starts = [at for at in range(len(ranks)) if at == 0 or ranks[at] != ranks[at - 1] + 1]
    ends = starts[1:] + [len(ranks)]
    return ", ".join(
        str(ranks[first]) if end - first == 1 else f"{ranks[first]}-{ranks[end - 1]}"
        for first, end in zip(starts, ends)
    )
