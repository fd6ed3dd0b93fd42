#!/usr/bin/env python3
"""Writes a profiler that wraps all functions that the shim takes, counts their calls and says the counts at the end.

Usage: write_profiler.py VENDOR OUTPUT, with the folder of entries.py in PYTHONPATH.
"""

import re
import sys

import entries

BEGIN = """// Written by write_profiler.py.
#include <cstdio>

#include <mpi.h>
"""

COUNTER = """
namespace {

/// Of the calls of one function.
struct counter {
  explicit counter(const char* of) : name(of), next(all) { all = this; }
  const char* name;
  int calls = 0;
  counter* next;
  static inline counter* all = nullptr;
};

}  // namespace

"""

WRAPPER = """extern "C" int {name}({declared}) {{
  static counter here("{name}");
  ++here.calls;
  {action}
}}
"""

AT_END = """const int code = PMPI_Finalize();
  for (const counter* one = counter::all; one != nullptr; one = one->next) {
    std::fprintf(stderr, "profiler: %s %d\\n", one->name, one->calls);
  }
  return code;"""


def main():
    vendor, output = sys.argv[1:]
    text = BEGIN
    if vendor == "openmpi":
        text += "#include <mpi-ext.h>\n"
    text += COUNTER
    written = "".join(entries.functions(vendor))
    for name, declared in re.findall(r'^extern "C" int (MPIX?_\w+)\((.*)\) {$', written, re.MULTILINE):
        action = AT_END if name == "MPI_Finalize" else f"return P{name}({entries.names_in(declared)});"
        text += WRAPPER.format(name=name, declared=declared, action=action)
    with open(output, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
