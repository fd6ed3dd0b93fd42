"""Stand-ins for the repositories that Bazel itself would download."""

_CC_RULES = [
    "cc_binary",
    "cc_import",
    "cc_library",
    "cc_proto_library",
    "cc_test",
    "cc_toolchain",
    "cc_toolchain_suite",
    "objc_library",
]

_JAVA_RULES = [
    "java_binary",
    "java_import",
    "java_library",
    "java_proto_library",
    "java_runtime",
    "java_toolchain",
]

_COVERAGE = ["coverage_report_generator", "lcov_merger"]

def _reexport(rules):
    return "".join(["{0} = native.{0}\n".format(rule) for rule in rules])

def _offline_repository_impl(ctx):
    ctx.file("BUILD", "".join([
        "filegroup(name = '{}', visibility = ['//visibility:public'])\n".format(name)
        for name in _COVERAGE
    ]))
    ctx.file("cc/BUILD")
    ctx.file("cc/defs.bzl", _reexport(_CC_RULES))
    ctx.file("java/BUILD")
    ctx.file("java/defs.bzl", _reexport(_JAVA_RULES))

# One rule serves all three names: each finds what it needs and ignores the rest.
offline_repository = repository_rule(implementation = _offline_repository_impl)
