"""Teams, and their collectives."""

from . import _buffers as buffers
from ._arguments import Layout, Neighbors, Op, integer, listed, op_of, rank_of
from ._buffers import IN_PLACE
from ._library import IN_PLACE_POINTER, InvalidArgument, error, ffi, lib, require
from ._operation import Operation, collective, with_both_forms


class Making(Operation):
    """Of a call that makes a team."""

    __slots__ = ("made",)

    def __init__(self, team, call, begin, *arguments):
        self.made = ffi.new("muster_team **")
        super().__init__(team, call, begin, (*arguments, self.made))

    def result(self):
        return self.team._world.adopt(self.made[0]) if self.made[0] else None


@with_both_forms
class Team:
    """An ordered set of ranks that perform collectives together, as this process sees it.

    All ranks call a team's collectives in one order. Each has two forms: `team.allreduce(a)` blocks; `await
    team.aallreduce(a)`, in asyncio, does not. The latter begins when it is called, not when it is awaited.

    What is sent is any contiguous buffer: of NumPy, of the standard library, or of a library that lends it by DLPack;
    or a number. `out` is where the result goes, which the call returns; where it is None, that is a new array of NumPy.
    """

    def __init__(self, world, pointer):
        self._world = world
        self._pointer = pointer
        self.rank = lib.muster_rank(pointer)
        self.size = lib.muster_size(pointer)

    def __repr__(self):
        return f"<muster.Team, rank {self.rank} of {self.size}{'' if self._pointer else ', freed'}>"

    def _require_whole(self, call):
        if self._pointer is None:
            raise InvalidArgument(f"{call}: team has been freed; expected another")
        return self._pointer

    def become_free(self):
        self._pointer = None

    def free(self):
        """Frees it, which is not the world. What is pending on it ends with `Stopped`; for the others it is broken."""
        pointer = self._require_whole("free")
        with self._world.alone:
            require(lib.muster_free(pointer))
            self._pointer = None
            self._world.forget(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._pointer is not None:
            self.free()

    def failure(self):
        """Why the team is broken: the exception that every further call throws. None while it is whole."""
        pointer = self._require_whole("failure")
        with self._world.alone:
            code = lib.muster_failure(pointer)
            return None if code == 0 else error(code)

    # ---- teams made from teams

    @collective
    def split(self, color, key=0):
        """A team of the ranks of one color, in the order of their keys; None where color is None."""
        color = lib.MUSTER_NO_COLOR if color is None else _int(integer("split", "color", color, "an integer"), "split", "color")
        key = _int(integer("split", "key", key, "an integer"), "split", "key")
        return Making(self, "split", lib.muster_isplit, color, key)

    @collective
    def duplicate(self):
        """A team of the same ranks, with an order of its own."""
        return Making(self, "duplicate", lib.muster_iduplicate)

    @collective
    def subset(self, ranks):
        """A team of these ranks, in this order; the same list on every rank. None on those not in it."""
        found = [rank_of("subset", f"ranks[{i}]", each, self)
                 for i, each in enumerate(listed("subset", "ranks", ranks, "a list of ranks"))]
        return Making(self, "subset", lib.muster_isubset, len(found), found)

    @collective
    def grow(self):
        """The team of all ranks of the job; in the place of one that failed is the process that called `rejoin`."""
        return Making(self, "grow", lib.muster_igrow)

    @collective
    def shrink(self):
        """A team of those ranks that are alive, after a failure."""
        return Making(self, "shrink", lib.muster_ishrink)

    # ---- without blocks

    @collective
    def barrier(self):
        """Ends when all ranks have come."""
        return self._operation("barrier", lib.muster_ibarrier)

    @collective
    def bcast(self, data, root=0):
        """Copies `data` of rank `root` to that of every rank, as long everywhere; returns it."""
        root = rank_of("bcast", "root", root, self)
        both = buffers.Buffer("bcast", "data", data, writable=self.rank != root)
        return self._operation("bcast", lib.muster_ibcast, both, both.count, both.type, root, out=both)

    @collective
    def reduce(self, send, out=None, op=Op.SUM, root=0):
        """Combines what all ranks send, element by element, into `out` of rank `root`; None elsewhere."""
        root, op = rank_of("reduce", "root", root, self), op_of("reduce", op)
        if self.rank == root or send is IN_PLACE:
            mine, total, is_number = self._pair("reduce", send, out)
        else:
            mine, is_number = buffers.sent("reduce", "send", send)
            total = None
        like = total if mine is IN_PLACE else mine
        return self._operation("reduce", lib.muster_ireduce, mine, total, like.count, like.type, op, root,
                               out=total if self.rank == root else None, is_number=is_number)

    @collective
    def allreduce(self, send, out=None, op=Op.SUM):
        """Combines what all ranks send, element by element, on every rank."""
        return self._combining("allreduce", lib.muster_iallreduce, send, out, op)

    @collective
    def scan(self, send, out=None, op=Op.SUM):
        """Combines what ranks 0 to this one send."""
        return self._combining("scan", lib.muster_iscan, send, out, op)

    @collective
    def exscan(self, send, out=None, op=Op.SUM):
        """Combines what the ranks before this one send; `out` of rank 0 is left as it was."""
        return self._combining("exscan", lib.muster_iexscan, send, out, op)

    def _combining(self, call, begin, send, out, op):
        op = op_of(call, op)
        mine, total, is_number = self._pair(call, send, out)
        return self._operation(call, begin, mine, total, total.count, total.type, op, out=total, is_number=is_number)

    # ---- with a block for each rank, or from each

    @collective
    def reduce_scatter_block(self, send, out=None, op=Op.SUM):
        """Combines what all ranks send, one block for each, and gives rank i block i.

        In place, `out` is all blocks, of which the first becomes the result.
        """
        call, op = "reduce_scatter_block", op_of("reduce_scatter_block", op)
        if send is IN_PLACE:
            all_blocks = buffers.received(call, "out", out)
            count = self._block(call, "out", all_blocks)
            return self._operation(call, lib.muster_ireduce_scatter_block, IN_PLACE, all_blocks, count, all_blocks.type,
                                   op, out=all_blocks)
        mine, _ = buffers.sent(call, "send", send)
        count = self._block(call, "send", mine)
        block = self._out(call, out, mine, count, self._shape_of_block(mine), "a block of send")
        return self._operation(call, lib.muster_ireduce_scatter_block, mine, block, count, mine.type, op, out=block)

    @collective
    def scatter(self, send, out, root=0):
        """Sends block i of `send` of rank `root`, which alone need have it, to `out` of rank i.

        In place at the root (`out` is IN_PLACE) its block stays in `send`, which is returned.
        """
        root = rank_of("scatter", "root", root, self)
        if self.rank != root:
            block = buffers.received("scatter", "out", out)
            return self._operation("scatter", lib.muster_iscatter, None, block, block.count, block.type, root, out=block)
        blocks, _ = buffers.sent("scatter", "send", send)
        count = self._block("scatter", "send", blocks)
        block = out
        if out is not IN_PLACE:
            block = self._out("scatter", buffers.received("scatter", "out", out), blocks, count, None, "a block of send")
        return self._operation("scatter", lib.muster_iscatter, blocks, block, count, blocks.type, root,
                               out=blocks if out is IN_PLACE else block)

    @collective
    def gather(self, send, out=None, root=0):
        """Gathers what all ranks send, as long from each, in rank order into `out` of rank `root`; None elsewhere."""
        root = rank_of("gather", "root", root, self)
        if self.rank == root:
            return self._gathering("gather", lib.muster_igather, send, out, root)
        mine, _ = buffers.sent("gather", "send", send)
        return self._operation("gather", lib.muster_igather, mine, None, mine.count, mine.type, root)

    @collective
    def allgather(self, send, out=None):
        """Gathers what all ranks send, as long from each, in rank order on every rank."""
        return self._gathering("allgather", lib.muster_iallgather, send, out)

    def _gathering(self, call, begin, send, out, *root):
        if send is IN_PLACE:
            blocks = buffers.received(call, "out", out)
            count = self._block(call, "out", blocks)
            return self._operation(call, begin, IN_PLACE, blocks, count, blocks.type, *root, out=blocks)
        mine, _ = buffers.sent(call, "send", send)
        blocks = self._out(call, out, mine, mine.count * self.size, (self.size, *mine.shape), "a block as send from each rank")
        return self._operation(call, begin, mine, blocks, mine.count, mine.type, *root, out=blocks)

    @collective
    def alltoall(self, send, out=None):
        """Sends block i of `send` to rank i, and receives that of rank i for this one as block i of `out`."""
        mine, received, _ = self._pair("alltoall", send, out)
        count = self._block("alltoall", "out" if mine is IN_PLACE else "send", received)
        return self._operation("alltoall", lib.muster_ialltoall, mine, received, count, received.type, out=received)

    # ---- with blocks of any lengths

    @collective
    def reduce_scatter(self, send, counts, out=None, op=Op.SUM):
        """As reduce_scatter_block, with `counts[i]` elements for rank i; the same counts on every rank."""
        call, op = "reduce_scatter", op_of("reduce_scatter", op)
        blocks = Layout(call, "counts", counts, None, self.size)
        own = blocks.counts[self.rank]
        if send is IN_PLACE:
            mine, block = IN_PLACE, buffers.received(call, "out", out)
            buffers.require_count(call, "out", block.count, blocks.total(), "all blocks")
        else:
            mine, _ = buffers.sent(call, "send", send)
            buffers.require_count(call, "send", mine.count, blocks.total(), "all blocks")
            block = self._out(call, out, mine, own, (own,), "this rank's block")
        return self._operation(call, lib.muster_ireduce_scatter, mine, block, blocks.pointers[0], block.type, op,
                               out=block, keep=blocks)

    @collective
    def scatterv(self, send, counts, out, displacements=None, root=0):
        """Sends the blocks of `send` of rank `root` to `out` of each rank; `send` and `counts` are the root's alone."""
        root = rank_of("scatterv", "root", root, self)
        if self.rank != root:
            block = buffers.received("scatterv", "out", out)
            return self._operation("scatterv", lib.muster_iscatterv, None, ffi.NULL, ffi.NULL, block, block.count,
                                   block.type, root, out=block)
        blocks = Layout("scatterv", "counts", counts, displacements, self.size)
        mine, _ = buffers.sent("scatterv", "send", send)
        blocks.require_within("scatterv", "send", mine.count)
        own = blocks.counts[root]
        block = out
        if out is not IN_PLACE:
            block = self._out("scatterv", buffers.received("scatterv", "out", out), mine, own, None, "the root's own block")
        return self._operation("scatterv", lib.muster_iscatterv, mine, *blocks.pointers, block, own, mine.type, root,
                               out=mine if out is IN_PLACE else block, keep=blocks)

    @collective
    def gatherv(self, send, counts=None, out=None, displacements=None, root=0):
        """Gathers what all ranks send into the blocks of `out` of rank `root`, which alone need know them."""
        root = rank_of("gatherv", "root", root, self)
        if self.rank == root:
            return self._gathering_blocks("gatherv", lib.muster_igatherv, send, counts, out, displacements, root)
        mine, _ = buffers.sent("gatherv", "send", send)
        return self._operation("gatherv", lib.muster_igatherv, mine, mine.count, None, ffi.NULL, ffi.NULL, mine.type, root)

    @collective
    def allgatherv(self, send, counts, out=None, displacements=None):
        """Gathers what all ranks send into the blocks of `out` of every rank; the same counts on all."""
        return self._gathering_blocks("allgatherv", lib.muster_iallgatherv, send, counts, out, displacements)

    def _gathering_blocks(self, call, begin, send, counts, out, displacements, *root):
        blocks = Layout(call, "counts", counts, displacements, self.size)
        own = blocks.counts[self.rank]
        if send is IN_PLACE:
            mine, all_blocks = IN_PLACE, buffers.received(call, "out", out)
        else:
            mine, _ = buffers.sent(call, "send", send)
            buffers.require_count(call, "send", mine.count, own, "this rank's block in counts")
            all_blocks = self._out_of_blocks(call, out, mine, blocks)
        blocks.require_within(call, "out", all_blocks.count)
        return self._operation(call, begin, mine, own, all_blocks, *blocks.pointers, all_blocks.type, *root,
                               out=all_blocks, keep=blocks)

    @collective
    def alltoallv(self, send, send_counts, receive_counts, out=None, send_displacements=None, receive_displacements=None):
        """Sends block i of `send` to rank i, and receives that of rank i for this one as block i of `out`.

        In place, the blocks of `out` are replaced by those received; `send_counts` is ignored.
        """
        call = "alltoallv"
        received = Layout(call, "receive_counts", receive_counts, receive_displacements, self.size, "receive_displacements")
        if send is IN_PLACE:
            mine, blocks, sent = IN_PLACE, buffers.received(call, "out", out), received
        else:
            sent = Layout(call, "send_counts", send_counts, send_displacements, self.size, "send_displacements")
            mine, _ = buffers.sent(call, "send", send)
            sent.require_within(call, "send", mine.count)
            blocks = self._out_of_blocks(call, out, mine, received)
        received.require_within(call, "out", blocks.count)
        return self._operation(call, lib.muster_ialltoallv, mine, *sent.pointers, blocks, *received.pointers, blocks.type,
                               out=blocks, keep=(sent, received))

    # ---- among neighbors

    @collective
    def neighbor_allgather(self, send, sources, destinations, out=None, opposite=False):
        """Sends `send` to all destinations, and receives as much from each source. None is a neighbor not there.

        `opposite`: they are pairs of opposite directions, as on a grid.
        """
        call = "neighbor_allgather"
        neighbors = Neighbors(call, self, sources, destinations, opposite)
        mine, _ = buffers.sent(call, "send", send)
        blocks = len(neighbors.sources)
        received = self._out(call, out, mine, mine.count * blocks, (blocks, *mine.shape), "a block as send from each source")
        return self._operation(call, lib.muster_ineighbor_allgather, mine, received, mine.count, mine.type,
                               neighbors.pointer, out=received, keep=neighbors)

    @collective
    def neighbor_alltoall(self, send, sources, destinations, out=None, opposite=False):
        """Sends block i of `send` to destination i, and receives that of source i as block i of `out`."""
        call = "neighbor_alltoall"
        neighbors = Neighbors(call, self, sources, destinations, opposite)
        mine, _ = buffers.sent(call, "send", send)
        sent, blocks = len(neighbors.destinations), len(neighbors.sources)
        if sent == 0 and blocks != 0:
            received = buffers.received(call, "out", out)
            count = _divided(call, "out", received.count, blocks)
        else:
            count = _divided(call, "send", mine.count, sent) if sent else 0
            received = self._out(call, out, mine, count * blocks, (blocks, count), "a block from each source")
        return self._operation(call, lib.muster_ineighbor_alltoall, mine, received, count, mine.type, neighbors.pointer,
                               out=received, keep=neighbors)

    @collective
    def neighbor_allgatherv(self, send, counts, sources, destinations, out=None, displacements=None, opposite=False):
        """As neighbor_allgather, with `counts[i]` elements from source i."""
        call = "neighbor_allgatherv"
        neighbors = Neighbors(call, self, sources, destinations, opposite)
        blocks = Layout(call, "counts", counts, displacements, len(neighbors.sources))
        mine, _ = buffers.sent(call, "send", send)
        received = self._out_of_blocks(call, out, mine, blocks)
        blocks.require_within(call, "out", received.count)
        return self._operation(call, lib.muster_ineighbor_allgatherv, mine, mine.count, received, *blocks.pointers,
                               mine.type, neighbors.pointer, out=received, keep=(blocks, neighbors))

    @collective
    def neighbor_alltoallv(self, send, send_counts, receive_counts, sources, destinations, out=None,
                           send_displacements=None, receive_displacements=None, opposite=False):
        """As neighbor_alltoall, with blocks of any lengths."""
        call = "neighbor_alltoallv"
        neighbors = Neighbors(call, self, sources, destinations, opposite)
        sent = Layout(call, "send_counts", send_counts, send_displacements, len(neighbors.destinations), "send_displacements")
        blocks = Layout(call, "receive_counts", receive_counts, receive_displacements, len(neighbors.sources),
                        "receive_displacements")
        mine, _ = buffers.sent(call, "send", send)
        sent.require_within(call, "send", mine.count)
        received = self._out_of_blocks(call, out, mine, blocks)
        blocks.require_within(call, "out", received.count)
        return self._operation(call, lib.muster_ineighbor_alltoallv, mine, *sent.pointers, received, *blocks.pointers,
                               mine.type, neighbors.pointer, out=received, keep=(sent, blocks, neighbors))

    # ---- what they are made of

    def _operation(self, call, begin, *arguments, out=None, is_number=False, keep=None):
        """Of a function of the library and its arguments, buffers among them."""
        given = [each.pointer if type(each) is buffers.Buffer else _plain(each) for each in arguments]
        return Operation(self, call, begin, given, (arguments, keep), out, is_number)

    def _pair(self, call, send, out):
        """Two buffers of one length. The same one twice is in place."""
        if send is IN_PLACE or (send is out and out is not None):
            return IN_PLACE, buffers.received(call, "out", out), False
        mine, is_number = buffers.sent(call, "send", send)
        total = self._out(call, out, mine, mine.count, mine.shape, "as many as send")
        if mine.count != 0 and mine.is_at(total):
            return IN_PLACE, total, False
        return mine, total, is_number and out is None

    def _out(self, call, out, like, count, shape, why):
        """Where a result of so many elements goes: a new array where nothing was given."""
        if out is None:
            return buffers.made(call, shape, like)
        found = out if isinstance(out, buffers.Buffer) else buffers.received(call, "out", out)
        buffers.require_same_type(call, "out", found, like)
        buffers.require_count(call, "out", found.count, count, why)
        if like.overlaps(found) and not like.is_at(found):
            raise InvalidArgument(f"{call}: out shares memory with send; expected another buffer")
        return found

    def _out_of_blocks(self, call, out, like, blocks):
        if out is not None:
            found = buffers.received(call, "out", out)
            buffers.require_same_type(call, "out", found, like)
            if like.overlaps(found):
                raise InvalidArgument(f"{call}: out shares memory with send; expected another buffer")
            return found
        if not blocks.follows:
            raise TypeError(f"{call}: out is None; expected a buffer, since there are displacements")
        blocks.require_within(call, "out", blocks.MOST)
        return buffers.made(call, (blocks.total(),), like)

    def _block(self, call, name, of):
        return _divided(call, name, of.count, self.size)

    def _shape_of_block(self, of):
        if of.shape and of.shape[0] % self.size == 0:
            return (of.shape[0] // self.size, *of.shape[1:])
        return (of.count // self.size,)


def _plain(argument):
    """As the library takes what is no buffer."""
    if argument is None:
        return ffi.NULL
    return IN_PLACE_POINTER if argument is IN_PLACE else argument


def _divided(call, name, elements, blocks):
    if elements % blocks != 0:
        raise InvalidArgument(f"{call}: {name} has {elements} elements; expected a multiple of {blocks}, one block for each")
    return elements // blocks


def _int(value, call, name):
    if not -2**31 < value < 2**31:
        raise InvalidArgument(f"{call}: {name} is {value}; expected a number of 32 bits")
    return value
