"""Every collective beside what NumPy makes of all ranks' contributions, blocking and awaited."""

import array
import asyncio
import inspect

import numpy

import muster
from checks import require, same

team = muster.world()
RANK, SIZE = team.rank, team.size


def of(rank, count, dtype="i4"):
    """What a rank contributes."""
    return (numpy.arange(count) % 97 + 1000 * (rank + 1)).astype(dtype)


def all_of(count, dtype="i4"):
    return numpy.array([of(rank, count, dtype) for rank in range(SIZE)])


async def one_of_each(call, count, root):
    """`call(name, …)` makes the call of a name, in whatever form."""
    mine, everybody = of(RANK, count), all_of(count)
    total = everybody.sum(0, dtype="i4")
    await call("barrier")

    data = mine.copy() if RANK == root else numpy.zeros(count, "i4")
    require(await call("bcast", data, root=root) is data, "bcast returns its buffer")
    same(data, everybody[root], "bcast")

    got = await call("reduce", mine, root=root)
    require(RANK == root or got is None, "reduce gives its result to the root")
    if RANK == root:
        same(got, total, "reduce")
    data = mine.copy()
    await call("reduce", muster.IN_PLACE, data, root=root)
    same(data, total if RANK == root else mine, "reduce in place")

    same(await call("allreduce", mine), total, "allreduce")
    same(mine, everybody[RANK], "allreduce leaves what is sent")
    same(await call("allreduce", mine, op=muster.in_arrival_order(muster.MAX)), everybody.max(0), "allreduce, max")
    data = mine.copy()
    require(await call("allreduce", data, data) is data, "allreduce returns out")
    same(data, total, "allreduce in place")
    same(await call("allreduce", mine.reshape(-1, 1)), total.reshape(-1, 1), "allreduce of a matrix")

    same(await call("scan", mine), everybody[:RANK + 1].sum(0, dtype="i4"), "scan")
    before = everybody[:RANK].sum(0, dtype="i4") if RANK else numpy.full(count, -1, "i4")
    same(await call("exscan", mine, numpy.full(count, -1, "i4")), before, "exscan")

    blocks = of(RANK, count * SIZE)
    all_blocks = all_of(count * SIZE)
    own = slice(count * RANK, count * (RANK + 1))
    sums = all_blocks.sum(0, dtype="i4")
    same(await call("reduce_scatter_block", blocks), sums[own], "reduce_scatter_block")
    data = blocks.copy()
    await call("reduce_scatter_block", muster.IN_PLACE, data)
    same(data[:count], sums[own], "reduce_scatter_block in place")

    out = numpy.zeros(count, "i4")
    same(await call("scatter", blocks if RANK == root else None, out, root=root), all_blocks[root][own], "scatter")
    data = blocks.copy()
    if RANK == root:
        require(await call("scatter", data, muster.IN_PLACE, root=root) is data, "scatter in place returns send")
        same(data, blocks, "scatter in place")
    else:
        same(await call("scatter", None, out, root=root), all_blocks[root][own], "scatter")

    got = await call("gather", mine, root=root)
    if RANK == root:
        same(got, everybody, "gather")
    same(await call("allgather", mine), everybody, "allgather")
    data = numpy.zeros((SIZE, count), "i4")
    data[RANK] = mine
    same(await call("allgather", muster.IN_PLACE, data), everybody, "allgather in place")
    same(await call("alltoall", blocks), all_blocks[:, own].reshape(-1), "alltoall")
    data = blocks.copy()
    same(await call("alltoall", data, data), all_blocks[:, own].reshape(-1), "alltoall in place")


async def blocks_of_any_lengths(call, count, root):
    lengths = [count + rank for rank in range(SIZE)]
    begins = numpy.cumsum([0] + lengths)
    own = slice(begins[RANK], begins[RANK + 1])
    mine, whole = of(RANK, lengths[RANK]), of(RANK, begins[-1])
    everything = numpy.concatenate([of(rank, lengths[rank]) for rank in range(SIZE)])
    same(await call("reduce_scatter", whole, lengths), all_of(begins[-1]).sum(0, dtype="i4")[own], "reduce_scatter")
    data = whole.copy()
    await call("reduce_scatter", muster.IN_PLACE, lengths, data)
    same(data[:lengths[RANK]], all_of(begins[-1]).sum(0, dtype="i4")[own], "reduce_scatter in place")

    out = numpy.zeros(lengths[RANK], "i4")
    given = (whole, lengths) if RANK == root else (None, None)
    same(await call("scatterv", *given, out, root=root), of(root, begins[-1])[own], "scatterv")
    got = await call("gatherv", mine, lengths, root=root) if RANK == root else await call("gatherv", mine, root=root)
    if RANK == root:
        same(got, everything, "gatherv")
    same(await call("allgatherv", mine, lengths), everything, "allgatherv")
    # Each block with a gap before it.
    gaps = [begins[rank] + rank + 1 for rank in range(SIZE)]
    data = numpy.full(begins[-1] + SIZE, -1, "i4")
    await call("allgatherv", mine, lengths, data, displacements=gaps)
    for rank in range(SIZE):
        same(data[gaps[rank]:gaps[rank] + lengths[rank]], of(rank, lengths[rank]), "allgatherv with gaps")
        require(data[gaps[rank] - 1] == -1, "a gap is left as it was")

    sent = [count + RANK + peer for peer in range(SIZE)]
    expected = numpy.concatenate([of(rank, sum(count + rank + peer for peer in range(SIZE)))[
        sum(count + rank + peer for peer in range(RANK)):][:count + rank + RANK] for rank in range(SIZE)])
    whole = of(RANK, sum(sent))
    same(await call("alltoallv", whole, sent, sent), expected, "alltoallv")
    data = whole.copy()
    same(await call("alltoallv", muster.IN_PLACE, None, sent, data), expected, "alltoallv in place")


