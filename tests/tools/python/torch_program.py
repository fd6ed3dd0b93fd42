"""torch.distributed with the backend "muster", beside Gloo in the same processes.

usage: torch_program.py FOLDER all | times   (FOLDER: where the ranks meet; started by `muster run`, or by torchrun's words)
"""

import os
import statistics
import sys
import time
import weakref
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.distributed.optim import ZeroRedundancyOptimizer

import muster.torch
from checks import raises, require

if "RANK" in os.environ:  # by the group's store
    RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
else:
    RANK, SIZE = muster.world().rank, muster.world().size
torch.set_num_threads(1)
dist.init_process_group("muster", init_method=f"file://{sys.argv[1]}/store", rank=RANK, world_size=SIZE)
require(dist.get_backend() == "muster", dist.get_backend())
gloo = dist.new_group(backend="gloo")


def of(rank, count, dtype=torch.float32):
    return (torch.arange(count) % 13 + 10 * (rank + 1)).to(dtype)


def same(got, expected, what):
    require(got.dtype == expected.dtype and got.shape == expected.shape and torch.equal(got, expected),
            f"{what}: {got}; expected {expected}")


def both(call, *tensors, group=None, **kwargs):
    """What a call makes of copies of tensors, with Muster, awaited or not, and with Gloo."""
    results = []
    for where, later in ((None, False), (None, True), (gloo, False)):
        copies = [each.clone() if isinstance(each, torch.Tensor) else [one.clone() for one in each] for each in tensors]
        work = call(*copies, group=where, async_op=later, **kwargs)
        if later:
            require(work.wait() and work.is_completed() and work.is_success(), "a work that has ended says so")
        results.append(copies)
    for got in results[:2]:
        for one, other in zip(got, results[2]):
            for left, right in zip(one if isinstance(one, list) else [one], other if isinstance(other, list) else [other]):
                same(left, right, f"{call.__name__}, beside Gloo")


def beside_gloo():
    for count in (1, 5, 1000, 100000):
        for dtype in (torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.int8):
            for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PRODUCT):
                both(dist.all_reduce, of(RANK, count, dtype) % 5, op=op)
        mine = of(RANK, count)
        both(dist.broadcast, mine, src=SIZE - 1)
        both(dist.all_gather, [torch.zeros(count) for _ in range(SIZE)], mine)
    both(dist.all_reduce, of(RANK, 7, torch.float16))
    both(dist.all_reduce, of(RANK, 24).view(2, 3, 4))


