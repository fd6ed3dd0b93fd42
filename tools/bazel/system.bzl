"""Libraries of the system as @hwloc, @fmt, @openmpi, ...

A library that is missing fails only the targets that use it, and names the package to install."""

_BUILD = """
cc_library(
    name = "{name}",
    hdrs = glob(["include/**"], allow_empty = True),
    includes = {includes},
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _system_library_impl(ctx):
    if not ctx.path(ctx.attr.header).exists:
        fail("{} is missing: install package {}".format(ctx.attr.header, ctx.attr.package))
    if ctx.attr.include:
        ctx.symlink(ctx.attr.include, "include")
    ctx.file("BUILD", _BUILD.format(
        name = ctx.name,
        includes = ["include"] if ctx.attr.include else [],
        linkopts = ctx.attr.linkopts,
    ))

_system_library = repository_rule(
    implementation = _system_library_impl,
    local = True,
    attrs = {
        "package": attr.string(mandatory = True),
        "header": attr.string(mandatory = True, doc = "its presence shows that the package is there"),
        "include": attr.string(doc = "include folder, where it is not one the compiler searches"),
        "linkopts": attr.string_list(),
    },
)

_LIB = "/usr/lib/x86_64-linux-gnu"

def system_libraries():
    """Declares every library of the system that the project may use."""
    _system_library(
        name = "boost",
        package = "libboost1.81-dev",
        header = "/usr/include/boost/asio.hpp",
    )
    _system_library(
        name = "cli11",
        package = "libcli11-dev",
        header = "/usr/include/CLI/CLI.hpp",
    )
    _system_library(
        name = "doctest",
        package = "doctest-dev",
        header = "/usr/include/doctest/doctest.h",
    )
    _system_library(
        name = "fftw3",
        package = "libfftw3-dev",
        header = "/usr/include/fftw3.h",
        linkopts = ["-lfftw3"],
    )
    _system_library(
        name = "fmt",
        package = "libfmt-dev",
        header = "/usr/include/fmt/format.h",
        linkopts = ["-lfmt"],
    )
    _system_library(
        name = "gloo",
        package = "libgloo-dev",
        header = "/usr/include/gloo/context.h",
        linkopts = ["-lgloo"],
    )
    _system_library(
        name = "hwloc",
        package = "libhwloc-dev",
        header = "/usr/include/hwloc.h",
        linkopts = ["-lhwloc"],
    )
    _system_library(
        name = "ibverbs",
        package = "libibverbs-dev",
        header = "/usr/include/infiniband/verbs.h",
        linkopts = ["-libverbs"],
    )
    _system_library(
        name = "kokkos",
        package = "libtrilinos-kokkos-dev",
        header = "/usr/include/trilinos/Kokkos_Core.hpp",
        include = "/usr/include/trilinos",
        linkopts = ["-ltrilinos_kokkoscore", "-ltrilinos_kokkoscontainers"],
    )
    _system_library(
        name = "liburing",
        package = "liburing-dev",
        header = "/usr/include/liburing.h",
        linkopts = ["-luring"],
    )
    _system_library(
        name = "mpich",
        package = "libmpich-dev",
        header = "/usr/include/x86_64-linux-gnu/mpich/mpi.h",
        include = "/usr/include/x86_64-linux-gnu/mpich",
        linkopts = ["-lmpich"],
    )
    _system_library(
        name = "nlohmann_json",
        package = "nlohmann-json3-dev",
        header = "/usr/include/nlohmann/json.hpp",
    )
    _system_library(
        name = "openmpi",
        package = "libopenmpi-dev",
        header = _LIB + "/openmpi/include/mpi.h",
        include = _LIB + "/openmpi/include",
        linkopts = ["-L" + _LIB + "/openmpi/lib", "-lmpi"],
    )
    _system_library(
        name = "pmix",
        package = "libpmix-dev",
        header = _LIB + "/pmix2/include/pmix.h",
        include = _LIB + "/pmix2/include",
    )
    _system_library(
        name = "rdmacm",
        package = "librdmacm-dev",
        header = "/usr/include/rdma/rdma_cma.h",
        linkopts = ["-lrdmacm"],
    )
    _system_library(
        name = "sodium",
        package = "libsodium-dev",
        header = "/usr/include/sodium.h",
        linkopts = ["-lsodium"],
    )
