"""What is wrong with an argument is an exception that names it, and changes nothing."""

import array
import mmap

import numpy

import muster
from checks import raises, require, same

team = muster.world()
RANK, SIZE = team.rank, team.size
a = numpy.zeros(4)
NO = muster.InvalidArgument


class lends_badly:
    """Says that it lends by DLPack, and does not."""

    def __init__(self, device=1, capsule=None):
        self._device, self._capsule = device, capsule

    def __dlpack_device__(self):
        return self._device, 0

    def __dlpack__(self, **_):
        if self._capsule is None:
            raise RuntimeError("not today")
        return self._capsule


read_only = numpy.zeros(4)
read_only.flags.writeable = False

raises(TypeError, ["allreduce: send is of type list", "expected a buffer"], team.allreduce, [1, 2])
raises(TypeError, "allreduce: send is of type str", team.allreduce, "text")
raises(TypeError, "allreduce: send is None", team.allreduce, None)
raises(TypeError, "scan: send is of type type", team.scan, float)
raises(TypeError, "allreduce: out is None", team.allreduce, muster.IN_PLACE)
raises(TypeError, "allreduce: out is of type list", team.allreduce, a, [0.0])
raises(NO, "allreduce: out cannot be written to", team.allreduce, a, read_only)
raises(NO, "allreduce: out cannot be written to", team.allreduce, b"abcd", b"abcd")
raises(NO, "allreduce: send is not contiguous", team.allreduce, numpy.zeros(8)[::2])
raises(NO, "allreduce: send is not contiguous", team.allreduce, numpy.zeros((2, 3)).T)
raises(NO, "allreduce: out is not contiguous", team.allreduce, a, numpy.zeros(8)[::2])
raises(NO, ["allreduce: out has 3 elements; expected 4"], team.allreduce, a, numpy.zeros(3))
raises(TypeError, ["allreduce: out has elements of type float32; expected float64"], team.allreduce, a,
       numpy.zeros(4, "f4"))
raises(NO, "allreduce: out shares memory with send", team.allreduce, a[:3], a[1:])
for dtype in ("O", "S3", "U2", ">f8", "V3", "g", [("x", "i4"), ("y", "f8")]):
    raises(TypeError, "allreduce: send has elements of kind", team.allreduce, numpy.zeros(2, dtype))
raises(TypeError, "allreduce: send is of type ndarray", team.allreduce, numpy.zeros(2, "M8[s]"))
raises(TypeError, "allreduce: send has elements of kind", team.allreduce, array.array("u", "ab"))
raises(TypeError, "allreduce: op is 'sum'", team.allreduce, a, op="sum")
raises(TypeError, "allreduce: op is 1", team.allreduce, a, op=1)
raises(TypeError, "allreduce: op is None", team.allreduce, a, op=None)
raises(NO, "allreduce: op is bit_and, which float64 does not have", team.allreduce, a, op=muster.BIT_AND)
raises(NO, "allreduce: op is sum, which boolean does not have", team.allreduce, True)
raises(NO, "allreduce: send is 1180591620717411303424", team.allreduce, 2**70)
raises(TypeError, "allreduce", team.allreduce)
raises(TypeError, "unexpected keyword", team.allreduce, a, root=0)
raises(TypeError, "allreduce: send is of type lends_badly, which is not lent: not today", team.allreduce, lends_badly())
raises(NO, "allreduce: send is in the memory of a device", team.allreduce, lends_badly(device=2))
raises(TypeError, "allreduce: send is of type lends_badly", team.allreduce, lends_badly(capsule=7))

raises(TypeError, "bcast: root is None", team.bcast, a, root=None)
raises(TypeError, "bcast: root is 0.0", team.bcast, a, root=0.0)
raises(NO, f"bcast: root is {SIZE}; expected a rank from 0 to {SIZE - 1}", team.bcast, a, root=SIZE)
raises(NO, "bcast: root is -1", team.bcast, a, root=-1)
raises(NO, "bcast: root is 36893488147419103232", team.bcast, a, root=2**65)
raises(TypeError, "bcast: data is of type int", team.bcast, 3)
if SIZE > 1:
    raises(NO, f"alltoall: send has {SIZE + 1} elements; expected a multiple of {SIZE}", team.alltoall, numpy.zeros(SIZE + 1))
    raises(NO, "reduce_scatter_block: send has", team.reduce_scatter_block, numpy.zeros(SIZE + 1))
    raises(NO, "allgather: out has", team.allgather, muster.IN_PLACE, numpy.zeros(SIZE + 1))
    raises(NO, f"allgather: out has 4 elements; expected {4 * SIZE}", team.allgather, a, numpy.zeros(4))
    raises(TypeError, "scatter: out is None", team.scatter, None, None, root=(RANK + 1) % SIZE)
