"""Collectives as mpi4py's users call them, checked against what numpy says. Prints only what is wrong."""

import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
wrong = 0


def check(name, got, expected):
    global wrong
    same = numpy.array_equal(got, expected) if isinstance(expected, numpy.ndarray) else got == expected
    if not same:
        wrong += 1
        print(f"rank {world.rank}, {name}: {got!r}; expected {expected!r}", file=sys.stderr)


def block(rank, length, kind):
    modulus = 5 if kind == "b" else 100_000  # sums fit
    return ((numpy.arange(length) * 7 + rank * 1000 + 1) % modulus).astype(kind)


def blocks(ranks, length, kind):
    return numpy.concatenate([block(rank, length, kind) for rank in range(ranks)])


def check_buffers(on, length, kind):
    p, r = on.size, on.rank
    mine, all_blocks = block(r, length, kind), blocks(p, length, kind)
    sums = sum(block(rank, length, kind) for rank in range(p))
    for root in {0, p - 1}:
        data = mine.copy() if r == root else numpy.zeros(length, kind)
        on.Bcast(data, root)
        check("Bcast", data, block(root, length, kind))
        into = numpy.zeros(p * length, kind)
        on.Gather(mine, into if r == root else None, root)
        if r == root:
            check("Gather", into, all_blocks)
        one = numpy.zeros(length, kind)
        on.Scatter(all_blocks if r == root else None, one, root)
        check("Scatter", one, mine)
        on.Reduce(mine, one, MPI.SUM, root)
        if r == root:
            check("Reduce", one, sums)
    into = numpy.zeros(p * length, kind)
    on.Allgather(mine, into)
    check("Allgather", into, all_blocks)
    on.Alltoall(all_blocks + numpy.array(r, kind), into)
    expected = numpy.concatenate([mine + numpy.array(rank, kind) for rank in range(p)])
    check("Alltoall", into, expected)
    one = mine.copy()
    on.Allreduce(MPI.IN_PLACE, one, MPI.SUM)
    check("Allreduce in place", one, sums)
    on.Scan(mine, one, MPI.SUM)
    check("Scan", one, sum(block(rank, length, kind) for rank in range(r + 1)))
    on.Exscan(mine, one, MPI.SUM)
    if r > 0:
        check("Exscan", one, sum(block(rank, length, kind) for rank in range(r)))
    on.Reduce_scatter_block(all_blocks, one, MPI.SUM)
    check("Reduce_scatter_block", one, mine * p)


def check_varying(on):
    p, r = on.size, on.rank
    lengths = [3 * rank % 5 for rank in range(p)]
    starts = [sum(lengths[:rank]) for rank in range(p)]
    whole = numpy.concatenate([block(rank, lengths[rank], "d") for rank in range(p)])
    into = numpy.zeros(sum(lengths))
    on.Allgatherv(block(r, lengths[r], "d"), [into, lengths, starts, MPI.DOUBLE])
    check("Allgatherv", into, whole)
    part = numpy.zeros(lengths[r])
    on.Scatterv([whole, lengths, starts, MPI.DOUBLE] if r == 0 else None, part, 0)
    check("Scatterv", part, block(r, lengths[r], "d"))
    on.Reduce_scatter(whole, part, lengths, MPI.SUM)
    check("Reduce_scatter", part, block(r, lengths[r], "d") * p)
    into = numpy.zeros(p * lengths[r])
    on.Alltoallv([whole, lengths, starts, MPI.DOUBLE],
                 [into, [lengths[r]] * p, [rank * lengths[r] for rank in range(p)], MPI.DOUBLE])
    check("Alltoallv", into, numpy.tile(block(r, lengths[r], "d"), p))


def check_strided(on):
    """A column of a matrix to everybody: a type with gaps."""
    column = MPI.DOUBLE.Create_vector(4, 1, 5).Commit()
    matrix = numpy.full((4, 5), -1.0)
    if on.rank == 0:
        matrix[:, 2] = [1, 2, 3, 4]
    on.Bcast([matrix.reshape(-1)[2:], 1, column], 0)
    expected = numpy.full((4, 5), -1.0)
    expected[:, 2] = [1, 2, 3, 4]
    check("Bcast of a column", matrix, expected)
    column.Free()


def check_nonblocking(on):
    p, r = on.size, on.rank
    mine, all_blocks = block(r, 500, "l"), blocks(p, 500, "l")
    exchanged, gathered, summed = all_blocks * 0, all_blocks * 0, mine * 0
    message = numpy.zeros(1, "i")
    requests = [
        on.Irecv(message, (r - 1) % p, 5),
        on.Ialltoall(all_blocks, exchanged),
        on.Iallgather(mine, gathered),
        on.Isend(numpy.array([r], "i"), (r + 1) % p, 5),
        on.Iallreduce(mine, summed, MPI.SUM),
        on.Ibarrier(),
    ]
    MPI.Request.Waitall(requests)
    check("Irecv among collectives", int(message[0]), (r - 1) % p)
    check("Ialltoall", exchanged, numpy.tile(mine, p))
    check("Iallgather", gathered, all_blocks)
    check("Iallreduce", summed, sum(block(rank, 500, "l") for rank in range(p)))
    request = on.Ibcast(mine, 0)
    while not request.Test():
        pass
    check("Ibcast", mine, block(0, 500, "l"))


def check_objects(on):
    p, r = on.size, on.rank
    own = {"rank": r, "words": ["x" * r] * 3}
    everybody = [{"rank": rank, "words": ["x" * rank] * 3} for rank in range(p)]
    check("bcast", on.bcast(own, 0), everybody[0])
    check("gather", on.gather(own, p - 1), everybody if r == p - 1 else None)
    check("scatter", on.scatter(everybody if r == 0 else None, 0), own)
    check("allgather", on.allgather(own), everybody)
    check("alltoall", on.alltoall([(r, to) for to in range(p)]), [(rank, r) for rank in range(p)])
    check("allreduce", on.allreduce([r]), list(range(p)))
    check("scan", on.scan(r + 1), (r + 1) * (r + 2) // 2)


def check_own_operation(on):
    """Digits appended to digits: pairs of a number and the power of ten beyond it."""
    def append(one, two, _):
        left, right = numpy.frombuffer(one, "d"), numpy.frombuffer(two, "d")
        right[:] = left[0] * right[1] + right[0], left[1] * right[1]

    operation = MPI.Op.Create(append, commute=False)
    digits = numpy.zeros(2)
    on.Allreduce(numpy.array([float(on.rank % 10), 10.0]), digits, operation)
    check("an operation in Python", digits[0], float("".join(str(rank % 10) for rank in range(on.size))))
    operation.Free()


def check_all(on):
    for kind in ("b", "i", "l", "f", "d", "D"):
        for length in (1, 3, 1000):
            check_buffers(on, length, kind)
    check_buffers(on, 100_000, "d")
    check_varying(on)
    check_strided(on)
    check_nonblocking(on)
    check_objects(on)
    check_own_operation(on)


check_all(world)
half = world.Split(world.rank % 2, -world.rank)
check_all(half)
half.Free()
copy = world.Dup()
check_all(copy)
copy.Free()
sys.exit(1 if wrong else 0)
