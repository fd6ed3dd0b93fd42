"""What the programs here share: a rank ends at the first check that fails, and says which."""

import os
import sys
import traceback

import numpy


def require(right, what):
    if not right:
        traceback.print_stack(limit=3)
        sys.stderr.write(f"wrong: {what}\n")
        sys.stderr.flush()
        os._exit(1)


def same(got, expected, what):
    got, expected = numpy.asarray(got), numpy.asarray(expected)
    require(got.shape == expected.shape and got.dtype == expected.dtype and (got == expected).all(),
            f"{what}: {got!r}; expected {expected!r}")


def raises(kind, words, call, *args, **kwargs):
    """That a call throws this exception, in whose text each of the words occurs."""
    try:
        result = call(*args, **kwargs)
    except Exception as why:
        require(isinstance(why, kind), f"{type(why).__name__}: {why}; expected {kind.__name__}")
        for word in [words] if isinstance(words, str) else words:
            require(word in str(why), f"'{why}' does not say '{word}'")
    else:
        require(False, f"{call} gave {result!r}; expected {kind.__name__}: {words}")