raises(TypeError, "scatter: send is None", team.scatter, None, a, root=RANK)

counts = [2] * SIZE
raises(NO, f"allgatherv: counts has {SIZE + 1} entries; expected {SIZE}", team.allgatherv, a[:2], counts + [1])
raises(NO, "allgatherv: counts[0] is -1", team.allgatherv, a[:2], [-1] + counts[1:])
raises(NO, "allgatherv: counts[0] is 4611686018427387905", team.allgatherv, a[:2], [2**62 + 1] + counts[1:])
raises(TypeError, "allgatherv: counts[0] is 1.5", team.allgatherv, a[:2], [1.5] + counts[1:])
raises(TypeError, "allgatherv: counts is None", team.allgatherv, a[:2], None)
raises(TypeError, "allgatherv: counts is 'ab'", team.allgatherv, a[:2], "ab")
raises(NO, "allgatherv: send has 4 elements; expected 2", team.allgatherv, a, counts)
raises(NO, "allgatherv: out has 1 elements", team.allgatherv, a[:2], counts, numpy.zeros(1))
raises(NO, "allgatherv: out has 2 elements; expected 1002, where block 0 ends", team.allgatherv, a[:2], counts,
       numpy.zeros(2 * SIZE)[:2], displacements=[1000] * SIZE)
raises(TypeError, "allgatherv: out is None", team.allgatherv, a[:2], counts, displacements=[0] * SIZE)
raises(NO, "allgatherv: displacements has", team.allgatherv, a[:2], counts, numpy.zeros(9), displacements=[])
raises(NO, "alltoallv: send has 4 elements", team.alltoallv, a, [5] * SIZE, [5] * SIZE)
raises(NO, "reduce_scatter: send has 4 elements", team.reduce_scatter, a, [9] * SIZE)
raises(TypeError, "neighbor_allgather: sources is 5", team.neighbor_allgather, a, 5, [])
raises(NO, "neighbor_allgather: sources[0] is 99", team.neighbor_allgather, a, [99], [])
raises(TypeError, "neighbor_allgather: destinations[0] is 'x'", team.neighbor_allgather, a, [0], ["x"])
raises(NO, "expected pairs of opposite directions", team.neighbor_allgather, a, [0], [], opposite=True)

raises(TypeError, "split: color is 'red'", team.split, "red")
raises(NO, "split: color is 4294967296", team.split, 2**32)
raises(NO, "split: key is", team.split, 0, 2**40)
raises(NO, "subset: ranks[0] is 77", team.subset, [77])
raises(TypeError, "subset: ranks is 3", team.subset, 3)
raises(NO, "free: team is the world", team.free)
raises(NO, "init: called again", muster.init)
raises(AttributeError, "nothing", lambda: team.nothing)

require(team.failure() is None, "the team is whole")
same(team.allreduce(numpy.full(4, 1.5)), numpy.full(4, 1.5 * SIZE), "and works")
mapped = mmap.mmap(-1, 4096)
team.bcast(mapped)
mapped.close()
raises(TypeError, "bcast: data is of type mmap", team.bcast, mapped)

if SIZE > 1:
    apart = team.duplicate()
    raises(muster.MismatchedCall, ["allreduce", "rank"], apart.allreduce, numpy.zeros(3 if RANK == 0 else 4))
    raises(muster.MismatchedCall, "allreduce", apart.barrier)
    require(isinstance(apart.failure(), muster.MismatchedCall), "why it is broken")
    apart.free()
    kinds = team.duplicate()
    raises(muster.MismatchedCall, ["float64", "int64"], kinds.allreduce, numpy.zeros(3, "f8" if RANK == 0 else "i8"))
    roots = team.duplicate()
    try:
        roots.reduce(numpy.zeros(3), root=min(RANK, 1))  # who only sends may end before others have come
    except muster.MismatchedCall:
        pass
    raises(muster.MismatchedCall, "reduce", roots.barrier)

team.barrier()
muster.finalize()
raises(NO, "barrier: team has been freed", team.barrier)
raises(NO, "init: called again", muster.init)
muster.finalize()
print(f"rank {RANK}, all right", flush=True)
