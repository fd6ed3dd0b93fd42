#!/usr/bin/env python3
"""Writes the functions of MPI that the shim takes the names of: every collective, blocking, nonblocking and
persistent, in both widths of counts.

Each puts its arguments into a `call` and asks the shim whether it takes it; what it does not take goes to the
function of the same name in the MPI beneath. What does so has the PMPI_ name: Open MPI's Fortran bindings call
those, and so do profilers, whose wrappers have the MPI_ names. The function with such a name calls the wrapper of a
profiler that is loaded after this library, if there is one, else what has the PMPI_ name. Of functions that are
written by hand this writes the MPI_ ones alone.

Usage: entries.py VENDOR OUTPUT, where VENDOR is openmpi or mpich.
"""

import sys

# Parameters, as MPI names them, and what of a `call` they are. COUNT and DISPLACEMENT stand for the types of
# one of the widths.
PARAMETERS = {
    "sendbuf": ("const void* sendbuf", ["send.buffer = const_cast<void*>(sendbuf)"]),
    "sendcount": ("COUNT sendcount", ["send.count = sendcount"]),
    "sendtype": ("MPI_Datatype sendtype", ["send.type = sendtype"]),
    "sendcounts": ("const COUNT sendcounts[]", ["send.counts = numbers(sendcounts)"]),
    "sdispls": ("const DISPLACEMENT sdispls[]", ["send.displacements = numbers(sdispls)"]),
    "sendtypes": ("const MPI_Datatype sendtypes[]", ["send.types = sendtypes"]),
    "recvbuf": ("void* recvbuf", ["receive.buffer = recvbuf"]),
    "recvcount": ("COUNT recvcount", ["receive.count = recvcount"]),
    "recvtype": ("MPI_Datatype recvtype", ["receive.type = recvtype"]),
    "recvcounts": ("const COUNT recvcounts[]", ["receive.counts = numbers(recvcounts)"]),
    "rdispls": ("const DISPLACEMENT rdispls[]", ["receive.displacements = numbers(rdispls)"]),
    "recvtypes": ("const MPI_Datatype recvtypes[]", ["receive.types = recvtypes"]),
    "buffer": ("void* buffer", ["receive.buffer = buffer"]),
    "count": ("COUNT count", ["receive.count = count"]),
    "datatype": ("MPI_Datatype datatype", ["receive.type = datatype"]),
    "op": ("MPI_Op op", ["op = op"]),
    "root": ("int root", ["root = root"]),
    "comm": ("MPI_Comm comm", ["comm = comm"]),
}

COLLECTIVES = {
    "Barrier": "",
    "Bcast": "buffer count datatype root",
    "Reduce": "sendbuf recvbuf count datatype op root",
    "Allreduce": "sendbuf recvbuf count datatype op",
    "Allgather": "sendbuf sendcount sendtype recvbuf recvcount recvtype",
    "Alltoall": "sendbuf sendcount sendtype recvbuf recvcount recvtype",
    "Scatter": "sendbuf sendcount sendtype recvbuf recvcount recvtype root",
    "Gather": "sendbuf sendcount sendtype recvbuf recvcount recvtype root",
    "Reduce_scatter_block": "sendbuf recvbuf recvcount datatype op",
    "Scan": "sendbuf recvbuf count datatype op",
    "Exscan": "sendbuf recvbuf count datatype op",
    "Scatterv": "sendbuf sendcounts displs sendtype recvbuf recvcount recvtype root",
    "Gatherv": "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype root",
    "Allgatherv": "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype",
    "Alltoallv": "sendbuf sendcounts sdispls sendtype recvbuf recvcounts rdispls recvtype",
    "Alltoallw": "sendbuf sendcounts sdispls sendtypes recvbuf recvcounts rdispls recvtypes",
    "Reduce_scatter": "sendbuf recvbuf recvcounts datatype op",
    "Neighbor_allgather": "sendbuf sendcount sendtype recvbuf recvcount recvtype",
    "Neighbor_alltoall": "sendbuf sendcount sendtype recvbuf recvcount recvtype",
    "Neighbor_allgatherv": "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype",
    "Neighbor_alltoallv": "sendbuf sendcounts sdispls sendtype recvbuf recvcounts rdispls recvtype",
    "Neighbor_alltoallw": "sendbuf sendcounts sdispls sendtypes recvbuf recvcounts rdispls recvtypes",
}

FORMS = {
    "blocking": "",
    "nonblocking": "MPI_Request* request",
    "persistent": "MPI_Info info, MPI_Request* request",
}


