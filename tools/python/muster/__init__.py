"""Muster: collectives that block, and ones that asyncio awaits.

    import muster

    team = muster.world()                  # the job that `muster run` started, or a team of one
    total = team.allreduce(a)              # blocks
    total = await team.aallreduce(a)       # does not; no thread, and no polling

`help(muster.Team)` has all collectives.
"""

from ._arguments import InArrivalOrder as in_arrival_order
from ._arguments import Op
from ._buffers import IN_PLACE
from ._library import (BootstrapError, DeadlineExceeded, Error, InvalidArgument, MismatchedCall, RankDied, RankLeft,
                       ResourceError, Stopped)
from ._team import Team
from ._version import VERSION as __version__
from ._world import finalize, init, rejoin, world

for _each in (Error, InvalidArgument, MismatchedCall, RankDied, RankLeft, Stopped, DeadlineExceeded, BootstrapError,
              ResourceError, Op, Team):
    _each.__module__ = __name__  # where a program finds it, and what a traceback says

SUM, PRODUCT, MIN, MAX = Op.SUM, Op.PRODUCT, Op.MIN, Op.MAX
LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR = Op.LOGICAL_AND, Op.LOGICAL_OR, Op.LOGICAL_XOR
BIT_AND, BIT_OR, BIT_XOR = Op.BIT_AND, Op.BIT_OR, Op.BIT_XOR
