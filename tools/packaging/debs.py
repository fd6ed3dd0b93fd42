#!/usr/bin/env python3
"""Makes Debian's packages of an installed tree.

usage: debs.py CHECKOUT TREE FOLDER   (TREE: with usr/, as tools/install --prefix /usr --root TREE leaves it)
"""

import dataclasses
import email.utils
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import headers
from commands import run

# As Debian's own tools take it.
MAINTAINER = f"{os.environ.get('DEBFULLNAME', 'Muster')} <{os.environ.get('DEBEMAIL', 'muster@localhost')}>"
LICENCE = """Muster is free software under the Apache License, version 2.0: /usr/share/common-licenses/Apache-2.0.

Its programs and libraries have code of headers of these projects in them, compiled.
"""


@dataclasses.dataclass
class package:
    name: str
    section: str
    summary: str
    text: str
    files: list  # patterns below usr/; what an earlier package has taken is not there any more
    fields: dict = dataclasses.field(default_factory=dict)  # besides those that all have
    weak: str = "(?!)"  # found dependencies that are recommended only, as an expression


def packages(version, abi, triplet):
    lib = f"lib/{triplet}"
    same = f"(= {version})"
    return [
        package("libmuster-dev", "libdevel", "asynchronous collectives for C++20, for programs that use it",
                "Headers, the static library, and what tells CMake, pkg-config and Bazel where\nthese are.",
                ["include/muster", f"{lib}/libmuster.so", f"{lib}/libmuster.a", f"{lib}/cmake", f"{lib}/pkgconfig",
                 "share/muster"],
                {"Multi-Arch": "same", "Depends": f"libmuster{abi} {same}",
                 "Suggests": "libfmt-dev, libhwloc-dev, libibverbs-dev, libsodium-dev, liburing-dev, libboost-dev, "
                             "libtrilinos-kokkos-dev, muster-tools"}),
        package("libmuster" + abi, "libs", "asynchronous collectives for C++20, library",
                "Collective operations that are coroutines: a program awaits allreduce,\n"
                "alltoall, bcast and others as it awaits a timer or a socket.",
                [f"{lib}/libmuster.so.*"], {"Multi-Arch": "same"}),
        package("muster-mpi", "libs", "asynchronous collectives for unchanged MPI programs",
                "Libraries to be preloaded into programs of Open MPI and MPICH, which then have\nMuster's collectives, "
                "and what muster bench measures the MPIs with.",
                [f"{lib}/libmuster_*.so", "libexec/muster/worker_openmpi", "libexec/muster/worker_mpich",
                 "libexec/muster/libmpich_yield.so"],
                {"Enhances": "muster-tools", "Suggests": "muster-tools, openmpi-bin, mpich"}, weak="mpi"),
        package("muster-tools", "utils", "asynchronous collectives for C++20, the command",
                "Starts programs as the ranks of a job, measures collectives, simulates them on\nclusters, "
                "and chooses the fastest.",
                ["bin", "libexec", "share/man", "share/bash-completion"],
                {"Recommends": "iproute2, openssh-client, python3",
                 "Suggests": f"libmuster-dev, muster-mpi {same}, python3-muster, python3-torch, python3-matplotlib"}, weak="gloo"),
        package("python3-muster", "python", "asynchronous collectives for Python 3",
                "Collective operations on buffers, NumPy's arrays and what DLPack lends, that block\nor that asyncio "
                "awaits, without a thread and without polling.",
                ["lib/python3/dist-packages/muster"],
                {"Depends": f"libmuster{abi} {same}, python3, python3-cffi-backend, python3-numpy",
                 "Suggests": "muster-tools, python3-mpi4py, python3-torch"}),
    ]


# Python's compiler is called where the package is installed.
PYTHON_SCRIPTS = {"postinst": "py3compile -p python3-muster", "prerm": "py3clean -p python3-muster"}


