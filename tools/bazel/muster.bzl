"""The C++ rules of this project: the native ones, with warnings as errors for our own code."""

load("//tools/bazel:precompiled.bzl", "precompiled_header")

# Products and sums are rounded one by one, so that all forms of a reduction give the same bits. A
# thread's own variables are found without a call, in shared libraries, too: those are loaded at start.
_COPTS = ["-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-ftls-model=initial-exec"]

# What many of our files include. tests/layering sees to it that each includes what it uses.
_STANDARD = [
    "algorithm",
    "array",
    "atomic",
    "bit",
    "cerrno",
    "charconv",
    "chrono",
    "cmath",
    "concepts",
    "coroutine",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "deque",
    "exception",
    "filesystem",
    "fstream",
    "functional",
    "iterator",
    "limits",
    "list",
    "map",
    "memory",
    "mutex",
    "new",
    "numeric",
    "optional",
    "random",
    "ranges",
    "set",
    "span",
    "sstream",
    "stdexcept",
    "string",
    "string_view",
    "system_error",
    "thread",
    "tuple",
    "type_traits",
    "unordered_map",
    "utility",
    "variant",
    "vector",
]

def standard_library(name, **kwargs):
    """The standard library, precompiled for all of our C++."""
    precompiled_header(
        name = name,
        headers = _STANDARD,
        copts = _COPTS,
        variable = "STANDARD_LIBRARY",
        **kwargs
    )

def _compiled(copts, deps):
    """How a target is compiled: where it has flags of its own, without the header, which is for one set of flags."""
    if copts:
        return dict(copts = _COPTS + copts, deps = deps)
    return dict(
        copts = _COPTS + ["$(STANDARD_LIBRARY)"],
        deps = deps + ["//tools/bazel:standard"],
        toolchains = ["//tools/bazel:standard"],
    )

def muster_library(name, copts = [], deps = [], **kwargs):
    """A cc_library of ours."""
    native.cc_library(name = name, **dict(kwargs, **_compiled(copts, deps)))

def engine_library(name, deps = [], **kwargs):
    """A folder of the engine, whose headers are included as <muster/FOLDER/...>, here as once installed.

    `NAME_headers` is what a shared library of algorithms is compiled with: it finds the rest where it is loaded.
    `NAME_sources` is for tests that compile them otherwise.

    Args:
      name: the folder's.
      deps: other folders of the engine, all of them below this one; others' libraries.
      **kwargs: as for cc_library.
    """
    folders = [dep for dep in deps if dep.startswith("//engine/")]
    muster_library(
        name = name + "_headers",
        hdrs = native.glob(["*.hpp"]),
        include_prefix = "muster",
        strip_include_prefix = "/engine",
        deps = [folder + ":" + folder.rpartition("/")[2] + "_headers" for folder in folders],
    )
    native.filegroup(name = name + "_sources", srcs = native.glob(["*.cpp", "*.hpp"]))
    muster_library(
        name = name,
        srcs = native.glob(["*.cpp"]),
        # Whole: algorithms that a command loads may need what Muster's own do not.
        alwayslink = True,
        deps = deps + [":" + name + "_headers"],
        **kwargs
    )

def muster_binary(name, copts = [], deps = [], **kwargs):
    """A cc_binary of ours."""
    native.cc_binary(name = name, **dict(kwargs, **_compiled(copts, deps)))

def c_binary(name, **kwargs):
    """A program in C11, with every warning an error."""
    native.cc_binary(
        name = name,
        copts = ["-std=c11", "-D_DEFAULT_SOURCE", "-pedantic", "-Wall", "-Wextra", "-Werror"],
        **kwargs
    )

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
    native.cc_test(name = name, size = size, **dict(kwargs, **_compiled(copts, deps + [doctest])))
