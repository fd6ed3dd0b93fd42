"""What collectives read and write: any memory that Python lends, once it has been looked at."""

import math
import numbers

import numpy

from ._dlpack import CPU, Lent
from ._library import InvalidArgument, ffi, lib

# Of one element in a buffer: its kind and bytes -> the library's type, and NumPy's.
_TYPES = {
    ("int", 1): (lib.MUSTER_INT8, "i1"),
    ("int", 2): (lib.MUSTER_INT16, "i2"),
    ("int", 4): (lib.MUSTER_INT32, "i4"),
    ("int", 8): (lib.MUSTER_INT64, "i8"),
    ("uint", 1): (lib.MUSTER_UINT8, "u1"),
    ("uint", 2): (lib.MUSTER_UINT16, "u2"),
    ("uint", 4): (lib.MUSTER_UINT32, "u4"),
    ("uint", 8): (lib.MUSTER_UINT64, "u8"),
    ("float", 2): (lib.MUSTER_FLOAT16, "f2"),
    ("float", 4): (lib.MUSTER_FLOAT, "f4"),
    ("float", 8): (lib.MUSTER_DOUBLE, "f8"),
    ("bfloat", 2): (lib.MUSTER_BFLOAT16, None),
    ("complex", 8): (lib.MUSTER_COMPLEX_FLOAT, "c8"),
    ("complex", 16): (lib.MUSTER_COMPLEX_DOUBLE, "c16"),
    ("bool", 1): (lib.MUSTER_BOOL, "?"),
}
# Format of a buffer -> kind.
_KINDS = {
    **dict.fromkeys("bhilqn", "int"),
    **dict.fromkeys("BHILQNc", "uint"),
    **dict.fromkeys("efd", "float"),
    **dict.fromkeys(("Zf", "Zd"), "complex"),
    "?": "bool",
}
_NAMES = {numpy_type: numpy.dtype(numpy_type).name for _, numpy_type in _TYPES.values() if numpy_type}


_POINTER = ffi.typeof("char *")
_ADDRESS = ffi.typeof("uintptr_t")


class InPlace:
    """In place of `send`, or of `out` at the root of a scatter: the other buffer is both."""

    def __repr__(self):
        return "muster.IN_PLACE"


IN_PLACE = InPlace()


class Buffer:
    """Contiguous memory, kept where it is for as long as this object lives."""

    __slots__ = ("bytes", "count", "given", "kind", "keep", "numpy_type", "pointer", "shape", "size", "type")

    def __init__(self, call, name, given, writable):
        self.given = given
        if isinstance(given, numpy.ndarray) or not hasattr(given, "__dlpack__"):
            self._take_buffer(call, name, given, writable)
        else:
            self._take_lent(call, name, given)
        known = _TYPES.get((self.kind, self.size))
        if known is None:
            raise TypeError(f"{call}: {name} has elements of kind {self.kind} with {self.size} bytes; expected integers, "
                            "floating point or complex numbers, or booleans")
        self.type, self.numpy_type = known
        self.count = self.bytes // self.size

    def _take_buffer(self, call, name, given, writable):
        try:
            view = memoryview(given)
        except (TypeError, ValueError, BufferError) as why:
            raise TypeError(f"{call}: {name} is of type {type(given).__name__}; expected a buffer, such as an array "
                            f"of NumPy ({why})") from None
        if not view.c_contiguous:
            raise InvalidArgument(f"{call}: {name} is not contiguous; expected what numpy.ascontiguousarray gives")
        if writable and view.readonly:
            raise InvalidArgument(f"{call}: {name} cannot be written to; expected a buffer that can")
        form = view.format
        self.kind = _KINDS.get(form) or _KINDS.get(form.lstrip("@=<"), form)
        self.size = view.itemsize
        self.shape = view.shape
        self.bytes = view.nbytes
        # The view holds the buffer. What holds a view in its turn would crash the interpreter's collector (3.11), where
        # both are in a circle.
        lent = ffi.from_buffer(view)
        self.pointer = ffi.cast(_POINTER, lent)
        ffi.release(lent)
        self.keep = view

    def _take_lent(self, call, name, given):
        try:
            lent = Lent(given)
        except Exception as why:  # whatever the library that lends it throws
            raise TypeError(f"{call}: {name} is of type {type(given).__name__}, which is not lent: {why}") from None
        if lent.device != CPU:
            raise InvalidArgument(f"{call}: {name} is in the memory of a device; expected the CPU's")
        if not lent.is_contiguous():
            raise InvalidArgument(f"{call}: {name} is not contiguous; expected what its contiguous() gives")
        self.kind = lent.kind
        self.size = lent.bits // 8
        self.shape = lent.shape
        self.bytes = math.prod(lent.shape) * self.size
        self.pointer = ffi.cast(_POINTER, lent.address)
        self.keep = lent

    def is_at(self, other):
        return self.pointer == other.pointer and self.bytes == other.bytes

    def overlaps(self, other):
        mine, its = int(ffi.cast(_ADDRESS, self.pointer)), int(ffi.cast(_ADDRESS, other.pointer))
        return mine < its + other.bytes and its < mine + self.bytes


def of_numbers(call, name, value):
    """An array of one number."""
    made = numpy.asarray(value)
    if made.dtype == object:
        raise InvalidArgument(f"{call}: {name} is {value}; expected a number that 64 bits hold")
    return made


def sent(call, name, given):
    """What is read, and whether it is a number of Python."""
    if given is None:
        raise TypeError(f"{call}: {name} is None; expected a buffer, or a number")
    is_number = not isinstance(given, numpy.ndarray) and isinstance(given, (numbers.Number, numpy.generic))
    value = of_numbers(call, name, given) if is_number else given
    return Buffer(call, name, value, writable=False), is_number


def received(call, name, given):
    """What is written."""
    if given is None:
        raise TypeError(f"{call}: {name} is None; expected a buffer that can be written to")
    return Buffer(call, name, given, writable=True)


def made(call, shape, like):
    """A new array for a result."""
    if like.numpy_type is None:
        raise TypeError(f"{call}: out is None; expected a buffer, since NumPy has no {like.kind}16")
    return received(call, "out", numpy.zeros(shape, like.numpy_type))


def require_same_type(call, name, has, like):
    if has.type != like.type:
        raise TypeError(f"{call}: {name} has elements of type {type_name(has)}; expected {type_name(like)}, as send has")


def type_name(of):
    return _NAMES.get(of.numpy_type, of.kind + str(8 * of.size))


def require_count(call, name, has, expected, why):
    if has != expected:
        raise InvalidArgument(f"{call}: {name} has {has} elements; expected {expected}, {why}")