def what_gloo_lacks():
    count = 6
    blocks = of(RANK, SIZE * count)
    everybody = [of(rank, SIZE * count) for rank in range(SIZE)]
    own = slice(RANK * count, (RANK + 1) * count)
    total = torch.stack(everybody).sum(0)
    for later in (False, True):
        def done(work):
            require(not later or work.wait(), "waited")

        out = torch.zeros(count)
        done(dist.reduce_scatter(out, list(blocks.split(count)), async_op=later))
        same(out, total[own], "reduce_scatter")
        out = torch.zeros(count)
        done(dist.reduce_scatter(out, [each.clone() for each in blocks.split(count)], async_op=later))
        same(out, total[own], "reduce_scatter of tensors apart")
        done(dist.reduce_scatter_tensor(out, blocks, async_op=later))
        same(out, total[own], "reduce_scatter_tensor")
        out = torch.zeros(SIZE * count)
        done(dist.all_to_all_single(out, blocks, async_op=later))
        same(out, torch.cat([each[own] for each in everybody]), "all_to_all_single")
        apart = [torch.zeros(count) for _ in range(SIZE)]
        done(dist.all_to_all(apart, list(blocks.split(count)), async_op=later))
        same(torch.cat(apart), out, "all_to_all")
        sent, received = [RANK + peer for peer in range(SIZE)], [peer + RANK for peer in range(SIZE)]
        data = of(RANK, 2 * sum(sent)).view(-1, 2)
        got = torch.zeros(sum(received), 2)
        done(dist.all_to_all_single(got, data, received, sent, async_op=later))
        expected = torch.cat([of(rank, 2 * sum(rank + peer for peer in range(SIZE))).view(-1, 2).split(
            [rank + peer for peer in range(SIZE)])[RANK] for rank in range(SIZE)])
        same(got, expected, "all_to_all_single with splits")
        out = torch.zeros(SIZE * count)
        done(dist.all_gather_into_tensor(out, blocks[own].clone(), async_op=later))
        same(out, torch.cat([each[rank * count:(rank + 1) * count] for rank, each in enumerate(everybody)]), "all_gather_into_tensor")
        data = blocks.clone()
        done(dist.reduce(data, dst=SIZE - 1, async_op=later))
        if RANK == SIZE - 1:
            same(data, total, "reduce")
        lists = [torch.zeros(count) for _ in range(SIZE)] if RANK == 0 else None
        done(dist.gather(blocks[:count], lists, dst=0, async_op=later))
        if RANK == 0:
            same(torch.stack(lists), torch.stack([each[:count] for each in everybody]), "gather")
        out = torch.zeros(count)
        done(dist.scatter(out, list(blocks.split(count)) if RANK == 0 else None, src=0, async_op=later))
        same(out, everybody[0][own], "scatter")
        done(dist.barrier(async_op=later))
    mean = torch.full((4,), float(RANK))
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    same(mean, torch.full((4,), (SIZE - 1) / 2), "the mean")
    bits = of(RANK, 9, torch.int64)
    dist.all_reduce(bits, op=dist.ReduceOp.BXOR)
    half = of(RANK, 5, torch.bfloat16)
    dist.all_reduce(half)
    same(half, sum(of(rank, 5, torch.bfloat16) for rank in range(SIZE)), "bfloat16")
    gaps = of(RANK, 20)[::2]
    dist.all_reduce(gaps)
    same(gaps, torch.stack([of(rank, 20)[::2] for rank in range(SIZE)]).sum(0), "a tensor with gaps")
    columns = of(RANK, 12).view(3, 4).t()
    dist.all_reduce(columns)
    same(columns, torch.stack([of(rank, 12).view(3, 4).t() for rank in range(SIZE)]).sum(0), "a transposed one")


def many_in_flight():
    data = [torch.full((1 + 999 * (i % 3),), float(RANK + i)) for i in range(60)]
    works = [dist.all_reduce(each, async_op=True) for each in data]
    for work in reversed(works):
        work.wait()
    for i, each in enumerate(data):
        same(each, torch.full_like(each, SIZE * (SIZE - 1) / 2 + i * SIZE), "many in flight")
    for work, each in zip(works, data):
        require(work.result()[0] is each, "a work that somebody holds keeps its result while others end")
    for i in range(100):  # nobody holds their works
        dist.all_reduce(torch.ones(1000), async_op=True)
    dist.barrier()


def works_that_nobody_holds():
    seen = []
    for _ in range(1100):
        work = dist.all_reduce(torch.ones(1), async_op=True)
        work.wait()
        seen.append(weakref.ref(work))
        del work
    # Those that are known to have ended, and the last one, which is looked at when the next begins.
    kept = [each() is not None for each in seen]
    require(kept == [False] * (1100 - 1025) + [True] * 1025, f"{sum(kept)} are kept; expected the last 1025")