def move(tree, to, patterns):
    """What the patterns name, from one tree into another."""
    for pattern in patterns:
        found = sorted(tree.glob(f"usr/{pattern}"))
        if not found:
            raise headers.wrong(f"there is no usr/{pattern} in {tree}")
        for each in found:
            target = to / each.relative_to(tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            each.rename(target)


def binaries(folder):
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as begin:
                if begin.read(4) == b"\x7fELF":
                    yield file


def needed(folder, architecture):
    """The packages whose libraries are needed, each with the version that it takes at least."""
    files = list(binaries(folder))
    if not files:
        return []
    with tempfile.TemporaryDirectory() as work:
        control = pathlib.Path(work, "debian/control")
        control.parent.mkdir()
        control.write_text(f"Source: muster\n\nPackage: muster\nArchitecture: {architecture}\n")
        said = run("dpkg-shlibdeps", "-O", *files, cwd=work, stderr=subprocess.DEVNULL)
    return said.strip().partition("=")[2].split(", ")


def joined(*lists):
    return ", ".join(each for each in lists if each)


def control(what, version, architecture, folder):
    found = needed(folder, architecture)
    fields = dict(what.fields)
    weak = [each for each in found if re.search(what.weak, each)]
    fields["Depends"] = joined(what.fields.get("Depends"), *(each for each in found if each not in weak))
    fields["Recommends"] = joined(what.fields.get("Recommends"), *weak)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    all_fields = {"Package": what.name, "Source": "muster", "Version": version, "Architecture": architecture,
                  "Maintainer": MAINTAINER, "Installed-Size": str(-(-size // 1024)), "Section": what.section,
                  "Priority": "optional", **fields}
    lines = "".join(f"{name}: {value}\n" for name, value in all_fields.items() if value)
    return lines + f"Description: {what.summary}\n" + "".join(f" {line}\n" for line in what.text.splitlines())


def document(checkout, licences, folder, name):
    to = folder / "usr/share/doc" / name
    to.mkdir(parents=True)
    texts = [f"\n{file.name.upper()}\n\n{file.read_text()}" for file in sorted(licences.iterdir())]
    (to / "copyright").write_text(LICENCE + "".join(texts))
    day = email.utils.formatdate(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    changelog = (f"muster ({headers.version_of(checkout)}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n"
                 f" -- {MAINTAINER}  {day}\n")
    (to / "changelog.gz").write_bytes(gzip.compress(changelog.encode(), mtime=0))
    (to / "CHANGELOG.md.gz").write_bytes(gzip.compress((checkout / "CHANGELOG.md").read_bytes(), mtime=0))


def make(what, checkout, tree, to):
    version = headers.version_of(checkout)
    architecture = run("dpkg", "--print-architecture").strip()
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        folder.chmod(0o755)
        move(tree, folder, what.files)
        document(checkout, tree / "usr/share/doc/muster/licences", folder, what.name)
        text = control(what, version, architecture, folder)
        sums = "".join(f"{hashlib.md5(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}\n"
                       for file in sorted(folder.rglob("*")) if file.is_file() and not file.is_symlink())
        about = folder / "DEBIAN"
        about.mkdir()
        (about / "control").write_text(text)
        (about / "md5sums").write_text(sums)
        if what.section == "libs" and "Multi-Arch" in what.fields:
            abi = headers.abi_of(version)
            (about / "shlibs").write_text(f"libmuster {abi} {what.name} (>= {version})\n")
            (about / "triggers").write_text("activate-noawait ldconfig\n")
        if what.section == "python":
            for script, command in PYTHON_SCRIPTS.items():
                (about / script).write_text(f"#!/bin/sh\nset -e\n{command}\n")
                (about / script).chmod(0o755)
        run("dpkg-deb", "--root-owner-group", "--build", folder, to / f"{what.name}_{version}_{architecture}.deb")


def main(checkout, tree, to):
    version = headers.version_of(checkout)
    triplet = run("dpkg-architecture", "-q", "DEB_HOST_MULTIARCH").strip()
    for what in packages(version, headers.abi_of(version), triplet):
        make(what, checkout, tree, to)
    shutil.rmtree(tree / "usr/share/doc")
    left = [str(file) for file in tree.rglob("*") if not file.is_dir()]
    if left:
        raise headers.wrong(f"in no package: {' '.join(left)}")


if __name__ == "__main__":
    try:
        main(*(pathlib.Path(word).resolve() for word in sys.argv[1:]))
    except (OSError, subprocess.CalledProcessError, headers.wrong) as why:
        sys.exit(f"debs: {why}")
