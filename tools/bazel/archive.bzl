"""One archive of all that a library is made of, for those who link without Bazel."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _whole_archive_impl(ctx):
    context = ctx.attr.library[CcInfo].linking_context
    objects, flags = [], []
    for part in context.linker_inputs.to_list():
        for library in part.libraries:
            objects += library.pic_objects or library.objects
        flags += [flag for flag in part.user_link_flags if flag not in flags]

    archive = ctx.actions.declare_file("lib{}.a".format(ctx.label.name))
    arguments = ctx.actions.args()
    arguments.add_all(["qcsD", archive])
    arguments.add_all(objects)
    ctx.actions.run(
        mnemonic = "WholeArchive",
        executable = find_cpp_toolchain(ctx).ar_executable,
        arguments = [arguments],
        inputs = objects,
        outputs = [archive],
    )

    libraries = ctx.actions.declare_file("lib{}.flags".format(ctx.label.name))
    ctx.actions.write(libraries, " ".join(flags) + "\n")
    return [DefaultInfo(files = depset([archive, libraries]))]

whole_archive = rule(
    implementation = _whole_archive_impl,
    doc = """libNAME.a, with the objects of a library and of all libraries of ours that it depends on; and libNAME.flags,
with what a linker is told for those of the system.""",
    attrs = {
        "library": attr.label(mandatory = True, providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
)
