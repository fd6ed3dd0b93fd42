"""An operation: begun at once, then waited for in one of two ways."""

import functools

from ._library import error, ffi, lib, require


_REQUEST = ffi.typeof("muster_request *")
_DONE = ffi.new("int *")  # of whoever is in the library


class Operation:
    """What a call has been made into: `begin(request)` begins it, `result` is what it gives."""

    __slots__ = ("begin", "keep", "request", "result", "team")

    def __init__(self, team, begin, keep, result=lambda: None):
        self.team = team
        self.begin = begin
        self.keep = keep  # buffers, until the end
        self.result = result
        self.request = ffi.new(_REQUEST)

    def start(self):
        require(self.begin(self.request))

    def ended(self, nanoseconds):
        """Whether it has ended, after so long at most. Throws what it ended with."""
        code = lib.muster_timedwait(self.request, nanoseconds, _DONE)
        if code != 0:
            raise error(code)
        return _DONE[0] != 0

    def stop(self):
        """Ends it, so that nobody uses its buffers any more; how it ended is lost."""
        lib.muster_cancel(self.request[0])
        lib.muster_wait(self.request)


# Between two looks at what the interpreter has to do, such as a signal's handler.
TURN_NS = 100_000_000


def run(world, operation):
    """Blocks until the end; its result."""
    with world.alone:
        operation.start()
        wait(operation)
        return operation.result()


def wait(operation):
    """Blocks until the end, for whoever is in the library."""
    try:
        while not operation.ended(TURN_NS):
            pass
    except BaseException:
        operation.stop()  # a request that has ended is NULL
        raise


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