# Functions whose PMPI_ ones are in lifetime.cpp, graphs.cpp and requests.cpp.
BY_HAND = {
    "MPI_Init": "int* argc, char*** argv",
    "MPI_Init_thread": "int* argc, char*** argv, int required, int* provided",
    "MPI_Finalize": "",
    "MPI_Start": "MPI_Request* request",
    "MPI_Startall": "int count, MPI_Request requests[]",
    "MPI_Request_free": "MPI_Request* request",
    "MPI_Op_free": "MPI_Op* op",
    "MPI_Type_free": "MPI_Datatype* type",
    "MPI_Comm_free": "MPI_Comm* comm",
    "MPI_Comm_disconnect": "MPI_Comm* comm",
    "MPI_Graph_create": "MPI_Comm old, int nodes, const int index[], const int edges[], int reorder, MPI_Comm* made",
    "MPI_Dist_graph_create": "MPI_Comm old, int nodes, const int sources[], const int degrees[], "
    "const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm* made",
    "MPI_Dist_graph_create_adjacent": "MPI_Comm old, int indegree, const int sources[], const int source_weights[], "
    "int outdegree, const int destinations[], const int destination_weights[], MPI_Info info, int reorder, "
    "MPI_Comm* made",
    "MPI_Wait": "MPI_Request* request, MPI_Status* status",
    "MPI_Waitall": "int count, MPI_Request requests[], MPI_Status statuses[]",
    "MPI_Waitany": "int count, MPI_Request requests[], int* which, MPI_Status* status",
    "MPI_Waitsome": "int count, MPI_Request requests[], int* completed, int which[], MPI_Status statuses[]",
    "MPI_Test": "MPI_Request* request, int* completed, MPI_Status* status",
    "MPI_Testall": "int count, MPI_Request requests[], int* completed, MPI_Status statuses[]",
    "MPI_Testany": "int count, MPI_Request requests[], int* which, int* completed, MPI_Status* status",
    "MPI_Testsome": "int count, MPI_Request requests[], int* completed, int which[], MPI_Status statuses[]",
    "MPI_Request_get_status": "MPI_Request request, int* completed, MPI_Status* status",
    "MPI_Error_string": "int code, char* text, int* length",
}


def parameters_of(collective):
    for name in (COLLECTIVES[collective] + " comm").split():
        if name != "displs":
            declaration, sets = PARAMETERS[name]
            if collective == "Neighbor_alltoallw":  # in bytes, in either width of counts
                declaration = declaration.replace("DISPLACEMENT", "MPI_Aint")
            yield name, declaration, sets
        elif collective == "Scatterv":
            yield name, "const DISPLACEMENT displs[]", ["send.displacements = numbers(displs)"]
        else:
            yield name, "const DISPLACEMENT displs[]", ["receive.displacements = numbers(displs)"]


def function_name(collective, form, vendor):
    if form == "blocking":
        return "MPI_" + collective
    if form == "nonblocking":
        return "MPI_I" + collective.lower()
    # MPI-4's, which Open MPI 4 has as an extension.
    return ("MPIX_" if vendor == "openmpi" else "MPI_") + collective + "_init"


def names_in(declarations):
    """Of "int* argc, char*** argv": "argc, argv"."""
    return ", ".join(one.split()[-1].removesuffix("[]") for one in declarations.split(", ") if one)


def entrance(name, declarations):
    """The function that programs call. It looks once for whose it is."""
    return "\n".join(
        [
            f'extern "C" int {name}({declarations}) {{',
            f'  static const auto outermost = find_outermost("{name}", P{name});',
            f"  return outermost({names_in(declarations)});",
            "}",
            "",
        ]
    )


def entry(collective, form, vendor, suffix, count, displacement):
    """One function in both of its names. A blocking call without arrays looks first whether it came before; the rest
    is then a function of its own, so that this one needs no more than its arguments."""
    name = function_name(collective, form, vendor) + suffix
    declarations, settings = [], []
    for _, declaration, sets in parameters_of(collective):
        declarations.append(declaration.replace("COUNT", count).replace("DISPLACEMENT", displacement))
        settings += [f"  what.{one};" for one in sets]
    declared = ", ".join(declarations + [FORMS[form]] * bool(FORMS[form]))
    arguments = names_in(declared)
    what = collective.lower()
    routine = what if what.endswith("w") else f"routine_of(muster::collective::{what})"
    last = ", request" if form != "blocking" else ""
    made = [f'  call what({routine}, "{name}");', *settings]
    head = f'extern "C" int P{name}({declared}) {{'
    short = []
    if form == "blocking" and "[]" not in declared:
        short = [
            head,
            *made,
            "  const answer again = shim::again(what);",
            f"  return again.by_muster ? again.code : anew_{name}({arguments});",
            "}",
            "",
        ]
        head = f"[[gnu::noinline]] static int anew_{name}({declared}) {{"
    return "\n".join(
        [
            head,
            f'  static const auto beneath = find_next<decltype(&{name})>("P{name}");',
            f"  shim* const in = shim::taking({routine}, form::{form});",
            f"  if (in == nullptr) return beneath({arguments});",
            *made,
            f"  const answer taken = in->{form}(what{last});",
            *(["  const shim::leaving here(taken);"] if form == "blocking" else []),
            f"  return taken.by_muster ? taken.code : beneath({arguments});",
            "}",
            "",
            *short,
            entrance(name, declared),
        ]
    )


def functions(vendor):
    """All of them, as text."""
    large = [("_c", "MPI_Count", "MPI_Aint")] if vendor == "mpich" else []  # MPI-4's
    for suffix, count, displacement in [("", "int", "int"), *large]:
        for form in FORMS:
            for collective in COLLECTIVES:
                if not suffix or COLLECTIVES[collective]:
                    yield entry(collective, form, vendor, suffix, count, displacement)
    for name, declarations in BY_HAND.items():
        yield entrance(name, declarations)


def main():
    vendor, output = sys.argv[1:]
    text = "// Written by entries.py.\n#include <mpi.h>\n"
    if vendor == "openmpi":
        text += "#include <mpi-ext.h>\n"
    text += '\n#include "tools/mpi/shim.hpp"\n\nusing namespace muster::mpi;\n\n'
    text += "\n".join(functions(vendor))
    with open(output, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