def groups():
    again = dist.new_group()
    data = torch.ones(3)
    dist.all_reduce(data, group=again)
    same(data, torch.full((3,), float(SIZE)), "a group of all")
    for members in ([0], [SIZE - 1], list({SIZE - 1, 0}), range(1, SIZE)):
        if len(members) == 0:
            continue
        some = dist.new_group(members, backend=None if len(members) > 1 else "muster")
        if RANK not in members:
            require(some == dist.GroupMember.NON_GROUP_MEMBER, "who is in no group has none")
            continue
        require(dist.get_backend(some) == "muster" and dist.get_world_size(some) == len(members), "a group of some")
        data = torch.full((3,), float(RANK))
        dist.all_reduce(data, group=some)
        same(data, torch.full((3,), float(sum(members))), f"a group of {list(members)}")
        dist.broadcast(data, src=members[-1], group=some)
        dist.destroy_process_group(some)
    halves = [dist.new_group(range(SIZE // 2)) if SIZE > 1 else None, dist.new_group(range(SIZE // 2, SIZE))]
    data = torch.full((1,), float(RANK))
    members = range(SIZE // 2) if RANK < SIZE // 2 else range(SIZE // 2, SIZE)
    dist.all_reduce(data, group=halves[RANK >= SIZE // 2])
    same(data, torch.full((1,), float(sum(members))), "groups beside each other")
    raises(RuntimeError, "rank should be", dist.new_group, [SIZE])
    dist.barrier()


def wrong():
    zeros = torch.zeros(4)
    raises(ValueError, "all_reduce: tensor is torch.sparse_coo", dist.all_reduce, zeros.to_sparse())
    raises(ValueError, "allreduce: op is bit_and, which float32 does not have", dist.all_reduce, zeros, op=dist.ReduceOp.BAND)
    raises(TypeError, "all_reduce: tensor has elements of type torch.quint8", dist.all_reduce,
           torch.quantize_per_tensor(zeros, 1.0, 0, torch.quint8))
    raises(TypeError, "AVG of elements of type torch.int64", dist.all_reduce, torch.zeros(2, dtype=torch.int64), op=dist.ReduceOp.AVG)
    raises(ValueError, "all_gather: tensor_list has", dist.all_gather, [zeros] * (SIZE + 1), zeros)
    raises(ValueError, "all_gather: tensor_list[0] has 3 elements; expected 4", dist.all_gather,
           [torch.zeros(3) for _ in range(SIZE)], zeros)
    raises(ValueError, "all_to_all_single: input_split_sizes is [9", dist.all_to_all_single, zeros, zeros, [9] * SIZE, [9] * SIZE)
    raises(NotImplementedError, "send:", dist.send, zeros, (RANK + 1) % SIZE) if SIZE > 1 else None
    if SIZE == 1:
        return
    apart = dist.new_group()
    raises(muster.MismatchedCall, "all", dist.all_reduce, torch.zeros(3 if RANK == 0 else 4), group=apart)
    late = dist.new_group()
    if RANK == 0:
        work = dist.barrier(group=late, async_op=True)
        raises(muster.DeadlineExceeded, "wait: 0.05 s have passed", work.wait, timedelta(milliseconds=50))
        require(not work.is_success() and isinstance(work.exception(), muster.DeadlineExceeded), "and says so afterwards")
    dist.barrier()


def trains():
    """A model of torch's, whose gradients DistributedDataParallel makes one."""
    torch.manual_seed(1)
    plain = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    model = torch.nn.parallel.DistributedDataParallel(plain)
    reference = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    reference.load_state_dict(plain.state_dict())
    inputs = torch.randn(SIZE, 5, 4)
    model(inputs[RANK]).mean().backward()
    reference(inputs.view(-1, 4)).mean().backward()
    for mine, theirs in zip(plain.parameters(), reference.parameters()):
        require(torch.allclose(mine.grad, theirs.grad, atol=1e-6), "gradients of all ranks' inputs")


def network():
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))


class Training:
    """A small network that is trained on numbers, another lot on each rank; the same in every run."""

    def __init__(self, group):
        torch.manual_seed(7)
        self.model = torch.nn.parallel.DistributedDataParallel(network(), process_group=group, bucket_cap_mb=0.02)
        self._steps = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self._inputs = torch.randn(SIZE, 32, 64)[RANK]
        self._labels = torch.randint(0, 10, (SIZE, 32))[RANK]

    def step(self):
        self._steps.zero_grad()
        torch.nn.functional.cross_entropy(self.model(self._inputs), self._labels).backward()
        self._steps.step()

    def parameters_after(self, steps):
        for _ in range(steps):
            self.step()
        return torch.cat([each.detach().view(-1) for each in self.model.parameters()])


def trains_to_the_same_bits():
    steps = 30
    found = Training(None).parameters_after(steps)
    everybody = [torch.zeros_like(found) for _ in range(SIZE)]
    dist.all_gather(everybody, found)
    for rank, each in enumerate(everybody):
        require(torch.equal(each, found), f"rank {rank} has the same network")
    require(torch.equal(Training(None).parameters_after(steps), found), "another run gives the same network")
    if SIZE == 2:  # of more Gloo adds up in another order
        require(torch.equal(Training(gloo).parameters_after(steps), found), "so does Gloo")


def objects():
    everybody = [None] * SIZE
    dist.all_gather_object(everybody, {"rank": RANK})
    require([each["rank"] for each in everybody] == list(range(SIZE)), f"all_gather_object: {everybody}")
    told = ["words" if RANK == 0 else None]
    dist.broadcast_object_list(told, src=0)
    require(told == ["words"], f"broadcast_object_list: {told}")
    mine = [None]
    dist.scatter_object_list(mine, list(range(SIZE)), src=0)
    require(mine == [RANK], f"scatter_object_list: {mine}")
    parts = [[torch.zeros(2), torch.zeros(3)] for _ in range(SIZE)]
    dist.all_gather_coalesced(parts, [torch.full((2,), float(RANK)), torch.full((3,), RANK + 0.5)])
    for rank, (first, second) in enumerate(parts):
        same(first, torch.full((2,), float(rank)), "all_gather_coalesced")
        same(second, torch.full((3,), rank + 0.5), "all_gather_coalesced")


def what_torch_builds_on_it():
    """Parts of torch that call a backend from C++, where nothing holds the Python object of a work."""
    one = torch.ones(3, requires_grad=True)
    nn.all_reduce(one).sum().backward()
    same(one.grad, torch.full((3,), float(SIZE)), "the gradient of all_reduce")
    inputs = torch.randn(4, 4)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)))
    with model.no_sync():
        model(inputs).sum().backward()
    for _ in range(3):
        model(inputs).sum().backward()
    linear = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    with linear.join():
        for _ in range(2 + RANK):
            linear(inputs).sum().backward()
    steps = ZeroRedundancyOptimizer(linear.parameters(), torch.optim.SGD, lr=0.1)
    linear(inputs).sum().backward()
    steps.step()
    parts = [torch.zeros(4, 4) for _ in range(SIZE)]
    dist.all_gather(parts, linear.module.weight.detach())
    require(all(torch.equal(each, parts[0]) for each in parts), "parameters that ranks have updated in parts")
    narrow = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    narrow.register_comm_hook(None, fp16_compress_hook)
    narrow(inputs).sum().backward()


def times():
    for count in (2, 2048, 262144):
        data = torch.ones(count)
        calls = 300 if count < 262144 else 20
        took = {"gloo": [], "muster": []}
        for _ in range(15):
            for who, group in (("gloo", gloo), ("muster", None)):
                dist.barrier()
                begin = time.perf_counter()
                for _ in range(calls):
                    dist.all_reduce(data, group=group)
                took[who].append(1e6 * (time.perf_counter() - begin) / calls)
                data.fill_(1)
        if RANK == 0:
            print(f"all_reduce of {4 * count:8} bytes:", ", ".join(f"{who} {statistics.median(of):.0f} us" for who, of in took.items()))
    both = {"gloo": Training(gloo), "muster": Training(None)}
    took = {who: [] for who in both}
    for _ in range(15):
        for who, training in both.items():
            dist.barrier()
            begin = time.perf_counter()
            training.parameters_after(20)
            took[who].append(1e6 * (time.perf_counter() - begin) / 20)
    if RANK == 0:
        print("a step of training:", ", ".join(f"{who} {statistics.median(of):.0f} us" for who, of in took.items()))


if sys.argv[2] == "all":
    beside_gloo()
    what_gloo_lacks()
    many_in_flight()
    works_that_nobody_holds()
    groups()
    wrong()
    trains()
    trains_to_the_same_bits()
    objects()
    what_torch_builds_on_it()
else:
    times()
dist.barrier()
dist.destroy_process_group()
print(f"rank {RANK}, all right", flush=True)
