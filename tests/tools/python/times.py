"""How long calls take beside mpi4py's, in one program: medians of samples by turns. Under an MPI's launcher."""

import asyncio
import statistics
import time

import numpy
from mpi4py import MPI

import muster

communicator = MPI.COMM_WORLD
team = muster.world()
SAMPLES = 15


def sample(call, calls):
    team.barrier()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return 1e6 * (time.perf_counter() - begin) / calls


async def awaited_sample(call, calls):
    team.barrier()
    begin = time.perf_counter()
    for _ in range(calls):
        await call()
    return 1e6 * (time.perf_counter() - begin) / calls


async def main():
    for bytes_ in (8, 8192, 1 << 20):
        mine, total = numpy.ones(bytes_ // 8), numpy.ones(bytes_ // 8)
        calls = 400 if bytes_ < 1 << 20 else 20
        took = {"mpi4py": [], "muster": [], "muster, awaited": []}
        for _ in range(SAMPLES):
            took["mpi4py"].append(sample(lambda: communicator.Allreduce(mine, total), calls))
            took["muster"].append(sample(lambda: team.allreduce(mine, total), calls))
            took["muster, awaited"].append(await awaited_sample(lambda: team.aallreduce(mine, total), calls))
        if team.rank == 0:
            print(f"{bytes_:8} bytes:", ", ".join(f"{who} {statistics.median(of):.1f} us" for who, of in took.items()))


asyncio.run(main())
