#!/usr/bin/env python3
"""Lays Muster out as it is installed, of what Bazel has built and of the checkout's headers.

usage: lay_out.py CHECKOUT BUILT TO [--prefix PREFIX] [--libdir LIBDIR]

  CHECKOUT  the sources
  BUILT     where //tools/packaging:parts is: bazel-bin, or a test's folder
  TO        the folder that the prefix's contents are put into
  PREFIX    where they are going to be, if that is known: only /usr makes a difference
  LIBDIR    the folder of libraries in it (default: lib)
"""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

import headers
from commands import run
import symbols

HERE = pathlib.Path(__file__).resolve().parent
# Whose text is in what is installed: they are compiled in, being headers, at least in part.
COMPILED_IN = ["libcli11-dev", "libfmt-dev", "nlohmann-json3-dev"]
PYTHON_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"
COMMANDS = re.compile(r"^  ([a-z]+)  ", re.M)


class layout:
    def __init__(self, given):
        self.checkout, self.built, self.to = given.checkout.resolve(), given.built.resolve(), given.to.resolve()
        self.prefix, self.libdir = given.prefix, given.libdir
        self.version = headers.version_of(self.checkout)
        self.abi = headers.abi_of(self.version)

    def put(self, source, folder, mode=0o644, name=None):
        """Copies a file into a folder of the prefix."""
        to = self.to / folder / (name or source.name)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, to)
        to.chmod(mode)
        return to

    def write(self, text, file):
        to = self.to / file
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)
        to.chmod(0o644)

    def fill_in(self, source, folder, values, name=None):
        """A template of ours, with @NAMES@ in it, as a file."""
        text = (HERE / source).read_text()
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        self.write(text, f"{folder}/{name or source.removesuffix('.in')}")

    def headers(self):
        for name, file in headers.public(self.checkout).items():
            self.put(file, pathlib.Path("include/muster", name).parent)
        for door in headers.doors(self.checkout):
            for file in headers.door_sources(self.checkout, door):
                self.put(file, f"share/muster/{door}")

    def libraries(self):
        archive = self.put(self.built / "tools/packaging/libmuster.a", self.libdir)
        run("strip", "--strip-debug", "--enable-deterministic-archives", archive)
        flags = (self.built / "tools/packaging/libmuster.flags").read_text().split()
        names = self.to / "names.map"
        names.write_text(symbols.version_script(archive, headers.public(self.checkout).values(), f"MUSTER_{self.abi}"))
        library = self.to / self.libdir / f"libmuster.so.{self.version}"
        run("c++", "-shared", "-o", library, "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive",
            f"-Wl,-soname,libmuster.so.{self.abi}", f"-Wl,--version-script,{names}", "-Wl,--no-undefined", "-Wl,-O1",
            "-Wl,-z,relro,-z,now", "-Wl,--as-needed", "-Wl,--strip-all", *flags)
        names.unlink()
        library.chmod(0o644)
        (library.parent / f"libmuster.so.{self.abi}").symlink_to(library.name)
        (library.parent / "libmuster.so").symlink_to(f"libmuster.so.{self.abi}")
        for mpi in ("openmpi", "mpich"):
            self.program(f"tools/mpi/libmuster_{mpi}.so", self.libdir, 0o644)

    def program(self, built, folder, mode=0o755):
        file = self.put(self.built / built, folder, mode)
        run("strip", "--strip-unneeded", file)

    def command(self):
        self.program("tools/command/muster", "bin")
        # Where the command looks for what it starts, and for what it preloads besides the MPIs' libraries.
        for worker in ("muster", "openmpi", "mpich", "gloo"):
            self.program(f"tools/command/bench/worker_{worker}", "libexec/muster")
        for library in ("mpich_yield", "verbs_count", "worker_torch"):
            self.program(f"tools/command/bench/lib{library}.so", "libexec/muster", 0o644)
        self.put(self.checkout / "tools/command/bench/torch/worker_torch.py", "libexec/muster")
        self.put(self.built / "tools/report/muster-plot", "libexec/muster", 0o755)
        self.put(self.built / "tools/command/run/muster-hosts", "libexec/muster", 0o755)

    def python(self):
        """The package for Debian's Python, where that looks for it."""
        version = "3" if self.prefix == "/usr" else run("/usr/bin/python3", "-c", PYTHON_VERSION).strip()
        package = pathlib.PurePath("tools/python/muster")
        for folder in (self.checkout / package, self.built / package):
            for file in sorted(folder.glob("*.py")):
                self.put(file, f"lib/python{version}/dist-packages/muster")

    def for_builds(self):
        """What tells CMake, pkg-config and Bazel of the library."""
        libdir = pathlib.PurePath(self.libdir)
        up = "/".join(".." for _ in libdir.parts)
        flags = (self.built / "tools/packaging/libmuster.flags").read_text().strip()
        values = {
            "VERSION": self.version,
            "ABI": self.abi,
            "LIBDIR": self.libdir,
            "PREFIX_FROM_LIBDIR": up,
            "FLAGS": flags,
            "FLAGS_LIST": flags.replace(" ", ";"),
            "BAZEL_FLAGS": ", ".join(f'"{flag}"' for flag in flags.split()),
            # A folder that all compilers search anyway must be named as they name it.
            "PC_PREFIX": "/usr" if self.prefix == "/usr" else f"${{pcfiledir}}/../{up}",
        }
        self.fill_in("muster.pc.in", f"{self.libdir}/pkgconfig", values)
        for door in headers.doors(self.checkout):
            files = (file.name for file in headers.door_sources(self.checkout, door))
            about = {**values, "DOOR": door,
                     "SOURCES": " ".join(f"${{prefix}}/share/muster/{door}/{file}" for file in files)}
            self.fill_in("muster-door.pc.in", f"{self.libdir}/pkgconfig", about, f"muster-{door}.pc")
        self.fill_in("muster-config.cmake.in", f"{self.libdir}/cmake/muster", values)
        self.fill_in("muster-config-version.cmake.in", f"{self.libdir}/cmake/muster", values)
        self.fill_in("muster.BUILD.in", "share/muster", values)

    def documentation(self):
        environment = {**os.environ, "PATH": f"{self.to}/bin:{os.environ['PATH']}", "LC_ALL": "C"}
        command = self.to / "bin/muster"
        self.write(run(command, "completion"), "share/bash-completion/completions/muster")
        help_text = run(command, "--help")
        for name in ["", *COMMANDS.findall(help_text.partition("Subcommands:")[2])]:
            self.manual(name, environment)
        self.put(self.checkout / "LICENSE", "share/doc/muster")
        self.put(self.checkout / "CHANGELOG.md", "share/doc/muster")
        for package in COMPILED_IN:
            self.put(pathlib.Path("/usr/share/doc", package, "copyright"), "share/doc/muster/licences", name=package)

    def manual(self, name, environment):
        """A page of what the command, or one of its subcommands, says of itself."""
        command = f"muster {name}".strip()
        title = command.replace(" ", "-")
        summary = run("sh", "-c", f"{command} --help", env=environment).splitlines()[0]
        page = run("help2man", "--no-info", f"--version-string={self.version}", f"--source=Muster {self.version}",
                   "--manual=Muster", f"--name={summary}", command, env=environment)
        # It takes the first word alone for the program's name.
        page = page.replace(".TH MUSTER ", f".TH {title.upper()} ", 1).replace(f"{command} \\-", f"{title} \\-", 1)
        file = self.to / f"share/man/man1/{title}.1.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(page.encode(), mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for folder in ("checkout", "built", "to"):
        parser.add_argument(folder, type=pathlib.Path)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--libdir", default="lib")
    what = layout(parser.parse_args())
    what.headers()
    what.libraries()
    what.command()
    what.python()
    what.for_builds()
    what.documentation()


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError, headers.wrong) as why:
        sys.exit(f"lay_out: {why}")
