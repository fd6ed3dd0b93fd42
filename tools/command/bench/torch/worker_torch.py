"""A rank of `muster bench --torch`: `worker_torch.py BACKEND INTERFACE`, which `muster run` starts.

BACKEND is muster or gloo. INTERFACE is what Gloo talks by; empty: as it likes.
"""

import ctypes
import glob
import os
import pathlib
import sys
import traceback

HERE = pathlib.Path(__file__).absolute().parent
# The package is beside this file as it is built, and may be in a prefix that Python does not know.
sys.path += [str(HERE), *glob.glob(str(HERE / "../../lib/python3*/dist-packages"))]

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import muster  # noqa: E402
import muster.torch  # noqa: E402

CHOOSE = ctypes.PYFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)
CALL = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)
BARRIER = ctypes.PYFUNCTYPE(None)
ROOT = 0


class Calls(ctypes.Structure):
    """As worker_torch.cpp has it."""

    _fields_ = [("choose", CHOOSE), ("call", CALL), ("barrier", BARRIER)]


TYPES = {"char": torch.int8, "int": torch.int32, "float": torch.float32, "double": torch.float64}


def tensor_at(address, length, dtype):
    return torch.frombuffer((ctypes.c_char * length).from_address(address), dtype=dtype) if length else torch.empty(0, dtype=dtype)


def blocks_of(tensor):
    return list(tensor.chunk(dist.get_world_size()))


def scatter(send, receive):
    blocks = blocks_of(send) if dist.get_rank() == ROOT else None
    return lambda: dist.scatter(receive, blocks, src=ROOT)


def gather(send, receive):
    blocks = blocks_of(receive) if dist.get_rank() == ROOT else None
    return lambda: dist.gather(send, blocks, dst=ROOT)


def allgather(send, receive):
    blocks = blocks_of(receive)
    return lambda: dist.all_gather(blocks, send)


# What makes, of two tensors, a call on them.
FORMS = {
    "barrier": lambda send, receive: dist.barrier,
    "bcast": lambda send, receive: lambda: dist.broadcast(send, src=ROOT),
    "reduce": lambda send, receive: lambda: dist.reduce(send, dst=ROOT),
    "allreduce": lambda send, receive: lambda: dist.all_reduce(send),
    "scatter": scatter,
    "gather": gather,
    "allgather": allgather,
    "alltoall": lambda send, receive: lambda: dist.all_to_all_single(receive, send),
}


def or_ends(function):
    """What has failed cannot go back through the measuring loop."""

    def guarded(*arguments):
        try:
            function(*arguments)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    return guarded


class Library:
    """The collective that is measured, and the calls of it by the addresses of their buffers."""

    def __init__(self):
        self._form, self._dtype, self._calls = None, None, {}

    def choose(self, collective, dtype):
        self._form, self._dtype = FORMS[collective.decode()], TYPES[dtype.decode()]
        self._calls = {}

    def call(self, send, send_bytes, receive, receive_bytes):
        found = self._calls.get((send, receive))
        if found is None:
            tensors = tensor_at(send, send_bytes, self._dtype), tensor_at(receive, receive_bytes, self._dtype)
            found = self._calls[(send, receive)] = self._form(*tensors)
        found()


def main(backend, interface):
    torch.set_num_threads(1)
    world = muster.world()
    if interface:
        os.environ["GLOO_SOCKET_IFNAME"] = interface
    folder = pathlib.Path(os.environ["MUSTER_BENCH_SOCKET"]).parent
    name = bytearray(os.urandom(8))
    world.bcast(name)
    dist.init_process_group(backend, init_method=f"file://{folder}/{name.hex()}", rank=world.rank, world_size=world.size)
    library = Library()
    calls = Calls(CHOOSE(or_ends(library.choose)), CALL(or_ends(library.call)), BARRIER(or_ends(dist.barrier)))
    serve = ctypes.PyDLL(str(HERE / "libworker_torch.so")).muster_bench_serve
    serve.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_char_p, Calls]
    version = f"{backend.capitalize()} in torch {torch.__version__}"
    status = serve(world.rank, world.size, version.encode(), calls)
    dist.destroy_process_group()
    return status


sys.exit(main(*sys.argv[1:]))
