"""Muster as a backend of torch.distributed, for tensors in the CPU's memory.

    import muster.torch
    torch.distributed.init_process_group("muster", …)

Where the process has joined a job with `muster.world()` that is what the group runs on; otherwise the ranks meet by the
group's store, on one machine.
"""

import collections
import datetime
import time

import torch
import torch.distributed as dist

import muster

from . import _world
from ._library import IN_PLACE_POINTER, DeadlineExceeded, InvalidArgument, ffi, lib
from ._operation import TURN_NS, Operation, wait

_TYPES = {
    torch.int8: lib.MUSTER_INT8,
    torch.uint8: lib.MUSTER_UINT8,
    torch.int16: lib.MUSTER_INT16,
    torch.int32: lib.MUSTER_INT32,
    torch.int64: lib.MUSTER_INT64,
    torch.float32: lib.MUSTER_FLOAT,
    torch.float64: lib.MUSTER_DOUBLE,
    torch.float16: lib.MUSTER_FLOAT16,
    torch.bfloat16: lib.MUSTER_BFLOAT16,
    torch.complex64: lib.MUSTER_COMPLEX_FLOAT,
    torch.complex128: lib.MUSTER_COMPLEX_DOUBLE,
    torch.bool: lib.MUSTER_BOOL,
}
_OPS = [
    (dist.ReduceOp.SUM, lib.MUSTER_SUM),
    (dist.ReduceOp.AVG, lib.MUSTER_SUM),
    (dist.ReduceOp.PRODUCT, lib.MUSTER_PRODUCT),
    (dist.ReduceOp.MIN, lib.MUSTER_MIN),
    (dist.ReduceOp.MAX, lib.MUSTER_MAX),
    (dist.ReduceOp.BAND, lib.MUSTER_BIT_AND),
    (dist.ReduceOp.BOR, lib.MUSTER_BIT_OR),
    (dist.ReduceOp.BXOR, lib.MUSTER_BIT_XOR),
]


def _op_of(call, op):
    for known, ours in _OPS:
        if op == known:
            return ours
    raise InvalidArgument(f"{call}: op is {op}; expected SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR or BXOR")


def _require_tensor(call, name, given):
    if not isinstance(given, torch.Tensor):
        raise TypeError(f"{call}: {name} is of type {type(given).__name__}; expected a tensor")
    if given.device.type != "cpu" or given.layout != torch.strided:
        raise InvalidArgument(f"{call}: {name} is {given.layout} on {given.device}; expected a dense one on the CPU")
    if given.dtype not in _TYPES:
        raise TypeError(f"{call}: {name} has elements of type {given.dtype}; expected numbers or booleans")
    return given


def _one(call, name, given):
    """The tensor in a list of one."""
    if len(given) != 1:
        raise InvalidArgument(f"{call}: {name} has {len(given)} entries; expected 1")
    return given[0]


