"""Memory that other libraries lend by DLPack, read without any of them."""

import ctypes


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype = ctypes.c_void_p
_pointer_in.argtypes = [ctypes.py_object, ctypes.c_char_p]

CPU = 1
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}


class Lent:
    """A tensor, which stays where it is as long as this object does: the capsule owns it."""

    def __init__(self, owner):
        self.device = int(owner.__dlpack_device__()[0])
        if self.device != CPU:
            return
        self._capsule = owner.__dlpack__()
        tensor = _Tensor.from_address(_pointer_in(self._capsule, b"dltensor"))
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        self.kind = _KINDS.get(tensor.type.code, "other") if tensor.type.lanes == 1 else "other"
        self.bits = tensor.type.bits
        self.strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None

    def is_contiguous(self):
        if self.strides is None or 0 in self.shape:
            return True
        step = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides)):
            if length != 1 and stride != step:
                return False
            step *= length
        return True
