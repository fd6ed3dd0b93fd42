"""The backend of torch.distributed with random tensors, right and wrong, on several ranks.

usage: torch_fuzz.py SECONDS [SEED]

All ranks draw alike from one seed, which is printed; with it the same calls are made again.
"""

import os
import random
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

import muster
import muster.torch
from checks import require

world = muster.world()
RANK, SIZE = world.rank, world.size
MAY_THROW = (TypeError, ValueError, muster.Error)
DTYPES = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64, torch.complex64, torch.complex128]
counted = {}


def note(what):
    counted[what] = counted.get(what, 0) + 1


def gaps(tensor):
    return torch.stack([tensor, tensor]).t()[:, 0] if tensor.dim() == 1 else tensor


def negated(tensor):
    """The same elements, of which torch remembers that they are to be negated."""
    return torch._neg_view(-tensor) if tensor.is_floating_point() else tensor


FORMS = [
    lambda tensor: tensor,
    gaps,
    lambda tensor: tensor.view(-1, 2).t().contiguous().t() if tensor.numel() % 2 == 0 and tensor.numel() else tensor,
    lambda tensor: tensor.conj().clone().conj() if tensor.is_complex() else tensor,
    negated,
    lambda tensor: torch.cat([tensor.new_ones(1), tensor])[1:],
    lambda tensor: tensor.clone().requires_grad_() if tensor.is_floating_point() else tensor,
    lambda tensor: torch.nn.Parameter(tensor.clone()) if tensor.is_floating_point() else tensor,
]


class Draw:
    """A call, alike on all ranks but for what they contribute and how their tensors lie in memory."""

    def __init__(self, chance):
        self.dtype = chance.choice(DTYPES)
        self.count = chance.choice([0, 1, 2, 8, 9, 100, 4096])
        self.root = chance.randrange(SIZE)
        self.splits = [[chance.randrange(4) for _ in range(SIZE)] for _ in range(SIZE)]  # from, to
        self.forms = random.Random(chance.random() + RANK)

    def data(self, rank, count):
        return (torch.arange(count) % 5 + rank + 1).to(self.dtype)

    def mine(self, count):
        return self.forms.choice(FORMS)(self.data(RANK, count))

    def place(self, count):
        return self.forms.choice(FORMS)(torch.zeros(count, dtype=self.dtype))

    def blocks(self, make, counts):
        """A list of tensors, which follow each other in memory or not."""
        if self.forms.random() < 0.3:
            return list(make(sum(counts)).detach().reshape(-1).clone().split(counts))
        return [make(count) for count in counts]

    def rooted(self, options):
        options.rootRank = self.root
        return options

    def call(self, name):
        """Its arguments, and the tensors that hold the results with what these are to be."""
        one, every, root = [self.count], [self.count] * SIZE, RANK == self.root
        whole = [self.data(rank, self.count * SIZE) for rank in range(SIZE)]
        own = slice(self.count * RANK, self.count * (RANK + 1))
        parts = [self.data(rank, self.count) for rank in range(SIZE)]
        total = sum(parts[1:], parts[0]).to(self.dtype)

        if name == "barrier":
            return (), [], []
        if name == "broadcast":
            data = self.mine(self.count) if root else self.place(self.count)
            return ([data], self.rooted(dist.BroadcastOptions())), [data], [parts[self.root]]
        if name == "allreduce":
            data = self.mine(self.count)
            return ([data], dist.AllreduceOptions()), [data], [total]
        if name == "reduce":
            data = self.mine(self.count)
            return ([data], self.rooted(dist.ReduceOptions())), [data] if root else [], [total]
        if name == "allgather":
            places = self.blocks(self.place, every)
            return ([places], [self.mine(self.count)]), places, parts
        if name == "_allgather_base":
            place = self.place(self.count * SIZE)
            return (place, self.mine(self.count)), [place], [torch.cat(parts)]
        if name == "gather":
            places = self.blocks(self.place, every) if root else []
            return ([places] if root else [], [self.mine(self.count)], self.rooted(dist.GatherOptions())), places, parts
        if name == "scatter":
            place = self.place(self.count)
            blocks = [list(self.mine(self.count * SIZE).detach().reshape(-1).split(one * SIZE))] if root else []
            return ([place], blocks, self.rooted(dist.ScatterOptions())), [place], [whole[self.root][own]]
        if name == "reduce_scatter":
            place = self.place(self.count)
            blocks = [each.clone() for each in whole[RANK].split(every)]
            return ([place], [blocks], dist.ReduceScatterOptions()), [place], [sum(whole[1:], whole[0]).to(self.dtype)[own]]
        if name == "_reduce_scatter_base":
            place = self.place(self.count)
            return (place, self.mine(self.count * SIZE), dist.ReduceScatterOptions()), [place], [
                sum(whole[1:], whole[0]).to(self.dtype)[own]]
        if name == "alltoall":
            places = self.blocks(self.place, every)
            blocks = [each.clone() for each in whole[RANK].split(every)]
            return (places, blocks), places, [each[own] for each in whole]
        received = [self.splits[rank][RANK] for rank in range(SIZE)]
        data, place = self.data(RANK, sum(self.splits[RANK])), torch.zeros(sum(received), dtype=self.dtype)
        expected = torch.cat([self.data(rank, sum(self.splits[rank])).split(self.splits[rank])[RANK] for rank in range(SIZE)])
        return (place, data, received, self.splits[RANK]), [place], [expected]


NAMES = ["barrier", "broadcast", "allreduce", "reduce", "allgather", "_allgather_base", "gather", "scatter", "reduce_scatter",
         "_reduce_scatter_base", "alltoall", "alltoall_base"]


