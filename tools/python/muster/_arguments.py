"""Arguments that are no buffers: roots, reductions, lengths of blocks, neighbors."""

import enum
import operator

from ._library import InvalidArgument, ffi, lib


class Op(enum.IntEnum):
    """What a reduction combines with."""

    SUM = lib.MUSTER_SUM
    PRODUCT = lib.MUSTER_PRODUCT
    MIN = lib.MUSTER_MIN
    MAX = lib.MUSTER_MAX
    LOGICAL_AND = lib.MUSTER_LOGICAL_AND
    LOGICAL_OR = lib.MUSTER_LOGICAL_OR
    LOGICAL_XOR = lib.MUSTER_LOGICAL_XOR
    BIT_AND = lib.MUSTER_BIT_AND
    BIT_OR = lib.MUSTER_BIT_OR
    BIT_XOR = lib.MUSTER_BIT_XOR


class InArrivalOrder:
    """The same op, whose results need not be the same to the bit from run to run."""

    def __init__(self, op):
        self.op = op


def op_of(call, op):
    if isinstance(op, InArrivalOrder):
        return op_of(call, op.op) | lib.MUSTER_IN_ARRIVAL_ORDER
    if not isinstance(op, Op):
        raise TypeError(f"{call}: op is {op!r}; expected muster.SUM or another of these")
    return int(op)


def integer(call, name, given, expected):
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{call}: {name} is {given!r}; expected {expected}") from None


def rank_of(call, name, given, team, may_be_none=False):
    if given is None and may_be_none:
        return lib.MUSTER_NO_RANK
    rank = integer(call, name, given, "a rank")
    if not 0 <= rank < team.size:
        raise InvalidArgument(f"{call}: {name} is {rank}; expected a rank from 0 to {team.size - 1}")
    return rank


def listed(call, name, given, expected):
    if isinstance(given, (str, bytes)):
        raise TypeError(f"{call}: {name} is {given!r}; expected {expected}")
    try:
        return list(given)
    except TypeError:
        raise TypeError(f"{call}: {name} is {given!r}; expected {expected}") from None


class Layout:
    """Lengths of blocks, and where they begin, in elements."""

    MOST = 2**62

    def __init__(self, call, name, counts, displacements, blocks, of="displacements"):
        self.counts = self._lengths(call, name, counts, blocks)
        self.displacements = None if displacements is None else self._lengths(call, of, displacements, blocks)
        self.follows = displacements is None
        self.pointers = (ffi.new("size_t[]", self.counts),
                         ffi.NULL if self.follows else ffi.new("size_t[]", self.displacements))

    def _lengths(self, call, name, given, blocks):
        found = [integer(call, f"{name}[{i}]", each, "a length")
                 for i, each in enumerate(listed(call, name, given, "lengths of blocks"))]
        if len(found) != blocks:
            raise InvalidArgument(f"{call}: {name} has {len(found)} entries; expected {blocks}, one for each block")
        for i, each in enumerate(found):
            if not 0 <= each <= self.MOST:
                raise InvalidArgument(f"{call}: {name}[{i}] is {each}; expected a length from 0 to {self.MOST}")
        return found

    def total(self):
        return sum(self.counts)

    def require_within(self, call, name, elements):
        """The library does not know how long a buffer is."""
        begins = self.displacements
        if begins is None:
            if self.total() > elements:
                raise InvalidArgument(f"{call}: {name} has {elements} elements; expected at least {self.total()}, all blocks")
            return
        for i, (begin, count) in enumerate(zip(begins, self.counts)):
            if count != 0 and begin + count > elements:
                raise InvalidArgument(f"{call}: {name} has {elements} elements; expected {begin + count}, where block {i} ends")


class Neighbors:
    def __init__(self, call, team, sources, destinations, opposite):
        self.sources = self._ranks(call, team, "sources", sources)
        self.destinations = self._ranks(call, team, "destinations", destinations)
        self._lists = (ffi.new("int[]", self.sources), ffi.new("int[]", self.destinations))
        self.pointer = ffi.new("muster_neighbors *", {
            "sources": self._lists[0], "source_count": len(self.sources),
            "destinations": self._lists[1], "destination_count": len(self.destinations),
            "opposite": bool(opposite)})

    @staticmethod
    def _ranks(call, team, name, given):
        return [rank_of(call, f"{name}[{i}]", each, team, may_be_none=True)
                for i, each in enumerate(listed(call, name, given, "a list of ranks"))]
