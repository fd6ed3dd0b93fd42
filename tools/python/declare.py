#!/usr/bin/env python3
"""Makes of the C header what cffi needs to know, so that a program need neither parse nor compile it.

usage: declare.py HEADER VERSION_HEADER DECLARATIONS VERSION
"""

import re
import sys

import cffi


def declarations(header):
    """The header without what is for a compiler alone."""
    text = re.sub(r"^#.*$|^extern \"C\" \{$|^\}$", "", header, flags=re.M)
    return re.sub(r"//.*", "", text)


def version_of(header):
    major, minor, patch = (re.search(rf"MUSTER_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    abi = f"{major}.{minor}" if major == "0" else major
    return f'"""Which library this goes with."""\n\nVERSION = "{major}.{minor}.{patch}"\nLIBRARY = "libmuster.so.{abi}"\n'


def main(header, version_header, to, version):
    made = cffi.FFI()
    with open(header, encoding="utf-8") as file:
        made.cdef(declarations(file.read()))
    made.set_source("muster._declarations", None)
    made.emit_python_code(to)
    with open(version_header, encoding="utf-8") as file, open(version, "w", encoding="utf-8") as out:
        out.write(version_of(file.read()))


main(*sys.argv[1:])