def check(name, draw, places, expected):
    for place, right in zip(places, expected):
        got = place.detach().resolve_conj().resolve_neg().reshape(-1)
        require(torch.equal(got, right), f"{name} of {draw.count} {draw.dtype}: {got}; expected {right}")


def freed():
    tensor = torch.zeros(9)
    tensor.storage().resize_(0)
    return tensor


JUNK = [
    lambda: None, lambda: 3, lambda: "x", lambda: [], lambda: [None], lambda: [3], lambda: object(), lambda: torch.Tensor,
    lambda: torch.zeros(3), lambda: [torch.zeros(3)], lambda: [torch.zeros(3)] * SIZE, lambda: [[torch.zeros(3)] * SIZE],
    lambda: [torch.zeros(2, 3).to_sparse()], lambda: torch.zeros(2).to_sparse(), lambda: [torch.zeros(3, device="meta")],
    lambda: [torch.zeros(3).to_mkldnn()], lambda: [torch.quantize_per_tensor(torch.zeros(3), 1.0, 0, torch.quint8)],
    lambda: [torch.zeros(1).expand(9)], lambda: [[torch.zeros(1).expand(9)] * SIZE], lambda: [torch.zeros(0)],
    lambda: [torch.zeros(3, dtype=torch.bool)], lambda: [freed()], lambda: [[freed()] * SIZE], lambda: freed(),
    lambda: [torch.zeros(2), torch.zeros(3)], lambda: [[torch.zeros(2)] * (SIZE + 1)], lambda: [[torch.zeros(2), None]],
    lambda: [[torch.zeros(2, dtype=torch.int32), *[torch.zeros(2)] * (SIZE - 1)]], lambda: torch.zeros(2, 0, 3),
    lambda: [-1] * SIZE, lambda: ["a"] * SIZE, lambda: [1.5] * SIZE, lambda: [2**62] * SIZE,
    lambda: [torch.zeros(3)[::2]], lambda: torch.zeros(()), lambda: [torch.tensor(3.5)],
]


def begun(group, name, arguments):
    """The work that a call makes, or what it throws, if that is something it may."""
    try:
        return getattr(group, name)(*arguments), None
    except MAY_THROW as why:
        require(str(why) != "", f"{name}: {type(why).__name__} says nothing")
        return None, why


def ended(work, seconds):
    try:
        work.wait(timedelta(seconds=seconds))
        return None
    except MAY_THROW as why:
        return why


def right(chance, group):
    """Several in flight together."""
    pending = []
    for _ in range(chance.randrange(1, 7)):
        draw, name = Draw(chance), chance.choice(NAMES)
        arguments, places, expected = draw.call(name)
        work, why = begun(group, name, arguments)
        require(why is None, f"{name}: {why!r}")
        pending.append((name, draw, work, places, expected))
    chance.shuffle(pending)
    for name, draw, work, places, expected in pending:
        why = ended(work, 20)
        require(why is None, f"{name}: {why!r}")
        check(name, draw, places, expected)
        note("right")


def wrong(chance, _):
    """One argument is something else, on all ranks or on one."""
    draw, name, which = Draw(chance), chance.choice(NAMES[1:]), chance.random()
    arguments = list(draw.call(name)[0])
    junk, everywhere, where = chance.choice(JUNK), chance.random() < 0.7, chance.randrange(SIZE)
    if everywhere or where == RANK:
        # The last may be torch's own options, which torch makes.
        tensors = [i for i, each in enumerate(arguments) if isinstance(each, (list, torch.Tensor))]
        arguments[tensors[int(which * len(tensors))]] = junk()
    apart = muster.torch.ProcessGroup(world.duplicate())
    work, why = begun(apart, name, arguments)
    refused = world.allreduce(int(why is not None), op=muster.MAX)  # who was refused is waited for in vain
    if work is not None:
        why = ended(work, 0.001 if refused else 20)
    note("thrown" if why else "accepted")
    apart.team.free()


def mismatched(chance, _):
    """Right calls, of which one rank's is another."""
    name, seed, where = chance.choice(NAMES), chance.random(), chance.randrange(SIZE)
    draw = Draw(random.Random(seed + (RANK == where)))
    apart = muster.torch.ProcessGroup(world.duplicate())
    work, why = begun(apart, name, draw.call(name)[0])
    require(why is None, f"{name}: {why!r}")
    note("mismatched" if isinstance(ended(work, 20), muster.MismatchedCall) else "not mismatched")
    apart.team.free()


def dropped(chance, group):
    """Works that nobody holds."""
    for _ in range(chance.randrange(1, 9)):
        draw, name = Draw(chance), chance.choice(NAMES)
        getattr(group, name)(*draw.call(name)[0])
    note("dropped")


def main(seconds, seed):
    chance = random.Random(seed)
    group = muster.torch.ProcessGroup(world.duplicate())
    end = time.monotonic() + seconds
    while world.allreduce(end - time.monotonic(), op=muster.MIN) > 0:
        chance.choice([right, right, wrong, wrong, mismatched, dropped])(chance, group)
        group.barrier().wait()
    require(group.team.failure() is None and world.failure() is None, "the teams are whole")


torch.set_num_threads(1)
seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "little")
seed = int(world.bcast(torch.tensor([seed]))[0])
if RANK == 0:
    print(f"fuzz: seed {seed}", flush=True)
main(float(sys.argv[1]), seed)
if RANK == 0:
    print(f"fuzz: {counted}", flush=True)
print(f"rank {RANK}, all right", flush=True)
