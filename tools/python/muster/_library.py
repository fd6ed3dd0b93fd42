"""The C library: its functions, and its errors as exceptions."""

import pathlib

from ._declarations import ffi
from ._version import LIBRARY, VERSION


def _load():
    """Beside this package, as in a build; in the prefix that it is installed in; or where the loader looks."""
    here = pathlib.Path(__file__).absolute()  # what is a link to it has another beside it
    for place in (here.parent, here.parents[3]):
        if (place / LIBRARY).exists():
            return ffi.dlopen(str(place / LIBRARY))
    return ffi.dlopen(LIBRARY)


lib = _load()
IN_PLACE_POINTER = ffi.cast("void *", 1)


def text(words):
    return ffi.string(words).decode(errors="replace")


if text(lib.muster_version()) != VERSION:
    raise ImportError(f"muster: {LIBRARY} is of version {text(lib.muster_version())}; expected {VERSION}")


class Error(Exception):
    """Why a call of Muster did not succeed; `rank` is the rank at fault, None where there is no single one."""

    def __init__(self, words, rank=None):
        super().__init__(words)
        self.rank = rank


class InvalidArgument(Error, ValueError):
    """An argument is outside what the call accepts; nothing was sent, and the team is whole."""


class MismatchedCall(Error):
    """Ranks of one team called different collectives, sizes, types or roots."""


class RankDied(Error):
    """The process of a rank ended abnormally."""


class RankLeft(Error):
    """A rank ended normally without taking part in the operation."""


class Stopped(Error):
    """The operation was canceled, or its team freed."""


class DeadlineExceeded(Error, TimeoutError):
    """A deadline passed before the operation completed."""


class BootstrapError(Error):
    """The job could not be joined, or its memory could not be mapped."""


class ResourceError(Error):
    """Memory or another resource of the system ran out."""


_BY_CODE = {
    lib.MUSTER_INVALID_ARGUMENT: InvalidArgument,
    lib.MUSTER_MISMATCHED_CALL: MismatchedCall,
    lib.MUSTER_RANK_DIED: RankDied,
    lib.MUSTER_RANK_LEFT: RankLeft,
    lib.MUSTER_STOPPED: Stopped,
    lib.MUSTER_DEADLINE_EXCEEDED: DeadlineExceeded,
    lib.MUSTER_BOOTSTRAP: BootstrapError,
    lib.MUSTER_RESOURCE: ResourceError,
}


def error(code):
    """The exception of the call that has just failed on this thread."""
    rank = lib.muster_error_rank()
    return _BY_CODE.get(code, Error)(text(lib.muster_error_text()), None if rank < 0 else rank)


def require(code):
    if code != 0:
        raise error(code)
