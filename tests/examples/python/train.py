"""A mean of all ranks' tensors by torch.distributed. Started by `muster run`, with a file that is not there yet."""

import sys

import torch
import torch.distributed as dist

import muster.torch

team = muster.world()
# [torch]
dist.init_process_group("muster", init_method=f"file://{sys.argv[1]}", rank=team.rank, world_size=team.size)
mean = torch.full((3,), float(dist.get_rank()))
work = dist.all_reduce(mean, op=dist.ReduceOp.AVG, async_op=True)
work.wait()
# [torch end]
if team.rank == 0:
    print(f"{team.size} ranks, mean {mean.tolist()}")
dist.destroy_process_group()
