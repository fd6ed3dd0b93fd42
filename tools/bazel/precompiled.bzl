"""A precompiled header of headers of the system."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    if toolchain.compiler != "clang":
        return [platform_common.TemplateVariableInfo({ctx.attr.variable: ""}), CcInfo()]

    header = ctx.actions.declare_file(ctx.label.name + ".pch")
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts

    # What it needs of templates is instantiated once, here.
    flags += ["-xc++-header", "-Xclang", "-fno-pch-timestamp", "-fpch-instantiate-templates"]
    for each in ctx.attr.headers:
        flags += ["-include", each]
    compiler = cc_common.get_tool_for_action(feature_configuration = features, action_name = "c++-compile")

    # Made of nothing, and in no folder of ours, it names none: it serves in all sandboxes, and may come from a cache.
    ctx.actions.run_shell(
        mnemonic = "PrecompileHeader",
        command = 'exec </dev/null >"$1" && shift && cd / && "$@"',
        arguments = [header.path, compiler] + cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = cc_common.create_compile_variables(
                feature_configuration = features,
                cc_toolchain = toolchain,
                source_file = "-",
                output_file = "-",
                user_compile_flags = flags,
                use_pic = True,
            ),
        ),
        inputs = toolchain.all_files,
        outputs = [header],
    )
    return [
        platform_common.TemplateVariableInfo({
            # Clang does not tell Bazel by itself that an object depends on it.
            ctx.attr.variable: "-Xclang -fdepfile-entry={0} -include-pch {0}".format(header.path),
        }),
        CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset([header]))),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = """What clang reads in place of `headers`; nothing for other compilers.

A target that is compiled with it has it in `deps` and in `toolchains`, and its variable in `copts`. Clang refuses
one that was made with other flags, or of files that have changed.""",
    attrs = {
        "headers": attr.string_list(mandatory = True, doc = "of the system alone, as in #include <...>"),
        "copts": attr.string_list(doc = "those of the targets that use it"),
        "variable": attr.string(mandatory = True, doc = "has the flags that use it"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    provides = [CcInfo, platform_common.TemplateVariableInfo],
)
