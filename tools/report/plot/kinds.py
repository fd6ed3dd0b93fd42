"""Which picture JSON is for."""

from __future__ import annotations

from typing import Any, NamedTuple

from plot.arrivals import Arrivals
from plot.bench import Benchmark
from plot.page import Page
from plot.sim import Simulation
from plot.tune import SelectionTable
from plot.validate import Validation


class Kind(NamedTuple):
    """A picture, and the key by which its JSON is known."""

    key: str
    picture: type


# Of an object; and of a list's entries, where those of muster bench may have both keys.
OBJECTS = (Kind("rules", SelectionTable), Kind("sites", Arrivals), Kind("points", Validation))
LISTS = (Kind("library", Benchmark), Kind("asked", Simulation))


def picture_of(found: Any) -> type | None:
    """None where it is nothing known."""
    if isinstance(found, dict):
        return next((kind.picture for kind in OBJECTS if kind.key in found), None)
    if isinstance(found, list):
        keys = {key for entry in found if isinstance(entry, dict) for key in entry}
        return next((kind.picture for kind in LISTS if kind.key in keys or not found), None)
    return None


def drawing_of(found: Any) -> Page:
    """Raises ValueError where that is nothing known, or has not what its picture needs."""
    picture = picture_of(found)
    if picture is None:
        raise ValueError("expected what muster bench, sim, tune or arrivals writes as JSON")
    picture.EXPECTED(found, "")
    return picture(found).draw()
