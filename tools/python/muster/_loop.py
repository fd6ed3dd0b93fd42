"""How an event loop of asyncio drives operations: without a thread, and without looking for long."""

import asyncio

from ._library import Stopped, ffi, lib, require

# What the loop waits while an operation may end at once, which saves two of its turns and a sleep.
LOOK_NS = 20_000


class Future(asyncio.Future):
    """Of an operation. Canceled, it stops that before anybody hears of it: then the buffers may be changed."""

    def __init__(self, driver, loop):
        super().__init__(loop=loop)
        self._driver = driver

    def cancel(self, msg=None):
        if not super().cancel(msg):
            return False
        self._driver.drop(self)  # its operation, if there is one still
        return True


def _tell_stopped(future):
    if not future.done():
        future.set_exception(Stopped("finalize: the job was left before the operation had ended"))


class Driver:
    """Waits for the library's descriptor while an operation is pending, and then only."""

    def __init__(self, world, loop):
        self._world = world
        self._loop = loop
        self._pending = {}  # future -> operation
        self._to_stop = []
        self._turn_soon = None
        self._turn_later = None
        self._descriptor = None
        self._timeout = ffi.new("int *")

    def start(self, operation):
        future = Future(self, self._loop)
        with self._world.alone:
            operation.start()
            look_ns = 0 if self._pending else LOOK_NS
            self._pending[future] = operation
            self._settle(future, operation, look_ns)
        if not future.done():
            self.wake()
        return future

    def is_over(self):
        """Whether nothing of it is needed any more."""
        return self._loop.is_closed() and not self._pending

    def _settle(self, future, operation, look_ns):
        """Tells the future, if the operation ends within that time."""
        try:
            if not operation.ended(look_ns):
                return
            result, why = operation.result(), None
        except Exception as failure:
            result, why = None, failure
        del self._pending[future]
        if why is None:
            future.set_result(result)
        else:
            future.set_exception(why)

    def drop(self, future):
        """Stops the operation of a future that was canceled; where another thread is in the library, after that."""
        operation = self._pending.pop(future, None)
        if operation is not None:
            self._to_stop.append(operation)
            self._turn()

    def wake(self):
        if self._turn_soon is None:
            self._turn_soon = self._loop.call_soon(self._turn)

    def wake_from_anywhere(self):
        """The descriptor tells nothing any more, since another call was made."""
        if asyncio._get_running_loop() is self._loop:
            self.wake()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.wake)

    def _turn(self):
        if self._turn_soon is not None:
            self._turn_soon.cancel()
            self._turn_soon = None
        self._end_sleep()
        if not self._world.alone.enter_or_be_told(self):
            return
        try:
            self._look()
            has_moved = bool(self._pending) and self._timeout[0] == 0
        finally:
            self._world.alone.leave()
        if has_moved:
            self.wake()
        elif self._pending:
            self._sleep(self._timeout[0])

    def _look(self):
        while self._to_stop:
            self._to_stop.pop().stop()
        look_ns = LOOK_NS  # once: all of them get on meanwhile
        for future, operation in list(self._pending.items()):
            self._settle(future, operation, look_ns)
            look_ns = 0
        if self._pending:
            require(lib.muster_arm(self._world.pointer, self._timeout))

    def _sleep(self, milliseconds):
        self._world.alone.tell_afterwards(self)
        self._descriptor = self._world.descriptor
        self._loop.add_reader(self._descriptor, self._turn)
        if milliseconds > 0:
            self._turn_later = self._loop.call_later(milliseconds / 1000, self._turn)

    def _end_sleep(self):
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            self._descriptor = None
        if self._turn_later is not None:
            self._turn_later.cancel()
            self._turn_later = None

    def stop(self):
        """Before the job is left: everything ends, and who awaits it hears of that."""
        for operation in [*self._to_stop, *self._pending.values()]:
            operation.stop()
        if not self._loop.is_closed():
            for future in self._pending:
                self._loop.call_soon_threadsafe(_tell_stopped, future)
        self._to_stop.clear()
        self._pending.clear()
