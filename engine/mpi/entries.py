#!/usr/bin/env python3
"""Writes the functions of MPI that the shim takes the names of: every collective, blocking, nonblocking and
persistent, in both widths of counts.

Each puts its arguments into a `call` and asks the shim whether it takes it; what it does not take goes to the
function of the same name in the MPI beneath. The PMPI_ names are taken, too, as aliases: Open MPI's Fortran
bindings call those.

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
}

FORMS = {
    "blocking": "",
    "nonblocking": "MPI_Request* request",
    "persistent": "MPI_Info info, MPI_Request* request",
}


def parameters_of(collective):
    for name in (COLLECTIVES[collective] + " comm").split():
        if name != "displs":
            yield name, *PARAMETERS[name]
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


def entry(collective, form, vendor, suffix, count, displacement):
    """One function, its alias, and nothing else."""
    name = function_name(collective, form, vendor) + suffix
    names, declarations, settings = [], [], []
    for parameter, declaration, sets in parameters_of(collective):
        names.append(parameter)
        declarations.append(declaration.replace("COUNT", count).replace("DISPLACEMENT", displacement))
        settings += [f"  what.{one};" for one in sets]
    if FORMS[form]:
        declarations.append(FORMS[form])
        names += [part.split()[-1] for part in FORMS[form].split(", ")]
    what = collective.lower()
    routine = what if what == "alltoallw" else f"routine_of(muster::collective::{what})"
    last = ", request" if form != "blocking" else ""
    return "\n".join(
        [
            f'extern "C" int {name}({", ".join(declarations)}) {{',
            f'  static const auto beneath = find_beneath<decltype(&{name})>("P{name}");',
            f"  shim* const in = shim::taking({routine}, form::{form});",
            f'  if (in == nullptr) return beneath({", ".join(names)});',
            f'  call what({routine}, "{name}");',
            *settings,
            f"  const answer taken = in->{form}(what{last});",
            f'  return taken.by_muster ? taken.code : beneath({", ".join(names)});',
            "}",
            f'extern "C" decltype({name}) P{name} __attribute__((alias("{name}")));',
            "",
        ]
    )


def main():
    vendor, output = sys.argv[1:]
    large = [("_c", "MPI_Count", "MPI_Aint")] if vendor == "mpich" else []  # MPI-4's
    text = "// Written by entries.py.\n#include <mpi.h>\n"
    if vendor == "openmpi":
        text += "#include <mpi-ext.h>\n"
    text += '\n#include "engine/mpi/shim.hpp"\n\nusing namespace muster::mpi;\n\n'
    for suffix, count, displacement in [("", "int", "int"), *large]:
        for form in FORMS:
            for collective in COLLECTIVES:
                if suffix and not COLLECTIVES[collective]:
                    continue
                text += entry(collective, form, vendor, suffix, count, displacement) + "\n"
    with open(output, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
