#!/usr/bin/env python3
"""Who may include whom: tools -> {algos, transports} -> engine, and tests whatever they like. And who
may ask the system what time it is or for chance: nobody whose code runs under virtual time.

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


def complaint(source, quote, included):
    """What is wrong with an include, or None. Both paths are relative to the root."""
    layer, target = source.parts[0], included.parts[0]
    if target not in LAYERS:
        return "is not written from the root" if quote == '"' else None
    if target not in MAY_INCLUDE[layer]:
        return f"{layer} may not include {target}"
    if layer == target == "transports" and folder(included) not in ("", folder(source)):
        return f"{folder(source) or layer} may not include another transport"
    return None


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
    ("engine/coro/task.hpp", '"engine/coro/pool.hpp"', True),
    ("engine/coro/task.hpp", "<coroutine>", True),
    ("engine/coro/task.hpp", '"algos/catalog.hpp"', False),
    ("engine/coro/task.hpp", '"transports/shm/shm.hpp"', False),
    ("engine/coro/task.hpp", '"tools/cli/args.hpp"', False),
    ("engine/coro/task.hpp", '"tests/support/x.hpp"', False),
    ("engine/coro/task.hpp", "<algos/catalog.hpp>", False),
    ("engine/coro/task.hpp", '"pool.hpp"', False),
    ("engine/coro/task.hpp", '"../../algos/catalog.hpp"', False),
    ("algos/bcast/srm.cpp", '"algos/patterns/tree.hpp"', True),
    ("algos/bcast/srm.cpp", '"engine/team/team.hpp"', True),
    ("algos/bcast/srm.cpp", '"transports/shm/shm.hpp"', False),
    ("algos/bcast/srm.cpp", '"tools/cli/args.hpp"', False),
    ("algos/bcast/srm.cpp", '"tests/support/x.hpp"', False),
    ("transports/shm/shm.cpp", '"transports/shm/segment.hpp"', True),
    ("transports/shm/deep/a.cpp", '"transports/shm/segment.hpp"', True),
    ("transports/shm/shm.cpp", '"transports/shared.hpp"', True),
    ("transports/shm/shm.cpp", '"engine/wire/fabric.hpp"', True),
    ("transports/shm/shm.cpp", '"transports/tcp/socket.hpp"', False),
    ("transports/tcp/tcp.cpp", '  "transports/shm/segment.hpp"', False),
    ("transports/shared.hpp", '"transports/tcp/socket.hpp"', False),
    ("transports/shm/shm.cpp", '"algos/catalog.hpp"', False),
    ("transports/shm/shm.cpp", '"tools/cli/args.hpp"', False),
    ("transports/shm/shm.cpp", '"tests/support/x.hpp"', False),
    ("tools/compose/muster.cpp", '"algos/catalog.hpp"', True),
    ("tools/compose/muster.cpp", '"transports/shm/shm.hpp"', True),
    ("tools/compose/muster.cpp", '"engine/team/team.hpp"', True),
    ("tools/cli/main.cpp", '"tools/compose/muster.hpp"', True),
    ("tools/cli/main.cpp", '"tests/support/x.hpp"', False),
    ("tests/coro/task_test.cpp", '"engine/coro/task.hpp"', True),
    ("tests/coro/task_test.cpp", '"tests/support/x.hpp"', True),
    ("tests/coro/task_test.cpp", '"tools/cli/args.hpp"', True),
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
    ("engine/team/team.cpp", "auto t = std::chrono::steady_clock::now();", False),
    ("engine/progress/engine.cpp", "auto t = std::chrono::steady_clock::now();", True),
    ("engine/progress/ticks.hpp", "return __builtin_ia32_rdtsc();", True),
    ("engine/team/team.cpp", "return __builtin_ia32_rdtsc();", False),
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
