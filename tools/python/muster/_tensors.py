"""Tensors of torch as what collectives read and write."""

import torch

from ._library import InvalidArgument, ffi, lib

TYPES = {
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


def require_tensor(call, name, given):
    if not isinstance(given, torch.Tensor):
        raise TypeError(f"{call}: {name} is of type {type(given).__name__}; expected a tensor")
    if given.device.type != "cpu" or given.layout != torch.strided:
        raise InvalidArgument(f"{call}: {name} is {given.layout} on {given.device}; expected a dense one on the CPU")
    if given.dtype not in TYPES:
        raise TypeError(f"{call}: {name} has elements of type {given.dtype}; expected numbers or booleans")
    last = sum(step * (length - 1) for step, length in zip(given.stride(), given.shape))
    if given.numel() != 0 and not _has_memory_for(given, last + 1):
        raise InvalidArgument(f"{call}: {name} has a storage that was made smaller; expected one that holds its elements")
    return given


_storage_of = getattr(torch.Tensor, "untyped_storage", None) or torch.Tensor._storage  # before torch 2


def _has_memory_for(given, elements):
    """Whether the storage of a tensor goes so far beyond its beginning."""
    return _storage_of(given).nbytes() >= given.element_size() * (given.storage_offset() + elements)


def require_count(call, name, has, expected, why):
    if has != expected:
        raise InvalidArgument(f"{call}: {name} has {has} elements; expected {expected}, {why}")


def require_same_type(call, name, has, like):
    if has.dtype != like.dtype:
        raise TypeError(f"{call}: {name} has elements of type {has.dtype}; expected {like.dtype}")


def _is_plain(given):
    """Whether its elements lie in memory one after the other, as they are; with a look at as little as possible."""
    return (isinstance(given, torch.Tensor) and given.is_cpu and given.dtype in TYPES and given.layout is torch.strided
            and given.is_contiguous() and not given.is_neg() and not given.is_conj()
            and _has_memory_for(given, given.numel()))


def _dense(tensor):
    return tensor.detach().resolve_conj().resolve_neg().contiguous()


def sent(call, name, given):
    """The elements of a tensor one after the other: itself, or a copy."""
    return given if _is_plain(given) else _dense(require_tensor(call, name, given))


def _require_apart(call, name, tensor):
    if 0 in [step for step, length in zip(tensor.stride(), tensor.shape) if length > 1]:
        raise InvalidArgument(f"{call}: {name} has elements that share memory, as expand makes them; expected a copy of it")


class _Copied:
    """A copy goes back at the end into the tensor that it is received for."""

    def __init__(self, copy, tensor):
        self._copy, self._tensor = copy, tensor

    def end(self):
        self._tensor.copy_(self._copy)


def received(call, name, given, keeps=True):
    """Where a tensor is received, and what is to be done at the end.

    That is the tensor itself where it is dense. `keeps`: what it has is sent, too.
    """
    if _is_plain(given):
        return given, ()
    tensor = require_tensor(call, name, given).detach()
    _require_apart(call, name, tensor)
    copy = _dense(tensor) if keeps else torch.empty(tensor.shape, dtype=tensor.dtype)
    return copy, (_Copied(copy, tensor),)


class _Parted:
    """Blocks of one memory go at the end into the tensors that they are received for."""

    def __init__(self, blocks, tensors, counts):
        self._blocks, self._tensors, self._counts = blocks, tensors, counts

    def end(self):
        for tensor, block in zip(self._tensors, self._blocks.split(self._counts)):
            tensor.copy_(block.view(tensor.shape))


def received_blocks(call, name, tensors, like):
    """Where tensors are received as blocks of one memory, their lengths, and what is to be done at the end."""
    _require_tensors(call, name, tensors, like.dtype, is_written=True)
    counts = [each.numel() for each in tensors]
    if _follow(tensors):
        return tensors[0], counts, ()
    blocks = torch.empty(sum(counts), dtype=like.dtype)
    return blocks, counts, (_Parted(blocks, [each.detach() for each in tensors], counts),)


def sent_blocks(call, name, tensors):
    """A list of tensors as one: itself where they lie so, else a copy; and their lengths."""
    _require_tensors(call, name, tensors, require_tensor(call, f"{name}[0]", tensors[0]).dtype)
    whole = tensors[0] if _follow(tensors) else torch.cat([_dense(each).view(-1) for each in tensors])
    return whole, [each.numel() for each in tensors]


def _require_tensors(call, name, tensors, dtype, is_written=False):
    for i, each in enumerate(tensors):
        if not _is_plain(each):
            require_tensor(call, f"{name}[{i}]", each)
            if is_written:
                _require_apart(call, f"{name}[{i}]", each)
        if each.dtype != dtype:
            raise TypeError(f"{call}: {name}[{i}] has elements of type {each.dtype}; expected {dtype}")


def _follow(tensors):
    """Whether they are plain, and each begins where the one before it ends."""
    end = tensors[0].data_ptr()
    for each in tensors:
        if not _is_plain(each) or each.data_ptr() != end:
            return False
        end += each.numel() * each.element_size()
    return True


_POINTER = ffi.typeof("void *")


def pointer(tensor):
    return ffi.cast(_POINTER, tensor.data_ptr())
