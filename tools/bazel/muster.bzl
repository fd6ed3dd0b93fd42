"""The C++ rules of this project: the native ones, with warnings as errors for our own code."""

# Products and sums are rounded one by one, so that all forms of a reduction give the same bits. A
# thread's own variables are found without a call, in shared libraries, too: those are loaded at start.
_COPTS = ["-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-ftls-model=initial-exec"]

def muster_library(name, copts = [], **kwargs):
    """A cc_library of ours."""
    native.cc_library(name = name, copts = _COPTS + copts, **kwargs)

def muster_binary(name, copts = [], **kwargs):
    """A cc_binary of ours."""
    native.cc_binary(name = name, copts = _COPTS + copts, **kwargs)

def muster_test(name, copts = [], deps = [], size = "small", main = True, **kwargs):
    """A doctest program.

    Tags: `core` puts it into the sanitizer runs of .ci/run, `no-asan` and `no-tsan` keep it out.

    Args:
      name: of the target.
      copts: added to the project's own.
      deps: of the test, besides doctest.
      size: Bazel's, which sets the timeout: small 1 min, medium 5 min, large 15 min.
      main: False where the test brings its own main().
      **kwargs: as for cc_test.
    """
    doctest = "//tests/support:doctest_main" if main else "@doctest"
    native.cc_test(name = name, copts = _COPTS + copts, deps = deps + [doctest], size = size, **kwargs)
