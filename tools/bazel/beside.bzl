"""Links to files in the output folder of another package, for programs that look for what lies beside them."""

def _beside(context):
    made = []
    for file in context.files.srcs:
        link = context.actions.declare_file("/".join([context.attr.folder, file.basename]).lstrip("/"))
        context.actions.symlink(output = link, target_file = file)
        made.append(link)
    return [DefaultInfo(files = depset(made), runfiles = context.runfiles(files = made + context.files.srcs))]

beside = rule(
    implementation = _beside,
    attrs = {
        "folder": attr.string(doc = "in this package; empty: itself"),
        "srcs": attr.label_list(allow_files = True),
    },
)
