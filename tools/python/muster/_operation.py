"""An operation: begun at once, then waited for in one of two ways."""

import functools

from ._library import error, ffi, lib


_REQUEST = ffi.typeof("muster_request *")
_DONE = ffi.new("int *")  # of whoever is in the library
_timedwait = lib.muster_timedwait


# Between two looks at what the interpreter has to do, such as a signal's handler.
TURN_NS = 100_000_000


class Operation:
    """What a call has been made into: `begin` of the library, with its arguments.

    `keep` holds what these point to until the end. `out` is the buffer that the call gives, None where it gives none.
    """

    __slots__ = ("arguments", "begin", "call", "is_number", "keep", "out", "request", "team")

    def __init__(self, team, call, begin, arguments, keep=None, out=None, is_number=False):
        self.team = team
        self.call = call
        self.begin = begin
        self.arguments = arguments
        self.keep = keep
        self.out = out
        self.is_number = is_number
        self.request = ffi.new(_REQUEST)

    def start(self):
        code = self.begin(self.team._require_whole(self.call), *self.arguments, self.request)
        if code != 0:
            raise error(code)

    def is_under_way(self):
        return bool(self.request[0])

    def ended(self, nanoseconds):
        """Whether it has ended, after so long at most. Throws what it ended with."""
        code = _timedwait(self.request, nanoseconds, _DONE)
        if code != 0:
            raise error(code)
        return _DONE[0] != 0

    def wait(self):
        """Blocks until the end, for whoever is in the library."""
        try:
            while not self.ended(TURN_NS):
                pass
        except BaseException:
            self.stop()  # a request that has ended is NULL
            raise
        return True

    def stop(self):
        """Ends it, so that nobody uses its buffers any more; how it ended is lost."""
        lib.muster_cancel(self.request[0])
        lib.muster_wait(self.request)

    def result(self):
        if self.out is None:
            return None
        return self.out.given[()].item() if self.is_number else self.out.given


def run(world, operation):
    """Blocks until the end; its result."""
    with world.alone:
        operation.start()
        operation.wait()
        return operation.result()


def collective(method):
    """Marks a method that makes a call into an operation."""
    method.is_collective = True
    return method


def with_both_forms(cls):
    """Makes of each such method two: one that blocks, and one with an `a` before its name, to be awaited."""
    for name, method in list(vars(cls).items()):
        if getattr(method, "is_collective", False):
            setattr(cls, name, _blocking(method))
            setattr(cls, "a" + name, _awaited(name, method))
    return cls


def _blocking(method):
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        return run(self._world, method(self, *args, **kwargs))

    return call


def _awaited(name, method):
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        return self._world.start(method(self, *args, **kwargs))

    call.__name__ = "a" + name
    call.__qualname__ = f"Team.a{name}"
    call.__doc__ = f"Begins `{name}` now; awaited, in asyncio, it gives what that gives."
    return call
