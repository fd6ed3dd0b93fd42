"""Calls with random arguments, right and wrong, on several ranks: each gives the right result or throws what it may.

usage: fuzz.py SECONDS [SEED]

All ranks draw alike from one seed, which is printed; with it the same calls are made again.
"""

import array
import asyncio
import gc
import mmap
import os
import random
import sys
import time

import numpy

import muster
from checks import require, same

team = muster.world()
RANK, SIZE = team.rank, team.size
# What a call may throw; anything else is a mistake of the binding's.
MAY_THROW = (TypeError, ValueError, OverflowError, BufferError, MemoryError, muster.Error)
DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
counted = {}


def note(what):
    counted[what] = counted.get(what, 0) + 1


class Draw:
    """Arguments of one call, alike on all ranks but for what they contribute."""

    def __init__(self, chance):
        self.chance = chance
        self.dtype = chance.choice(DTYPES)
        self.count = chance.choice([0, 1, 2, 7, 64, 513, 1000, 5000])
        self.root = chance.randrange(SIZE)
        self.op = chance.choice(list(muster.Op))
        self.lengths = [chance.randrange(9) for _ in range(SIZE)]

    def data(self, rank, count):
        return (numpy.arange(count) % 11 + rank + 1).astype(self.dtype)

    def everybody(self, count):
        return numpy.array([self.data(rank, count) for rank in range(SIZE)])

    def arguments(self, name):
        """Of a right call, by name."""
        mine, blocks = self.data(RANK, self.count), self.data(RANK, self.count * SIZE)
        before, after = [(RANK - 1) % SIZE], [(RANK + 1) % SIZE]
        lengths = self.lengths
        own = lengths[RANK]
        return {
            "barrier": {},
            "bcast": {"data": self.data(self.root, self.count) if RANK == self.root else numpy.zeros(self.count, self.dtype),
                      "root": self.root},
            "reduce": {"send": mine, "op": muster.SUM, "root": self.root},
            "allreduce": {"send": mine, "op": muster.SUM},
            "scan": {"send": mine, "op": muster.SUM},
            "exscan": {"send": mine, "op": muster.SUM},
            "reduce_scatter_block": {"send": blocks, "op": muster.SUM},
            "reduce_scatter": {"send": self.data(RANK, sum(lengths)), "counts": lengths, "op": muster.SUM},
            "scatter": {"send": blocks, "out": numpy.zeros(self.count, self.dtype), "root": self.root},
            "gather": {"send": mine, "root": self.root},
            "allgather": {"send": mine},
            "alltoall": {"send": blocks},
            "scatterv": {"send": self.data(RANK, sum(lengths)), "counts": lengths, "out": numpy.zeros(own, self.dtype),
                         "root": self.root},
            "gatherv": {"send": self.data(RANK, own), "counts": lengths, "root": self.root},
            "allgatherv": {"send": self.data(RANK, own), "counts": lengths},
            "alltoallv": {"send": self.data(RANK, sum(lengths)), "send_counts": lengths, "receive_counts": [own] * SIZE},
            "neighbor_allgather": {"send": mine, "sources": before, "destinations": after},
            "neighbor_alltoall": {"send": mine, "sources": before, "destinations": after},
            "neighbor_allgatherv": {"send": mine, "counts": [self.count], "sources": before, "destinations": after},
            "neighbor_alltoallv": {"send": mine, "send_counts": [self.count], "receive_counts": [self.count],
                                   "sources": before, "destinations": after},
            "split": {"color": RANK % 2, "key": -RANK},
            "duplicate": {},
            "subset": {"ranks": list(range(SIZE))},
        }[name]

    def check(self, name, got):
        """Beside what NumPy makes of it."""
        everybody, blocks = self.everybody(self.count), self.everybody(self.count * SIZE)
        own = slice(self.count * RANK, self.count * (RANK + 1))
        ends = numpy.cumsum([0] + self.lengths)
        total = everybody.sum(0).astype(self.dtype)
        expected = {
            "bcast": everybody[self.root],
            "reduce": total if RANK == self.root else None,
            "allreduce": total,
            "scan": everybody[:RANK + 1].sum(0).astype(self.dtype),
            "exscan": everybody[:RANK].sum(0).astype(self.dtype),
            "reduce_scatter_block": blocks.sum(0).astype(self.dtype)[own],
            "reduce_scatter": self.everybody(ends[-1]).sum(0).astype(self.dtype)[ends[RANK]:ends[RANK + 1]],
            "scatter": blocks[self.root][own],
            "gather": everybody if RANK == self.root else None,
            "allgather": everybody,
            "alltoall": blocks[:, own].reshape(-1),
            "allgatherv": numpy.concatenate([self.data(rank, self.lengths[rank]) for rank in range(SIZE)]),
            "neighbor_allgather": everybody[[(RANK - 1) % SIZE]],
        }
        if expected.get(name) is not None:
            same(got, expected[name], f"{name} of {self.count} {self.dtype}")