async def neighbors(call, count):
    before, after = (RANK - 1) % SIZE, (RANK + 1) % SIZE
    mine = of(RANK, count)
    got = await call("neighbor_allgather", mine, [before], [after])
    same(got, of(before, count)[None], "neighbor_allgather")
    got = await call("neighbor_alltoall", of(RANK, 2 * count), [before, None], [after, None])
    same(got[0], of(before, count), "neighbor_alltoall")
    sent, received = count + RANK, count + before
    got = await call("neighbor_allgatherv", of(RANK, sent), [received], [before], [after])
    same(got, of(before, received), "neighbor_allgatherv")
    got = await call("neighbor_alltoallv", of(RANK, sent), [sent], [received], [before], [after])
    same(got, of(before, received), "neighbor_alltoallv")


async def elements(call):
    """Kinds of elements, and of what lends them."""
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"):
        mine = numpy.full(7, RANK + 1, dtype)
        total = numpy.full(7, sum(range(1, SIZE + 1)), dtype)
        same(await call("allreduce", mine), total, dtype)
    truth = await call("allreduce", numpy.array([RANK == 0, True]), op=muster.LOGICAL_AND)
    same(truth, numpy.array([SIZE == 1, True]), "bool")
    for number in (RANK, RANK + 0.5, complex(RANK, 1), numpy.float32(RANK)):
        got = await call("allreduce", number)
        require(got == sum(number - RANK + rank for rank in range(SIZE)), f"a number: {got}")
    require(isinstance(await call("allreduce", 1), int), "a number of Python gives one of Python")
    standard = array.array("d", [RANK, 1])
    require(await call("allreduce", standard, standard) is standard, "an array of the standard library")
    require(list(standard) == [SIZE * (SIZE - 1) / 2, SIZE], "is what it was")
    word = bytearray(b"who" if RANK == 0 else b"...")
    await call("bcast", word)
    require(word == b"who", "a bytearray")
    got = await call("allgather", b"ab")
    same(got, numpy.full((SIZE, 2), numpy.frombuffer(b"ab", "u1")), "bytes")
    view = memoryview(bytearray(8)).cast("i")
    view[0] = RANK
    await call("allreduce", view, view)
    require(view[0] == SIZE * (SIZE - 1) // 2, "a memoryview")
    same(await call("allreduce", numpy.zeros(0)), numpy.zeros(0), "nothing")


async def teams(call):
    half = await call("split", RANK % 2, -RANK)
    require(half.size == (SIZE + 1 - RANK % 2) // 2 and half.rank == half.size - 1 - RANK // 2, "split")
    same(half.allgather(RANK)[half.rank], RANK, "a team that was split")
    none = await call("split", None if RANK == 0 else 1)
    require((none is None) == (RANK == 0), "a rank without a color is in no team")
    again = await call("duplicate")
    require(again.size == SIZE and again.rank == RANK, "duplicate")
    again.barrier()
    few = await call("subset", [SIZE - 1])
    require((few is not None) == (RANK == SIZE - 1), "subset")
    left = await call("shrink")
    require(left.size == SIZE and left.allreduce(1) == SIZE, "shrink")
    again.free()
    with half:
        half.barrier()
    require("freed" in repr(half), "a team is freed at the end of a block")


def in_form(awaited):
    async def call(name, *args, **kwargs):
        made = getattr(team, "a" + name if awaited else name)(*args, **kwargs)
        return await made if awaited else made

    return call


async def main():
    for awaited in (False, True):
        call = in_form(awaited)
        for count, root in ((1, 0), (3, SIZE - 1), (1000, 0), (30000, SIZE - 1)):
            await one_of_each(call, count, root)
            await blocks_of_any_lengths(call, count, root)
            await neighbors(call, count)
        await elements(call)
        await teams(call)
    names = [name for name, method in inspect.getmembers(muster.Team) if inspect.isfunction(method) and name[0] != "_"]
    forms = [name for name in names if "a" + name in names]
    require(len(forms) >= 24, f"there are {len(forms)} collectives in two forms")
    require("root" in inspect.signature(muster.Team.abcast).parameters, "which help() shows")
    print(f"rank {RANK}, all right")


asyncio.run(main())
