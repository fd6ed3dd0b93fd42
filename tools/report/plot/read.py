"""Whether JSON has what a picture needs; of the first thing that is amiss, where it stands, what it
is and what was expected. A picture says what it needs of checks such as

    fields({"ranks": COUNT, "us": or_null(POSITIVE)}, {"machine": TEXT})

whose second half may be missing from it. A check raises ValueError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

Row = dict[str, Any]
Check = Callable[[Any, str], None]

UNPRINTED = re.compile("[\x00-\x1f\ud800-\udfff\ufffe\uffff]")  # SVG cannot have them
MISSING = object()


class Expected(NamedTuple):
    """A check of one value."""

    words: str
    holds: Callable[[Any], bool]

    def __call__(self, value: Any, where: str) -> None:
        if not self.holds(value):
            raise ValueError(f"{where} is {shown(value)}; expected {self.words}")


def shown(value: Any) -> str:
    """On one line, and not too long."""
    words = "missing" if value is MISSING else json.dumps(value)
    return words if len(words) <= 60 else words[:57] + "..."


def inside(where: str, what: str) -> str:
    return f"{where}: {what}" if where else what


def is_number(value: Any) -> bool:
    """That matplotlib draws."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**63


def is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**64


OBJECT = Expected("an object", lambda value: isinstance(value, dict))
LIST = Expected("a list", lambda value: isinstance(value, list))
TEXT = Expected("a text without control characters",
                lambda value: isinstance(value, str) and not UNPRINTED.search(value))
NUMBER = Expected("a number below 2^63", is_number)
POSITIVE = Expected("a number above 0 and below 2^63", lambda value: is_number(value) and value > 0)
WHOLE = Expected("a whole number from 0 on, below 2^64", lambda value: is_whole(value, 0))
COUNT = Expected("a whole number from 1 on, below 2^64", lambda value: is_whole(value, 1))


def or_null(check: Expected) -> Expected:
    return Expected(f"{check.words}, or null", lambda value: value is None or check.holds(value))


def one_of(words: Iterable[str]) -> Expected:
    known = tuple(words)
    return Expected(f"one of {', '.join(known)}", lambda value: value in known)


def fields(needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Of an object; it may have others, too."""

    def check(value: Any, where: str) -> None:
        OBJECT(value, where)
        for key, check_field in needed.items():
            check_field(value.get(key, MISSING), inside(where, key))
        for key, check_field in (optional or {}).items():
            if key in value:
                check_field(value[key], inside(where, key))

    return check


def exactly(number: int) -> Expected:
    return Expected(str(number), lambda value: value == number)


def entries(check_entry: Check, count: Expected = WHOLE) -> Check:
    """Of a list, which has so many."""

    def check(value: Any, where: str) -> None:
        LIST(value, where)
        count(len(value), inside(where, "number of entries"))
        for number, entry in enumerate(value, 1):
            check_entry(entry, inside(where, f"entry {number}"))

    return check


def check_size(row: Row, where: str) -> None:
    """Only a barrier has none."""
    if row["collective"] != "barrier":
        COUNT(row["bytes"], inside(where, "bytes"))


def in_order(values: Iterable[Any]) -> list[Any]:
    """Each once, as they first appear."""
    return list(dict.fromkeys(values))