def _dense(tensor):
    """Its elements one after the other: itself, or a copy."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    return plain.contiguous()


class _Place:
    """What is received: the tensor itself where it is dense, otherwise a copy that goes back at the end."""

    def __init__(self, call, name, tensor, keeps=True):
        self.tensor = _require_tensor(call, name, tensor).detach()
        self.dense = _dense(self.tensor) if keeps else self._room()

    def _room(self):
        return self.tensor if self.tensor.is_contiguous() else torch.empty_like(self.tensor).contiguous()

    def end(self):
        if self.dense.data_ptr() != self.tensor.data_ptr():
            self.tensor.copy_(self.dense)


class _Places:
    """A list of tensors that are received as blocks of one: in one memory where they lie so, else copied at the end."""

    def __init__(self, call, name, tensors, like):
        self.tensors = [_require_tensor(call, f"{name}[{i}]", each).detach() for i, each in enumerate(tensors)]
        for i, each in enumerate(self.tensors):
            if each.dtype != like.dtype:
                raise TypeError(f"{call}: {name}[{i}] has elements of type {each.dtype}; expected {like.dtype}")
        self.counts = [each.numel() for each in self.tensors]
        self._is_one = _follow(self.tensors)
        self.dense = self.tensors[0] if self._is_one else torch.empty(sum(self.counts), dtype=like.dtype)

    def end(self):
        if not self._is_one:
            for each, block in zip(self.tensors, self.dense.split(self.counts)):
                each.copy_(block.view(each.shape))


def _follow(tensors):
    """Whether they are dense, and each begins where the one before it ends."""
    end = tensors[0].data_ptr()
    for each in tensors:
        if not each.is_contiguous() or each.data_ptr() != end or each.is_conj() or each.is_neg():
            return False
        end += each.numel() * each.element_size()
    return True


def _joined(call, name, tensors):
    """A list of tensors as one: itself where they lie so, else a copy."""
    found = [_require_tensor(call, f"{name}[{i}]", each).detach() for i, each in enumerate(tensors)]
    for i, each in enumerate(found):
        if each.dtype != found[0].dtype:
            raise TypeError(f"{call}: {name}[{i}] has elements of type {each.dtype}; expected {found[0].dtype}")
    return (found[0] if _follow(found) else torch.cat([_dense(each).view(-1) for each in found])), [each.numel() for each in found]


def _pointer(tensor):
    return ffi.cast("void *", tensor.data_ptr())


def _require_count(call, name, has, expected, why):
    if has != expected:
        raise InvalidArgument(f"{call}: {name} has {has} elements; expected {expected}, {why}")


def _sizes(counts):
    return ffi.new("size_t[]", counts)


class Work(dist._Work):
    """An operation under way, which goes on while a call of Muster waits or tests: there is no thread."""

    def __init__(self, group, operation, result):
        super().__init__()
        self._world = group.team._world
        self._operation = operation
        self._result = result
        self._is_over = False
        self._failure = None

    def _conclude(self, has_ended):
        """Whether it is over, if that has been learnt already or `has_ended()`."""
        if not self._is_over:
            try:
                with self._world.alone:
                    if not has_ended():
                        return False
                    self._operation.result()
            except BaseException as why:
                if self._operation.request[0]:
                    raise  # it goes on: another thread is in a call
                self._end(why)
                if not isinstance(why, muster.Error):
                    raise
            else:
                self._end(None)
        return True

    def _end(self, failure):
        self._failure, self._is_over, self._operation = failure, True, None

    def is_completed(self):
        return self._conclude(lambda: self._operation.ended(0))

    def is_success(self):
        return self.is_completed() and self._failure is None

    def exception(self):
        return self._failure

    def wait(self, timeout=datetime.timedelta(0)):
        self._conclude(lambda: self._wait(timeout.total_seconds()))
        if self._failure is not None:
            raise self._failure
        return True

    def _wait(self, seconds):
        if seconds <= 0:
            wait(self._operation)
            return True
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


class ProcessGroup(dist.ProcessGroup):
    """The collectives of torch.distributed on a team. What the names of the arguments are is torch's choice."""

    def __init__(self, team):
        super().__init__(team.rank, team.size)
        self.team = team
        self._pending = collections.deque()  # nobody need hold a Work

    def getBackendName(self):
        return "muster"

    def _begin(self, begin, keep, ends, result):
        """Begins an operation; at its end `ends` put what was received where it belongs."""
        pointer = self.team._require_whole("torch")

        def finished():
            for each in ends:
                each.end()

        operation = Operation(self.team, lambda request: begin(pointer, request), (keep, ends, result), finished)
        with self.team._world.alone:
            operation.start()
        work = Work(self, operation, result)
        while self._pending and self._pending[0].is_completed():
            self._pending.popleft()
        self._pending.append(work)
        return work

    def _root(self, call, rank):
        if not 0 <= rank < self.team.size:
            raise InvalidArgument(f"{call}: root is {rank}; expected a rank from 0 to {self.team.size - 1}")
        return rank

    def barrier(self, opts=None):
        return self._begin(lambda team, request: lib.muster_ibarrier(team, request), (), (), [])

    def broadcast(self, tensors, opts):
        place = _Place("broadcast", "tensor", _one("broadcast", "tensors", tensors))
        root = self._root("broadcast", opts.rootRank)
        data = place.dense
        return self._begin(
            lambda team, request: lib.muster_ibcast(team, _pointer(data), data.numel(), _TYPES[data.dtype], root, request),
            data, [place], tensors)

    def allreduce(self, tensors, opts):
        return self._reduce_in_place("all_reduce", tensors, opts, lib.muster_iallreduce)

    def allreduce_coalesced(self, tensors, opts):
        works = [self.allreduce([each], opts) for each in tensors]
        return _All(works, tensors)

    def reduce(self, tensors, opts):
        root = self._root("reduce", opts.rootRank)
        return self._reduce_in_place("reduce", tensors, opts, lib.muster_ireduce, root, ends=self.team.rank == root)

    def _reduce_in_place(self, call, tensors, opts, begin, *root, ends=True):
        place = _Place(call, "tensor", _one(call, "tensors", tensors))
        op, data = _op_of(call, opts.reduceOp), place.dense
        kind = _TYPES[data.dtype]
        return self._begin(
            lambda team, request: begin(team, IN_PLACE_POINTER, _pointer(data), data.numel(), kind, op, *root, request),
            data, [*self._average(opts, data), place] if ends else [], tensors)

    def _average(self, opts, data):
        if opts.reduceOp != dist.ReduceOp.AVG:
            return []
        if not (data.dtype.is_floating_point or data.dtype.is_complex):
            raise TypeError(f"reduce: op is AVG of elements of type {data.dtype}; expected floating point numbers")
        return [_Average(data, self.team.size)]

    def allgather(self, output_lists, inputs, opts=None):
        return self._gather("all_gather", output_lists, inputs, lib.muster_iallgather)

    def _gather(self, call, output_lists, inputs, begin, *root):
        mine = _dense(_require_tensor(call, "tensor", _one(call, "inputs", inputs)))
        outputs = _one(call, "tensor_list", output_lists)
        if len(outputs) != self.team.size:
            raise InvalidArgument(f"{call}: tensor_list has {len(outputs)} entries; expected {self.team.size}, one for each rank")
        places = _Places(call, "tensor_list", outputs, mine)
        for i, count in enumerate(places.counts):
            _require_count(call, f"tensor_list[{i}]", count, mine.numel(), "as many as tensor")
        return self._begin(
            lambda team, request: begin(team, _pointer(mine), _pointer(places.dense), mine.numel(), _TYPES[mine.dtype],
                                        *root, request),
            mine, [places], output_lists)

    def _allgather_base(self, output, input_, opts=None):
        call = "all_gather_into_tensor"
        mine = _dense(_require_tensor(call, "input_tensor", input_))
        place = _Place(call, "output_tensor", output, keeps=False)
        _require_count(call, "output_tensor", output.numel(), mine.numel() * self.team.size, "a block from each rank")
        self._require_same(call, "output_tensor", output, mine)
        return self._begin(
            lambda team, request: lib.muster_iallgather(team, _pointer(mine), _pointer(place.dense), mine.numel(),
                                                        _TYPES[mine.dtype], request),
            mine, [place], output)

    def gather(self, output_lists, inputs, opts):
        root = self._root("gather", opts.rootRank)
        if self.team.rank == root:
            return self._gather("gather", output_lists, inputs, lib.muster_igather, root)
        mine = _dense(_require_tensor("gather", "tensor", _one("gather", "inputs", inputs)))
        return self._begin(
            lambda team, request: lib.muster_igather(team, _pointer(mine), ffi.NULL, mine.numel(), _TYPES[mine.dtype],
                                                     root, request),
            mine, [], output_lists)

    def scatter(self, outputs, input_lists, opts):
        root = self._root("scatter", opts.rootRank)
        place = _Place("scatter", "tensor", _one("scatter", "outputs", outputs), keeps=False)
        block, blocks = place.dense, None
        if self.team.rank == root:
            blocks = self._equal_blocks("scatter", "scatter_list", _one("scatter", "inputs", input_lists), block)
        return self._begin(
            lambda team, request: lib.muster_iscatter(team, ffi.NULL if blocks is None else _pointer(blocks), _pointer(block),
                                                      block.numel(), _TYPES[block.dtype], root, request),
            blocks, [place], outputs)

    def _equal_blocks(self, call, name, tensors, like):
        """As many tensors as ranks, each as long as one block, as one."""
        if len(tensors) != self.team.size:
            raise InvalidArgument(f"{call}: {name} has {len(tensors)} entries; expected {self.team.size}, one for each rank")
        blocks, counts = _joined(call, name, tensors)
        for i, count in enumerate(counts):
            _require_count(call, f"{name}[{i}]", count, like.numel(), "as many as in the other tensor")
        self._require_same(call, name, blocks, like)
        return blocks

    @staticmethod
    def _require_same(call, name, has, like):
        if has.dtype != like.dtype:
            raise TypeError(f"{call}: {name} has elements of type {has.dtype}; expected {like.dtype}")

    def reduce_scatter(self, outputs, input_lists, opts):
        place = _Place("reduce_scatter", "output", _one("reduce_scatter", "outputs", outputs), keeps=False)
        blocks = self._equal_blocks("reduce_scatter", "input_list", _one("reduce_scatter", "inputs", input_lists), place.dense)
        return self._reduce_scatter("reduce_scatter", place, blocks, opts, outputs)

    def _reduce_scatter_base(self, output, input_, opts):
        call = "reduce_scatter_tensor"
        place = _Place(call, "output", output, keeps=False)
        blocks = _dense(_require_tensor(call, "input", input_))
        _require_count(call, "input", blocks.numel(), output.numel() * self.team.size, "a block for each rank")
        self._require_same(call, "input", blocks, place.dense)
        return self._reduce_scatter(call, place, blocks, opts, output)

    def _reduce_scatter(self, call, place, blocks, opts, result):
        op, block = _op_of(call, opts.reduceOp), place.dense
        return self._begin(
            lambda team, request: lib.muster_ireduce_scatter_block(team, _pointer(blocks), _pointer(block), block.numel(),
                                                                   _TYPES[block.dtype], op, request),
            blocks, [*self._average(opts, block), place], result)

    def alltoall(self, outputs, inputs, opts=None):
        for name, given in (("input_tensor_list", inputs), ("output_tensor_list", outputs)):
            if len(given) != self.team.size:
                raise InvalidArgument(f"all_to_all: {name} has {len(given)} entries; expected {self.team.size}, one for each rank")
        mine, sent = _joined("all_to_all", "input_tensor_list", inputs)
        places = _Places("all_to_all", "output_tensor_list", outputs, mine)
        return self._alltoallv(mine, sent, places.dense, places.counts, [places], outputs)

    def _alltoallv(self, mine, sent, received, counts, ends, result):
        lengths = _sizes(sent), _sizes(counts)
        return self._begin(
            lambda team, request: lib.muster_ialltoallv(team, _pointer(mine), lengths[0], ffi.NULL, _pointer(received), lengths[1],
                                                        ffi.NULL, _TYPES[mine.dtype], request),
            (mine, lengths), ends, result)

    def alltoall_base(self, output, input_, output_split_sizes, input_split_sizes, opts=None):
        call = "all_to_all_single"
        mine = _dense(_require_tensor(call, "input", input_))
        place = _Place(call, "output", output, keeps=False)
        self._require_same(call, "output", place.dense, mine)
        sent = self._splits(call, "input", mine, input_split_sizes)
        received = self._splits(call, "output", place.dense, output_split_sizes)
        if input_split_sizes or output_split_sizes:
            return self._alltoallv(mine, sent, place.dense, received, [place], output)
        _require_count(call, "output", output.numel(), mine.numel(), "as many as input")
        return self._begin(
            lambda team, request: lib.muster_ialltoall(team, _pointer(mine), _pointer(place.dense), sent[0], _TYPES[mine.dtype],
                                                       request),
            mine, [place], output)

    def _splits(self, call, name, tensor, sizes):
        """Elements for each rank, of rows."""
        rows = tensor.shape[0] if tensor.dim() else 1
        if not sizes:
            if rows % self.team.size != 0:
                raise InvalidArgument(f"{call}: {name} has {rows} rows; expected a multiple of {self.team.size}, one block for each rank")
            return [tensor.numel() // self.team.size] * self.team.size
        if len(sizes) != self.team.size or min(sizes) < 0 or sum(sizes) != rows:
            raise InvalidArgument(f"{call}: {name}_split_sizes is {list(sizes)}; expected {self.team.size} lengths, {rows} in all")
        width = tensor.numel() // rows if rows else 0
        return [width * each for each in sizes]

    def send(self, tensors, rank, tag=0):
        raise NotImplementedError("send: the backend 'muster' has collectives alone")

    def recv(self, tensors, rank, tag=0):
        raise NotImplementedError("recv: the backend 'muster' has collectives alone")


class _Average:
    """Makes a sum a mean at the end."""

    def __init__(self, data, ranks):
        self._data, self._ranks = data, ranks

    def end(self):
        self._data.div_(self._ranks)


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
        raise InvalidArgument("new_group: ranks are some of all; expected muster.torch.new_group(ranks), which all ranks call")
    world = _world_of(options.store, options.group_rank, size)
    return ProcessGroup(world.duplicate())


def new_group(ranks, **options):
    """As torch.distributed.new_group, of any ranks; all ranks call it."""
    team = muster.world().subset(sorted(ranks))  # as torch orders them
    if team is not None:
        _prepared.append(team)
    try:
        return dist.new_group(ranks, backend="muster", **options)
    finally:
        _prepared.clear()


dist.Backend.register_backend("muster", _create, extended_api=True)
