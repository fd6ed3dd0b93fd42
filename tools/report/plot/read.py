"""Rows of JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]


def in_order(values: Iterable[Any]) -> list[Any]:
    """Each once, as they first appear."""
    return list(dict.fromkeys(values))