NAMES = ["barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "reduce_scatter_block", "reduce_scatter", "scatter",
         "gather", "allgather", "alltoall", "scatterv", "gatherv", "allgatherv", "alltoallv", "neighbor_allgather",
         "neighbor_alltoall", "neighbor_allgatherv", "neighbor_alltoallv", "split", "duplicate", "subset"]


class Lies:
    """Says that it lends by DLPack."""

    def __init__(self, device, capsule):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        return self.capsule


def closed_map():
    mapped = mmap.mmap(-1, 64)
    mapped.close()
    return mapped


def released():
    view = memoryview(bytearray(8))
    view.release()
    return view


def read_only(count):
    made = numpy.zeros(count)
    made.flags.writeable = False
    return made


JUNK = [
    lambda: None, lambda: -1, lambda: 0, lambda: 1, lambda: 2**31, lambda: 2**62, lambda: 2**63, lambda: 2**70,
    lambda: 1.5, lambda: float("nan"), lambda: 1j, lambda: "x", lambda: b"", lambda: b"abc", lambda: bytearray(5),
    lambda: [], lambda: [1, 2], lambda: [-1] * SIZE, lambda: [2**62] * SIZE, lambda: [2**50] * SIZE, lambda: [1.5] * SIZE,
    lambda: ["a"] * SIZE, lambda: [None] * SIZE, lambda: [0] * SIZE, lambda: [1] * SIZE, lambda: [SIZE], lambda: (0, 1),
    lambda: {}, lambda: {0: 1}, lambda: object(), lambda: (each for each in (1, 2)), lambda: range(3), lambda: team,
    lambda: muster.IN_PLACE, lambda: muster.IN_PLACE, lambda: muster.MAX, lambda: muster.BIT_XOR,
    lambda: muster.in_arrival_order(muster.MIN), lambda: muster.in_arrival_order(None), lambda: True,
    lambda: numpy.int8(1), lambda: numpy.float64(2), lambda: numpy.zeros(0), lambda: numpy.zeros(3, "f4"),
    lambda: numpy.zeros(4, ">i4"), lambda: numpy.zeros(8)[::2], lambda: numpy.zeros((3, 4)).T, lambda: numpy.zeros(4)[::-1],
    lambda: read_only(4), lambda: numpy.zeros(3, "O"), lambda: numpy.zeros(3, "M8[s]"), lambda: numpy.zeros(3, "S2"),
    lambda: numpy.zeros(2, [("a", "i1"), ("b", "f8")]), lambda: numpy.array(3.5), lambda: numpy.zeros((2, 0, 3)),
    lambda: numpy.lib.stride_tricks.as_strided(numpy.zeros(1), (1000,), (0,)), lambda: numpy.ma.masked_all(3),
    lambda: numpy.zeros(3, "g"), lambda: array.array("q", [1, 2, 3]), lambda: array.array("u", "ab"),
    lambda: memoryview(b"abcd").cast("I"), lambda: memoryview(bytes(12))[::3], released, closed_map,
    lambda: mmap.mmap(-1, 64), lambda: Lies((2, 0), None), lambda: Lies((1, 0), None), lambda: Lies(None, 3),
    lambda: Lies((1, 0), object()), lambda: type, lambda: sys, lambda: Ellipsis,
]


def begun(on, name, awaited, arguments):
    """What the call gives at once, or throws, if that is something it may."""
    try:
        return getattr(on, "a" + name if awaited else name)(**arguments), None
    except MAY_THROW as why:
        require(str(why) != "" or isinstance(why, MemoryError), f"{name}: {type(why).__name__} says nothing")
        return None, why


async def ended(name, result, why=None, may_hang=False):
    """The same of its end."""
    if not asyncio.isfuture(result):
        return result, why
    try:
        return await asyncio.wait_for(result, 0.2 if may_hang else 20), None
    except asyncio.TimeoutError:
        require(may_hang, f"{name} hangs")
        note("hangs")
        return None, None
    except muster.Error as failure:
        return None, failure


