"""Muster as a backend of torch.distributed, for tensors in the CPU's memory.

    import muster.torch
    torch.distributed.init_process_group("muster", …)

Where the process has joined a job with `muster.world()` that is what the group runs on; otherwise the ranks meet by the
group's store, on one machine.
"""

import collections
import datetime
import functools
import inspect
import sys
import time

import torch
import torch.distributed as dist

import muster

from . import _world
from ._library import IN_PLACE_POINTER, DeadlineExceeded, InvalidArgument, ffi, lib
from ._operation import TURN_NS, Operation
from ._tensors import (TYPES, pointer, received, received_blocks, require_count, require_same_type, sent, sent_blocks)

_NO_LIMIT = datetime.timedelta(0)

_OPS = {  # by number: what it combines with, and whether the result is a mean
    hash(dist.ReduceOp.SUM): (lib.MUSTER_SUM, False),
    hash(dist.ReduceOp.AVG): (lib.MUSTER_SUM, True),
    hash(dist.ReduceOp.PRODUCT): (lib.MUSTER_PRODUCT, False),
    hash(dist.ReduceOp.MIN): (lib.MUSTER_MIN, False),
    hash(dist.ReduceOp.MAX): (lib.MUSTER_MAX, False),
    hash(dist.ReduceOp.BAND): (lib.MUSTER_BIT_AND, False),
    hash(dist.ReduceOp.BOR): (lib.MUSTER_BIT_OR, False),
    hash(dist.ReduceOp.BXOR): (lib.MUSTER_BIT_XOR, False),
}


def _op_of(call, op, dtype):
    known = _OPS.get(hash(op))  # its number: to compare two of them takes as long as a collective
    if known is None:
        raise InvalidArgument(f"{call}: op is {op}; expected SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR or BXOR")
    if known[1] and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(f"{call}: op is AVG of elements of type {dtype}; expected floating point numbers")
    return known


def _require_list(call, name, given):
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"{call}: {name} is of type {type(given).__name__}; expected a list")


def _one(call, name, given):
    """What is in a list of one."""
    _require_list(call, name, given)
    if len(given) != 1:
        raise InvalidArgument(f"{call}: {name} has {len(given)} entries; expected 1")
    return given[0]


class _Mean:
    """Makes of a sum, at the end, a mean."""

    def __init__(self, total, ranks):
        self._total, self._ranks = total.detach(), ranks

    def end(self):
        self._total.div_(self._ranks)


class Work(dist._Work):
    """An operation under way, which goes on while a call of Muster waits or tests: there is no thread."""

    def __init__(self, operation, ends, result):
        dist._Work.__init__(self)
        self._operation = operation  # None as soon as it is known to be over
        self._ends = ends
        self._result = result
        self._failure = None

    def _conclude(self, has_ended, *limit):
        """Whether it is over, where `has_ended` tells that it is."""
        operation = self._operation
        with operation.team._world.alone:
            try:
                if not has_ended(*limit):
                    return False
                for each in self._ends:
                    each.end()
            except BaseException as why:
                if operation.is_under_way():
                    raise
                self._end(why)
                if not isinstance(why, muster.Error):
                    raise
            else:
                self._end(None)
        return True

    def _end(self, failure):
        self._failure, self._operation, self._ends = failure, None, ()

    def forget_result(self):
        self._result = None

    def is_over(self):
        """Whether that has been learnt."""
        return self._operation is None

    def is_completed(self):
        return self.is_over() or self._conclude(self._operation.ended, 0)

    def is_success(self):
        return self.is_completed() and self._failure is None

    def exception(self):
        return self._failure

    def wait(self, timeout=_NO_LIMIT):
        if self._operation is not None:
            if timeout > _NO_LIMIT:
                self._conclude(self._wait_at_most, timeout.total_seconds())
            else:
                self._conclude(self._operation.wait)
        if self._failure is not None:
            raise self._failure
        return True

    def _wait_at_most(self, seconds):
        end = time.monotonic() + seconds
        while not self._operation.ended(min(TURN_NS, max(0, int(1e9 * (end - time.monotonic()))))):
            if time.monotonic() >= end:
                self._operation.stop()
                raise DeadlineExceeded(f"wait: {seconds} s have passed, and the operation was stopped")
        return True

    def synchronize(self):
        self.wait()

    def result(self):
        return self._result

    def get_future(self):
        """That of what it gives, once it has ended, for which it waits."""
        self.wait()
        future = torch.futures.Future()
        future.set_result(self._result)
        return future


