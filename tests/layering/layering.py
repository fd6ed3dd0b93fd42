#!/usr/bin/env python3
"""Who may include whom: tools -> {algos, transports} -> engine, and tests whatever they like; inside the
engine a folder those below it, and what users link or preload no command. And who may ask the system
what time it is or for chance: nobody whose code runs under virtual time.

Proves first, on small made-up trees, that each forbidden direction is caught; then reads the checkout.
"""

import pathlib
import re
import sys
import tempfile

LAYERS = ("engine", "algos", "transports", "tools", "tests")
MAY_INCLUDE = {
    "engine": {"engine"},
    "algos": {"engine", "algos"},
    "transports": {"engine", "transports"},
    "tools": {"engine", "algos", "transports", "tools"},
    "tests": set(LAYERS),
}
# Each folder of the engine may include itself and those before it.
ENGINE = ("base", "coro", "progress", "call", "environment", "wire", "team", "select", "run", "api", "asio", "kokkos")
# Transports that build on others; `cluster` joins a machine's memory with a network.
TRANSPORTS = {
    "shm": {"stream"},
    "mpi": {"stream"},
    "tcp": {"stream"},
    "verbs": {"stream", "tcp"},
    "cluster": {"stream", "mpi", "shm", "tcp", "verbs"},
}
# Drawers of tools/ that the others build on, and what they may include beside themselves.
DRAWERS = {
    "library": set(),
    "c": {"library"},
    "process": set(),
    "report": {"library", "process"},
    "mpi": {"library", "report"},
}
# Headers of the library itself are included as once installed.
COMPOSED = {
    "tools/library": {"asio.hpp", "kokkos.hpp", "kokkos_comm.hpp", "muster.hpp", "world.hpp"},
    "tools/c": {"muster.h"},
}
SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".ipp"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.M)

# The engine's own clock is asked for in one place, which virtual time replaces; the arrival log counts
# ticks where there is no virtual time.
VIRTUAL = (pathlib.PurePath("engine"), pathlib.PurePath("algos"), pathlib.PurePath("transports/sim"))
CLOCKS = {pathlib.PurePath("engine/progress/engine.cpp"), pathlib.PurePath("engine/progress/ticks.hpp")}
CHANCE_OR_TIME = re.compile(
    r"\b\w*clock::now|\btime\((?:nullptr|NULL|0)\)|\brand\(\)|\bgetpid\b|\bclock_gettime\b|\bgettimeofday\b|rdtscp?\b|\brandom_device\b|\bmt19937"
    r"|\bgetrandom\b|\bstd::rand\b|\bdrand48\b|/dev/u?random"
)


def folder(path):
    """The transport a path below transports/ belongs to; '' for what all transports share."""
    return path.parts[1] if len(path.parts) > 2 else ""


def place(quote, included):
    """Where an included header lies in the tree; None where it is not ours."""
    if quote == "<" and included.parts[0] == "muster":
        inside = pathlib.PurePath(*included.parts[1:])
        home = next((home for home, names in COMPOSED.items() if str(inside) in names), "engine")
        return pathlib.PurePath(home) / inside
    return included if included.parts[0] in LAYERS else None


def complaint(source, quote, included):
    """What is wrong with an include, or None. Both paths are relative to the root."""
    target = place(quote, included)
    if target is None:
        return "is not written from the root" if quote == '"' else None
    layer, other = source.parts[0], target.parts[0]
    if other not in MAY_INCLUDE[layer]:
        return f"{layer} may not include {other}"
    if other == "engine" and included.parts[0] == "engine":
        return "is a header of the engine; expected <muster/...>"
    if layer == other == "engine" and rank_of(target) > rank_of(source):
        return f"engine/{source.parts[1]} may not include engine/{target.parts[1]}"
    if layer == other == "transports" and not may_use_transport(folder(source), folder(target)):
        return f"{folder(source) or layer} may not include another transport"
    if layer == other == "tools" and not may_use_drawer(folder(source), folder(target)):
        return f"tools/{folder(source)} may not include tools/{folder(target)}"
    return None


def rank_of(path):
    """A folder of the engine's place among them; above all where it is none."""
    return ENGINE.index(path.parts[1]) if path.parts[1] in ENGINE else len(ENGINE)