async def ended_everywhere(name, result, why):
    """The same, where some ranks may have thrown at once: the others wait for them in vain, and cancel."""
    at_once = asyncio.isfuture(result) and result.done() and isinstance(result.exception(), muster.InvalidArgument)
    refused = await asyncio.wait_for(team.aallgather(why is not None or at_once), 20)
    if refused.any() and asyncio.isfuture(result) and not result.done():
        result.cancel()
        return None, why
    # Neighbors that wait for each other in a circle are not told.
    return await ended(name, result, why, may_hang=name.startswith("neighbor"))


async def right(chance):
    """Several at once, in flight together."""
    pending = []
    for _ in range(chance.randrange(1, 9)):
        draw, name, awaited = Draw(chance), chance.choice(NAMES[:20]), chance.random() < 0.8
        pending.append((draw, name, *begun(team, name, awaited, draw.arguments(name))))
    chance.shuffle(pending)
    for draw, name, result, why in pending:
        got, why = await ended(name, result, why)
        require(why is None, f"{name}: {why!r}")
        draw.check(name, got)
        note("right")


async def wrong(chance):
    """One argument is something else, on all ranks or on one."""
    draw, name = Draw(chance), chance.choice(NAMES)
    arguments = draw.arguments(name)
    which, junk = chance.choice([*arguments, "out"]), chance.choice(JUNK)
    everywhere, where = chance.random() < 0.7, chance.randrange(SIZE)
    if everywhere or where == RANK:
        arguments[which] = junk()
    apart = await team.aduplicate()
    result, why = await ended_everywhere(name, *begun(apart, name, True, arguments))
    note("thrown" if why else "accepted")
    apart.free()


async def wrong_alone(chance):
    """The same without other ranks, of a call that blocks."""
    draw, name = Draw(chance), chance.choice(NAMES)
    arguments = draw.arguments(name)
    for _ in range(chance.randrange(1, 4)):
        arguments[chance.choice([*arguments, "out"])] = chance.choice(JUNK)()
    result, why = begun(alone, name, False, arguments)
    note("thrown alone" if why else "accepted alone")
    if isinstance(result, muster.Team):
        result.free()


async def mismatched(chance):
    """Right calls, of which one rank's is another."""
    name, seed, where = chance.choice(NAMES[:20]), chance.random(), chance.randrange(SIZE)
    draw = Draw(random.Random(seed + (RANK == where)))
    apart = await team.aduplicate()
    _, why = await ended_everywhere(name, *begun(apart, name, True, draw.arguments(name)))
    note("mismatched" if isinstance(why, muster.MismatchedCall) else "not mismatched")
    apart.free()


async def dropped(chance):
    """Buffers that nobody holds, that are to go, and operations that are canceled."""
    kind, cancels, where = chance.randrange(4), chance.random() < 0.4, chance.randrange(SIZE)
    apart = await team.aduplicate()
    if RANK == where:
        await asyncio.sleep(0.002)
    size = chance.choice([8, 8000, 800000])
    data = [lambda: bytearray(size), lambda: array.array("d", bytes(size)), lambda: mmap.mmap(-1, size),
            lambda: numpy.zeros(size // 8)][kind]()
    future = apart.abcast(data, root=where)
    if not future.done():
        try:
            if kind == 0:
                data.extend(b"more")
            elif kind == 1:
                data.append(1.0)
            elif kind == 2:
                data.close()
            else:
                data.resize(size, refcheck=True)
            require(False, "a buffer went while it was used")
        except (BufferError, ValueError):
            note("kept")
    del data
    gc.collect()
    if cancels and RANK == where:
        future.cancel()
    try:
        await asyncio.wait_for(asyncio.shield(future), 30)
    except (asyncio.CancelledError, muster.Error):
        note("ended")
    apart.free()


async def main(seconds, seed):
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    while team.allreduce(end - time.monotonic(), op=muster.MIN) > 0:
        await chance.choice([right, wrong, wrong, wrong_alone, wrong_alone, mismatched, dropped])(chance)
        await team.abarrier()
    require(team.failure() is None, "the team is whole")


alone = team.split(RANK)
seconds = float(sys.argv[1])
seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "little")
seed = team.bcast(numpy.array([seed]))[0].item()
if RANK == 0:
    print(f"fuzz: seed {seed}", flush=True)
asyncio.run(main(seconds, seed))
if RANK == 0:
    print(f"fuzz: {counted}", flush=True)
print(f"rank {RANK}, all right", flush=True)
