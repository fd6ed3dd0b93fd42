"""The job that this process is a rank of."""

import asyncio
import atexit
import os
import threading

from ._library import Error, InvalidArgument, ffi, lib, require
from ._loop import Driver
from ._operation import run
from ._team import Team


class Alone:
    """Who is in the library: one at a time. Drivers that sleep are told when somebody else was there."""

    def __init__(self):
        self._lock = threading.Lock()
        self._to_tell = set()

    def __enter__(self):
        if not self._lock.acquire(False):
            raise InvalidArgument("muster: called while another call of Muster is under way; expected one at a time")

    def __exit__(self, *_):
        self.leave()

    def leave(self):
        self._lock.release()
        if self._to_tell:  # whoever found it locked is here: it asks first to be told
            told, self._to_tell = self._to_tell, set()
            for driver in told:
                driver.wake_from_anywhere()

    def enter_or_be_told(self, driver):
        self._to_tell.add(driver)
        if not self._lock.acquire(blocking=False):
            return False
        self._to_tell.discard(driver)
        return True

    def tell_afterwards(self, driver):
        self._to_tell.add(driver)


class World:
    """The job, and what drives its operations."""

    def __init__(self, pointer):
        self.pointer = pointer
        self.alone = Alone()
        self._teams = []
        descriptor = ffi.new("int *")
        require(lib.muster_descriptor(self.pointer, descriptor))
        self.descriptor = descriptor[0]
        self._drivers = {}  # loop -> driver
        self.team = Team(self, self.pointer)
        self._teams.append(self.team)
        atexit.register(self.leave)
        os.register_at_fork(after_in_child=self._be_no_rank)

    def _be_no_rank(self):
        """In a process that this one has forked: the job is not left, nor touched."""
        self._give_up_teams()
        self.pointer = None

    def _give_up_teams(self):
        for team in self._teams:
            team.become_free()

    def adopt(self, pointer):
        team = Team(self, pointer)
        self._teams.append(team)
        return team

    def forget(self, team):
        self._teams.remove(team)

    def run(self, operation):
        return run(self, operation)

    def start(self, operation):
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError("muster: there is no running event loop; expected a call in a coroutine of asyncio, or of "
                               "the form without `a`, which blocks") from None
        driver = self._drivers.get(loop)
        if driver is None:
            self._drivers = {each: of for each, of in self._drivers.items() if not of.is_over()}
            driver = self._drivers[loop] = Driver(self, loop)
        return driver.start(operation)

    def leave(self):
        """Leaves the job. What is pending ends; no team can be used any more."""
        if self.pointer is None:
            return
        with self.alone:
            for driver in self._drivers.values():
                driver.stop()
            self._give_up_teams()
            pointer, self.pointer = self.pointer, None
            require(lib.muster_finalize(pointer))
        atexit.unregister(self.leave)


_joined = None


def _allgather_of(connected):
    """What another library connects the processes by, as a function of C; and where its failure is kept."""
    failures = []

    def allgather(_, mine, everybody, length):
        try:
            parts = connected.allgather(ffi.buffer(mine, length)[:])
            ffi.buffer(everybody, length * len(parts))[:] = b"".join(parts)
        except BaseException as why:
            failures.append(why)
            return 1
        return 0

    return ffi.callback("muster_allgather_function", allgather), failures


def _joined_by(join):
    team = ffi.new("muster_team **")
    require(join(team))
    return team[0]


def init(connected=None):
    """Joins the job that `muster run` or another launcher started this process in, once in a process; its team.

    A process that nobody started as a rank is a team of one. `connected` is for processes of one machine that
    something else has connected, such as `mpi4py.MPI.COMM_WORLD`: it has `rank`, `size`, and `allgather(bytes)`.
    """
    global _joined
    if _joined is not None:
        raise InvalidArgument("init: called again; expected once in a process")
    if connected is None:
        _joined = World(_joined_by(lib.muster_init))
        return _joined.team
    function, failures = _allgather_of(connected)
    try:
        _joined = World(
            _joined_by(lambda team: lib.muster_init_with(connected.rank, connected.size, function, ffi.NULL, team)))
    except Error:
        if failures:
            raise failures[0] from None
        raise
    return _joined.team


def rejoin():
    """In a process that `muster run --respawn` has started in the place of a rank that failed: the team that the other
    ranks get from `grow`, once all have called it. Else None: the process calls `init`.
    """
    global _joined
    if _joined is not None:
        raise InvalidArgument("rejoin: called after joining the job; expected once in a process, before init")
    pointer = _joined_by(lib.muster_rejoin)
    if pointer == ffi.NULL:
        return None
    _joined = World(pointer)
    return _joined.team


def world():
    """The team of all ranks of the job; joins that where `init` has not."""
    return init() if _joined is None else _joined.team


def finalize():
    """Leaves the job, before the process ends: what is pending ends, and no team can be used any more."""
    if _joined is not None:
        _joined.leave()
