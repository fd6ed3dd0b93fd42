"""A rank is killed and started again: the others grow with it, awaiting that or blocked, and all go on."""

import asyncio
import os
import signal
import sys

import muster
from checks import require

awaits = sys.argv[1] == "awaits"
rejoined = muster.rejoin()
team = rejoined or muster.init()
size = team.size


async def call(on, name, *arguments):
    return await getattr(on, "a" + name)(*arguments) if awaits else getattr(on, name)(*arguments)


async def main():
    now = team
    if rejoined is None:
        if team.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            while True:
                await call(team, "barrier")
        except muster.RankDied as why:
            require(why.rank == 1, f"rank {why.rank}: {why}")
        now = await call(team, "grow")
    require((now.rank, now.size) == (team.rank, size), "place")
    require(await call(now, "allreduce", now.rank) == size * (size - 1) // 2, "sum")


asyncio.run(main())
require(muster.world() is team, "world")
print("all right")
