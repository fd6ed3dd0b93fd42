"""Which headers are installed: those that a program includes, and what they include."""

import re

# Folders of the engine that programs ask for by a header of their own, <muster/FOLDER.hpp>, since they need a
# library that not everybody has.
DOORS = ["asio", "kokkos"]
# For programs in C.
C = ["muster.h"]
# For algorithms of a program's own: docs/own-algorithm.md.
VERBS = ["run/pipeline.hpp"]
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.M)


class wrong(Exception):
    pass


def version_of(checkout):
    text = (checkout / "engine/base/version.hpp").read_text()
    return ".".join(re.search(rf"define MUSTER_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def abi_of(version):
    """What programs that are linked with one version need of another. Before 1.0.0 a minor version may change it."""
    major, minor, _ = version.split(".")
    return f"{major}.{minor}" if major == "0" else major


def doors(checkout):
    """Those that there are."""
    return [door for door in DOORS if (checkout / "tools/library" / f"{door}.hpp").exists()]


def roots(checkout):
    """As they are included, without <muster/>."""
    found = ["muster.hpp", *C, *VERBS]
    for door in doors(checkout):
        found += [file.name for file in sorted((checkout / "tools/library").glob(f"{door}*.hpp"))]
        found += [f"{door}/{file.name}" for file in sorted((checkout / "engine" / door).glob("*.hpp"))]
    return found


def door_sources(checkout, door):
    """What a door has besides headers: it is compiled in the program, against the library that the program has."""
    return sorted((checkout / "engine" / door).glob("*.cpp"))


def find(checkout, name):
    for folder in ("engine", "tools/library", "tools/c"):
        if (checkout / folder / name).exists():
            return checkout / folder / name
    raise wrong(f"<muster/{name}> is included, but is neither in engine/, in tools/library/ nor in tools/c/")


def included(file):
    """What a file includes of ours, without <muster/>."""
    names = []
    for kind, name in INCLUDE.findall(file.read_text()):
        if kind == '"':
            raise wrong(f'{file}: includes "{name}"; expected <muster/...>, as it is installed')
        if name.startswith("muster/"):
            names.append(name.removeprefix("muster/"))
    return names


def public(checkout):
    """Name as in <muster/NAME> -> file, of all."""
    found, left = {}, roots(checkout)
    for door in doors(checkout):
        for file in door_sources(checkout, door):
            left += included(file)
    while left:
        name = left.pop()
        if name not in found:
            found[name] = find(checkout, name)
            left += included(found[name])
    return dict(sorted(found.items()))
