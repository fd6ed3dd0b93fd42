"""Muster and an MPI in one program, by turns and at once, under the MPI's launcher.

usage: beside_mpi4py.py launcher | communicator   (how the ranks of Muster meet)
"""

import asyncio
import sys

import numpy
from mpi4py import MPI

import muster
from checks import raises, require, same

communicator = MPI.COMM_WORLD
if sys.argv[1] == "communicator":
    raises(AttributeError, "rank", muster.init, object())

    class refuses:
        rank, size = 0, 2

        def allgather(self, _):
            raise KeyError("mine")

    raises(KeyError, "mine", muster.init, refuses())
    team = muster.init(communicator)
else:
    team = muster.world()
RANK, SIZE = team.rank, team.size
require((RANK, SIZE) == (communicator.rank, communicator.size), f"{team} of {communicator.rank} of {communicator.size}")


async def main():
    for i in range(50):
        mine = numpy.full(1000, RANK + i)
        by_mpi = numpy.zeros_like(mine)
        pending = team.aallreduce(mine)
        communicator.Allreduce(mine, by_mpi)
        same(await pending, by_mpi, "as the MPI's")
        request = communicator.Iallreduce(MPI.IN_PLACE, mine)
        await team.abarrier()
        request.Wait()
        same(mine, by_mpi, "the MPI's, while a barrier was awaited")


asyncio.run(main())
same(team.allgather(RANK), numpy.array(communicator.allgather(RANK)), "blocking")
muster.finalize()
communicator.Barrier()
print(f"rank {RANK}, all right", flush=True)
