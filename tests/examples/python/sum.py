"""The sum of what all ranks have: blocking, and awaited beside something else. Alone, or started by `muster run`."""

# [sum]
import asyncio

import numpy

import muster

team = muster.world()  # the job that `muster run` started, or a team of one
mine = numpy.arange(4.0) + team.rank

total = team.allreduce(mine)  # blocks; a new array
team.allreduce(mine, out=mine, op=muster.MAX)  # in place


async def main():
    pending = team.aallreduce(total)  # begins now
    first, every = await asyncio.gather(team.abcast(mine), team.aallgather(team.rank))
    return await pending


result = asyncio.run(main())
# [sum end]
if team.rank == 0:
    print(f"{team.size} ranks, total {total.tolist()}, of totals {result.tolist()}")
