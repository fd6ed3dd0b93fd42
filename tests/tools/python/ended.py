"""One rank ends, the others hear how and go on. The ranks are processes that this program has made and connected.

usage: ended.py killed | exits | raises   (what becomes of rank 1)
"""

import multiprocessing
import os
import signal
import sys

import muster
from checks import raises, require

HOW, SIZE = sys.argv[1], 3


class Connected:
    """Every rank's way to all others: pipes to rank 0, which gathers."""

    def __init__(self, rank, pipes):
        self.rank, self.size = rank, SIZE
        self._to_first = pipes[rank][1]
        self._to_others = [ends[0] for ends in pipes[1:]] if rank == 0 else []

    def allgather(self, mine):
        if self.rank != 0:
            self._to_first.send(mine)
            return self._to_first.recv()
        parts = [mine] + [each.recv() for each in self._to_others]
        for each in self._to_others:
            each.send(parts)
        return parts


class Mistake(Exception):
    pass


def end():
    if HOW == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif HOW == "exits":
        os._exit(0)
    raise Mistake("rank 1 has made one")


def be_rank(rank, pipes):
    team = muster.init(Connected(rank, pipes))
    team.barrier()
    if rank == 1:
        end()
    if HOW == "raises":
        raises(muster.RankLeft, "rank 1", team.barrier)
    else:
        raises(muster.RankDied, ["rank 1 (process", "ended without leaving the job"], team.barrier)
    left = team.shrink()
    require(left.allreduce(1) == SIZE - 1, "those that are left")
    print(f"rank {rank}, all right", flush=True)


def be_process(rank, pipes):
    """As a program of its own: how it ends is the interpreter's affair."""
    child = os.fork()
    if child == 0:
        be_rank(rank, pipes)
        sys.exit(0)
    return child


PIPES = [multiprocessing.Pipe() for _ in range(SIZE)]
CHILDREN = [be_process(rank, PIPES) for rank in range(SIZE)]
STATUSES = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in CHILDREN]
require(STATUSES == [0, {"killed": -signal.SIGKILL, "exits": 0, "raises": 1}[HOW], 0], STATUSES)
print("all right")