def _references_of_one_variable():
    alone = object()
    return sys.getrefcount(alone)


_REFERENCES_OF_ONE_VARIABLE = _references_of_one_variable()


class ProcessGroup(dist.ProcessGroup):
    """The collectives of torch.distributed on a team. What the names of the arguments are is torch's choice."""

    def __init__(self, team):
        super().__init__(team.rank, team.size)
        self.team = team
        self._pending = collections.deque()  # nobody need hold a Work
        # What torch's C++ may still hold, which does not keep the Python object alive: without that, to wait would be to
        # wait for ever.
        self._over = collections.deque(maxlen=1024)

    def getBackendName(self):
        return "muster"

    def _begin(self, begin, *arguments, keep, ends=(), result):
        """Begins an operation; at its end `ends` are done."""
        operation = Operation(self.team, "torch", begin, arguments, keep)
        with self.team._world.alone:
            operation.start()
        work = Work(operation, ends, result)
        pending = self._pending
        while pending and (pending[0].is_over() or pending[0].is_completed()):
            over = pending.popleft()
            if sys.getrefcount(over) == _REFERENCES_OF_ONE_VARIABLE:
                over.forget_result()
                self._over.append(over)
        pending.append(work)
        return work

    def _root(self, call, rank):
        if not 0 <= rank < self.team.size:
            raise InvalidArgument(f"{call}: root is {rank}; expected a rank from 0 to {self.team.size - 1}")
        return rank

    def _require_one_each(self, call, name, tensors):
        _require_list(call, name, tensors)
        if len(tensors) != self.team.size:
            raise InvalidArgument(f"{call}: {name} has {len(tensors)} entries; expected {self.team.size}, one for each rank")

    def barrier(self, opts=None):
        return self._begin(lib.muster_ibarrier, keep=(), result=[])

    def broadcast(self, tensors, opts):
        data, ends = received("broadcast", "tensor", _one("broadcast", "tensors", tensors))
        root = self._root("broadcast", opts.rootRank)
        return self._begin(lib.muster_ibcast, pointer(data), data.numel(), TYPES[data.dtype], root,
                           keep=data, ends=ends, result=tensors)

    def allreduce(self, tensors, opts):
        return self._reduce_in_place("all_reduce", tensors, opts, lib.muster_iallreduce)

    def allreduce_coalesced(self, tensors, opts):
        works = [self.allreduce([each], opts) for each in tensors]
        return _All(works, tensors)

    def reduce(self, tensors, opts):
        root = self._root("reduce", opts.rootRank)
        return self._reduce_in_place("reduce", tensors, opts, lib.muster_ireduce, root, receives=self.team.rank == root)

    def _reduce_in_place(self, call, tensors, opts, begin, *root, receives=True):
        data, ends = received(call, "tensor", _one(call, "tensors", tensors))
        op, is_mean = _op_of(call, opts.reduceOp, data.dtype)
        return self._begin(begin, IN_PLACE_POINTER, pointer(data), data.numel(), TYPES[data.dtype], op, *root,
                           keep=data, ends=self._meaning(is_mean, data, ends) if receives else (), result=tensors)

    def _meaning(self, is_mean, data, ends):
        return (_Mean(data, self.team.size), *ends) if is_mean else ends

    def allgather(self, output_lists, inputs, opts=None):
        return self._gather("all_gather", output_lists, inputs, lib.muster_iallgather)

    def allgather_coalesced(self, output_lists, inputs, opts=None):
        self._require_one_each("all_gather_coalesced", "output_tensor_lists", output_lists)
        return _All([self.allgather([[each[i] for each in output_lists]], [mine]) for i, mine in enumerate(inputs)], output_lists)

    def _gather(self, call, output_lists, inputs, begin, *root):
        mine = sent(call, "tensor", _one(call, "inputs", inputs))
        outputs = _one(call, "tensor_list", output_lists)
        self._require_one_each(call, "tensor_list", outputs)
        blocks, counts, ends = received_blocks(call, "tensor_list", outputs, mine)
        for i, count in enumerate(counts):
            require_count(call, f"tensor_list[{i}]", count, mine.numel(), "as many as tensor")
        return self._begin(begin, pointer(mine), pointer(blocks), mine.numel(), TYPES[mine.dtype], *root,
                           keep=(mine, blocks), ends=ends, result=output_lists)

    def _allgather_base(self, output, input_, opts=None):
        call = "all_gather_into_tensor"
        mine = sent(call, "input_tensor", input_)
        blocks, ends = received(call, "output_tensor", output, keeps=False)
        require_count(call, "output_tensor", output.numel(), mine.numel() * self.team.size, "a block from each rank")
        require_same_type(call, "output_tensor", output, mine)
        return self._begin(lib.muster_iallgather, pointer(mine), pointer(blocks), mine.numel(), TYPES[mine.dtype],
                           keep=(mine, blocks), ends=ends, result=output)

    def gather(self, output_lists, inputs, opts):
        root = self._root("gather", opts.rootRank)
        if self.team.rank == root:
            return self._gather("gather", output_lists, inputs, lib.muster_igather, root)
        mine = sent("gather", "tensor", _one("gather", "inputs", inputs))
        return self._begin(lib.muster_igather, pointer(mine), ffi.NULL, mine.numel(), TYPES[mine.dtype], root,
                           keep=mine, result=output_lists)

    def scatter(self, outputs, input_lists, opts):
        root = self._root("scatter", opts.rootRank)
        block, ends = received("scatter", "tensor", _one("scatter", "outputs", outputs), keeps=False)
        blocks = None
        if self.team.rank == root:
            blocks = self._equal_blocks("scatter", "scatter_list", _one("scatter", "inputs", input_lists), block)
        return self._begin(lib.muster_iscatter, ffi.NULL if blocks is None else pointer(blocks), pointer(block),
                           block.numel(), TYPES[block.dtype], root, keep=(blocks, block), ends=ends, result=outputs)

    def _equal_blocks(self, call, name, tensors, like):
        """As many tensors as ranks, each as long as one block, as one."""
        self._require_one_each(call, name, tensors)
        blocks, counts = sent_blocks(call, name, tensors)
        for i, count in enumerate(counts):
            require_count(call, f"{name}[{i}]", count, like.numel(), "as many as in the other tensor")
        require_same_type(call, name, blocks, like)
        return blocks

    def reduce_scatter(self, outputs, input_lists, opts):
        call = "reduce_scatter"
        block, ends = received(call, "output", _one(call, "outputs", outputs), keeps=False)
        blocks = self._equal_blocks(call, "input_list", _one(call, "inputs", input_lists), block)
        return self._reduce_scatter(call, block, blocks, opts, ends, outputs)

    def _reduce_scatter_base(self, output, input_, opts):
        call = "reduce_scatter_tensor"
        block, ends = received(call, "output", output, keeps=False)
        blocks = sent(call, "input", input_)
        require_count(call, "input", blocks.numel(), output.numel() * self.team.size, "a block for each rank")
        require_same_type(call, "input", blocks, block)
        return self._reduce_scatter(call, block, blocks, opts, ends, output)

    def _reduce_scatter(self, call, block, blocks, opts, ends, result):
        op, is_mean = _op_of(call, opts.reduceOp, block.dtype)
        return self._begin(lib.muster_ireduce_scatter_block, pointer(blocks), pointer(block), block.numel(),
                           TYPES[block.dtype], op, keep=(blocks, block), ends=self._meaning(is_mean, block, ends),
                           result=result)

    def alltoall(self, outputs, inputs, opts=None):
        call = "all_to_all"
        self._require_one_each(call, "input_tensor_list", inputs)
        self._require_one_each(call, "output_tensor_list", outputs)
        mine, lengths = sent_blocks(call, "input_tensor_list", inputs)
        blocks, counts, ends = received_blocks(call, "output_tensor_list", outputs, mine)
        return self._alltoallv(mine, lengths, blocks, counts, ends, outputs)

    def _alltoallv(self, mine, lengths, blocks, counts, ends, result):
        return self._begin(lib.muster_ialltoallv, pointer(mine), lengths, ffi.NULL, pointer(blocks), counts, ffi.NULL,
                           TYPES[mine.dtype], keep=(mine, blocks), ends=ends, result=result)

    def alltoall_base(self, output, input_, output_split_sizes, input_split_sizes, opts=None):
        call = "all_to_all_single"
        mine = sent(call, "input", input_)
        blocks, ends = received(call, "output", output, keeps=False)
        require_same_type(call, "output", blocks, mine)
        lengths = self._splits(call, "input", mine, input_split_sizes)
        counts = self._splits(call, "output", blocks, output_split_sizes)
        if input_split_sizes or output_split_sizes:
            return self._alltoallv(mine, lengths, blocks, counts, ends, output)
        require_count(call, "output", output.numel(), mine.numel(), "as many as input")
        return self._begin(lib.muster_ialltoall, pointer(mine), pointer(blocks), lengths[0], TYPES[mine.dtype],
                           keep=(mine, blocks), ends=ends, result=output)

    def _splits(self, call, name, tensor, sizes):
        """Elements for each rank, of rows."""
        rows = tensor.shape[0] if tensor.dim() else 1
        _require_list(call, f"{name}_split_sizes", sizes)
        if not sizes:
            if rows % self.team.size != 0:
                raise InvalidArgument(f"{call}: {name} has {rows} rows; expected a multiple of {self.team.size}, one block for each rank")
            return [tensor.numel() // self.team.size] * self.team.size
        for i, each in enumerate(sizes):
            if not isinstance(each, int):
                raise TypeError(f"{call}: {name}_split_sizes[{i}] is of type {type(each).__name__}; expected a length")
        if len(sizes) != self.team.size or min(sizes) < 0 or sum(sizes) != rows:
            raise InvalidArgument(f"{call}: {name}_split_sizes is {list(sizes)}; expected {self.team.size} lengths, {rows} in all")
        width = tensor.numel() // rows if rows else 0
        return [width * each for each in sizes]

    def send(self, tensors, rank, tag=0):
        raise NotImplementedError("send: the backend 'muster' has collectives alone")

    def recv(self, tensors, rank, tag=0):
        raise NotImplementedError("recv: the backend 'muster' has collectives alone")


class _All(dist._Work):
    """Several as one."""

    def __init__(self, works, result):
        super().__init__()
        self._works, self._result = works, result

    def is_completed(self):
        return all([each.is_completed() for each in self._works])

    def is_success(self):
        return all([each.is_success() for each in self._works])

    def exception(self):
        return next((each.exception() for each in self._works if each.exception()), None)

    def wait(self, timeout=datetime.timedelta(0)):
        return all([each.wait(timeout) for each in self._works])

    def result(self):
        return self._result


# ---- groups


class _ByStore:
    """How processes that torch's store connects tell each other what it takes."""

    def __init__(self, store, rank, size):
        self.rank, self.size = rank, size
        self._store, self._turn = store, 0

    def allgather(self, mine):
        self._turn += 1
        self._store.set(f"muster/{self._turn}/{self.rank}", mine)
        return [bytes(self._store.get(f"muster/{self._turn}/{each}")) for each in range(self.size)]


_prepared = []  # the team of the group that is being made


def _world_of(store, rank, size):
    if _world._joined is None:
        muster.init(_ByStore(store, rank, size))
    world = muster.world()
    if (world.rank, world.size) != (rank, size):
        raise InvalidArgument(f"init_process_group: rank is {rank} of {size}; expected {world.rank} of {world.size}, as in the "
                              "job that this process has joined")
    return world


def _create(options, _pg_options=None):
    if _prepared:
        return ProcessGroup(_prepared.pop())
    size, ranks = options.group_size, list(options.global_ranks_in_group)
    if ranks and len(ranks) != dist.get_world_size():
        raise InvalidArgument("new_group: torch's function was taken before muster.torch was imported; expected "
                              "torch.distributed.new_group as it is since")
    world = _world_of(options.store, options.group_rank, size)
    return ProcessGroup(world.duplicate())


_new_group = dist.new_group
_arguments_of = inspect.signature(_new_group)


@functools.wraps(_new_group)
def new_group(*args, **kwargs):
    # torch calls a backend on the members alone; but all ranks make a team of some.
    given = _arguments_of.bind(*args, **kwargs).arguments
    ranks = given.get("ranks")
    if (given.get("backend") or dist.get_backend()) == "muster" and _are_some(ranks):
        store = dist.distributed_c10d._get_default_store()
        team = _world_of(store, dist.get_rank(), dist.get_world_size()).subset(sorted(ranks))  # as torch orders them
        if team is not None:
            _prepared.append(team)
    try:
        return _new_group(*args, **kwargs)
    finally:
        _prepared.clear()


def _are_some(ranks):
    """Whether they are some of all ranks, and right; what is wrong with others torch says."""
    size = dist.get_world_size()
    return ranks is not None and len(ranks) < size and len(set(ranks)) == len(ranks) and all(0 <= each < size for each in ranks)


dist.new_group = dist.distributed_c10d.new_group = new_group
dist.Backend.register_backend("muster", _create, extended_api=True)
