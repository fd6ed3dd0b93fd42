"""Tests that need RDMA devices: each runs in an emulated machine of its own."""

def rdma_test(name, srcs, args = [], data = [], tags = [], size = "medium"):
    """A shell test that sources tests/rdma/guest.sh. Its first arguments are tools/rdma-guest and tools/hosts.

    A machine takes some eight seconds to boot, so a test has many cases.

    Args:
      name: of the test
      srcs: the script
      args: further arguments of the script
      data: what it reads or runs
      tags: `rdma-ci` where every change has to pass it; all are tagged `rdma`, which tools/test
        leaves out unless asked for
      size: as ever
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = srcs,
        args = ["$(location //tools:rdma-guest)", "$(location //tools:hosts)"] + args,
        data = data + [
            "//tests/rdma:guest.sh",
            "//tests/support:cases.sh",
            "//tools:guest",
            "//tools:hosts",
            "//tools:rdma-guest",
            "//tools:rdma-rails",
        ],
        # Alone: emulated machines that share cores are too slow for what has to come in time.
        tags = ["exclusive", "rdma"] + tags,
    )