def may_use_transport(transport, other):
    return other in {"", transport} | TRANSPORTS.get(transport, set())


def may_use_drawer(drawer, other):
    return drawer not in DRAWERS or other in DRAWERS[drawer] | {drawer}


def violations(root):
    """Every forbidden include below root, as a line of text each."""
    found = []
    for layer in LAYERS:
        for path in sorted((root / layer).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            source = path.relative_to(root)
            for quote, included in INCLUDE.findall(path.read_text(errors="replace")):
                wrong = complaint(source, quote, pathlib.PurePath(included))
                if wrong:
                    found.append(f'{source}: "{included}": {wrong}')
            if asks_the_system(source, path):
                found.append(f"{source}: asks the system for time or chance, which virtual time hides")
    return found


def asks_the_system(source, path):
    """Whether a file that also runs under virtual time would look behind it."""
    if source in CLOCKS or not any(source.is_relative_to(each) for each in VIRTUAL):
        return False
    return CHANCE_OR_TIME.search(path.read_text(errors="replace")) is not None


# source, its include, whether that is allowed
CASES = [
    ("engine/coro/task.hpp", "<muster/coro/pool.hpp>", True),
    ("engine/coro/task.hpp", "<coroutine>", True),
    ("engine/coro/task.hpp", '"engine/coro/pool.hpp"', False),
    ("engine/coro/task.hpp", "<engine/coro/pool.hpp>", False),
    ("engine/coro/task.hpp", "<muster/base/error.hpp>", True),
    ("engine/coro/task.hpp", "<muster/progress/engine.hpp>", False),
    ("engine/wire/link.hpp", "<muster/call/arguments.hpp>", True),
    ("engine/wire/link.hpp", "<muster/team/shape.hpp>", False),
    ("engine/team/shape.hpp", "<muster/run/team.hpp>", False),
    ("engine/run/team.hpp", "<muster/api/split.hpp>", False),
    ("engine/api/split.cpp", "<muster/run/team.hpp>", True),
    ("engine/api/split.cpp", "<muster/world.hpp>", False),
    ("engine/new/thing.cpp", "<muster/api/split.hpp>", True),
    ("engine/api/split.cpp", "<muster/new/thing.hpp>", False),
    ("engine/coro/task.hpp", '"algos/catalog.hpp"', False),
    ("engine/coro/task.hpp", '"transports/shm/shm.hpp"', False),
    ("engine/coro/task.hpp", '"tools/command/args.hpp"', False),
    ("engine/coro/task.hpp", '"tests/support/x.hpp"', False),
    ("engine/coro/task.hpp", "<algos/catalog.hpp>", False),
    ("engine/coro/task.hpp", '"pool.hpp"', False),
    ("engine/coro/task.hpp", '"../../algos/catalog.hpp"', False),
    ("algos/bcast/srm.cpp", '"algos/patterns/trees/tree.hpp"', True),
    ("algos/bcast/srm.cpp", "<muster/run/context.hpp>", True),
    ("algos/bcast/srm.cpp", "<muster/muster.hpp>", False),
    ("algos/bcast/srm.cpp", '"transports/shm/shm.hpp"', False),
    ("algos/bcast/srm.cpp", '"tools/command/args.hpp"', False),
    ("algos/bcast/srm.cpp", '"tests/support/x.hpp"', False),
    ("transports/shm/shm.cpp", '"transports/shm/segment.hpp"', True),
    ("transports/shm/deep/a.cpp", '"transports/shm/segment.hpp"', True),
    ("transports/shm/shm.cpp", '"transports/shared.hpp"', True),
    ("transports/shm/shm.cpp", "<muster/wire/fabric.hpp>", True),
    ("transports/shm/shm.cpp", '"transports/tcp/socket.hpp"', False),
    ("transports/tcp/tcp.cpp", '  "transports/shm/segment.hpp"', False),
    ("transports/tcp/tcp.cpp", '"transports/stream/links.hpp"', True),
    ("transports/stream/links.cpp", '"transports/shm/ring.hpp"', False),
    ("transports/cluster/fabric.cpp", '"transports/shm/job.hpp"', True),
    ("transports/shared.hpp", '"transports/tcp/socket.hpp"', False),
    ("transports/shm/shm.cpp", '"algos/catalog.hpp"', False),
    ("transports/shm/shm.cpp", '"tools/command/args.hpp"', False),
    ("transports/shm/shm.cpp", '"tests/support/x.hpp"', False),
    ("tools/library/world.cpp", '"algos/catalog.hpp"', True),
    ("tools/library/world.cpp", '"transports/shm/shm.hpp"', True),
    ("tools/library/world.cpp", "<muster/run/team.hpp>", True),
    ("tools/library/world.cpp", '"tools/report/statistics.hpp"', False),
    ("tools/library/world.cpp", '"tools/command/bench/loop.hpp"', False),
    ("tools/library/world.cpp", "<muster/muster.h>", False),
    ("tools/c/team.cpp", "<muster/world.hpp>", True),
    ("tools/c/team.cpp", "<muster/muster.h>", True),
    ("tools/c/team.cpp", '"tools/mpi/shim.hpp"', False),
    ("tools/c/team.cpp", '"tools/command/bench/loop.hpp"', False),
    ("tools/mpi/shim.cpp", "<muster/world.hpp>", True),
    ("tools/mpi/shim.cpp", "<muster/muster.h>", False),
    ("tools/mpi/table.cpp", '"tools/report/statistics.hpp"', True),
    ("tools/mpi/table.cpp", '"tools/command/bench/loop.hpp"', False),
    ("tools/report/plot.cpp", '"tools/mpi/shim.hpp"', False),
    ("tools/command/main.cpp", "<muster/muster.hpp>", True),
    ("tools/command/main.cpp", '"tools/report/plot.hpp"', True),
    ("tools/command/main.cpp", '"tests/support/x.hpp"', False),
    ("tests/coro/task_test.cpp", "<muster/coro/task.hpp>", True),
    ("tests/coro/task_test.cpp", '"engine/coro/task.hpp"', False),
    ("tests/coro/task_test.cpp", '"tests/support/x.hpp"', True),
    ("tests/coro/task_test.cpp", '"tools/command/args.hpp"', True),
]


def case(source, include, allowed):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        path = root / source
        path.parent.mkdir(parents=True)
        path.write_text(f"// a file\n#include <vector>\n#include {include}\n")
        return (not violations(root)) == allowed


# source, a line of it, whether that is allowed
LINES = [
    ("engine/run/team.cpp", "auto t = std::chrono::steady_clock::now();", False),
    ("engine/progress/engine.cpp", "auto t = std::chrono::steady_clock::now();", True),
    ("engine/progress/ticks.hpp", "return __builtin_ia32_rdtsc();", True),
    ("engine/run/team.cpp", "return __builtin_ia32_rdtsc();", False),
    ("algos/bcast/srm.cpp", "std::mt19937 chance;", False),
    ("algos/bcast/srm.cpp", "const auto t = clock::now();", False),
    ("algos/bcast/srm.cpp", "srand(time(nullptr));", False),
    ("transports/sim/rank.cpp", "std::random_device chance;", False),
    ("transports/shm/measure.cpp", "auto t = std::chrono::steady_clock::now();", True),
]


def line_case(source, line, allowed):
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / source
        path.parent.mkdir(parents=True)
        path.write_text(line + "\n")
        return (not violations(pathlib.Path(name))) == allowed


def main():
    # The link among the test's inputs leads to the checkout.
    root = pathlib.Path("WORKSPACE").resolve().parent
    if not any((root / "engine").rglob("*.hpp")):
        sys.exit(f"{root} has no engine/ to read")

    failed = 0
    for source, include, allowed in CASES:
        if not case(source, include, allowed):
            failed += 1
            print(f"{source} including {include} should be {'allowed' if allowed else 'refused'}")
    for source, line, allowed in LINES:
        if not line_case(source, line, allowed):
            failed += 1
            print(f"{source}: '{line}' should be {'allowed' if allowed else 'refused'}")
    broken = violations(root)
    print("\n".join(broken), end="\n" if broken else "")
    failed += bool(broken)
    print(f"cases: {len(CASES) + len(LINES) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
