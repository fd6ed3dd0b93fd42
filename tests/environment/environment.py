#!/usr/bin/env python3
"""The environment's variables: all that Muster reads are in one list, from which docs/environment.md is made.

usage: environment.py MUSTER

Nobody else asks the system for one, and no other name beginning with MUSTER_ is written anywhere. Proves first, on
made-up lines, that each of this is caught; then reads the checkout.
"""

import pathlib
import re
import subprocess
import sys

LIST = pathlib.PurePath("engine/environment/environment.hpp")
READER = pathlib.PurePath("engine/environment/environment.cpp")
NOT_VARIABLES = (pathlib.PurePath("engine/base/version.hpp"), pathlib.PurePath("tools/c/muster.h"))
HERE = pathlib.PurePath("tests/environment")
SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc"}
TEXTS = SOURCES | {".md", ".py", ".sh", ".bzl", ""}
GETENV = re.compile(r"getenv\s*\(\s*([^)]*)")
NAME = re.compile(r"\bMUSTER_[A-Z][A-Z_]*[A-Z]\b")


def complaints(source, text, known):
    """What is wrong in a file, as a line of text each."""
    found = []
    if source.suffix in SOURCES and source != READER:
        for argument in GETENV.findall(text):
            if not re.match(r'"(?!MUSTER_)', argument):
                found.append(f"{source}: asks the system for {argument}, not {LIST}")
    if not source.is_relative_to(HERE):
        found += [f"{source}: {name} is not in {LIST}" for name in sorted(set(NAME.findall(text)) - known)]
    return found


def files(root):
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        hidden = inside.parts[0].startswith((".", "bazel-"))
        if not hidden and "__pycache__" not in inside.parts and path.suffix in TEXTS and path.is_file():
            yield inside, path.read_text(errors="replace")


# source, a line of it, whether that is allowed
LINES = [
    ("engine/run/team.cpp", 'std::getenv("MUSTER_KNOWN");', False),
    ("engine/run/team.cpp", "std::getenv(name);", False),
    ("engine/run/team.cpp", "secure_getenv (name.c_str());", False),
    ("tests/engine/some_test.cpp", 'getenv( "MUSTER_KNOWN" )', False),
    ("tools/command/bench/bench.cpp", 'std::getenv("NO_COLOR")', True),
    ("engine/environment/environment.cpp", "std::getenv(which.name)", True),
    ("docs/mpi.md", "`MUSTER_KNOWN=1`", True),
    ("docs/mpi.md", "`MUSTER_KNOWM=1`", False),
    ("tools/muster", "export MUSTER_OTHER", False),
    ("tests/environment/some_test.sh", "MUSTER_OTHER=1", True),
    ("docs/own-algorithm.md", "-DMUSTER_ and MUSTER_* are no names", True),
]


def main():
    # The link among the test's inputs leads to the checkout.
    root = pathlib.Path("WORKSPACE").resolve().parent
    failed = 0
    for source, line, allowed in LINES:
        if (not complaints(pathlib.PurePath(source), line, {"MUSTER_KNOWN"})) != allowed:
            failed += 1
            print(f"{source}: '{line}' should be {'allowed' if allowed else 'refused'}")
    page = subprocess.run([sys.argv[1], "info", "--environment"], check=True, capture_output=True, text=True).stdout
    if page != (root / "docs/environment.md").read_text():
        failed += 1
        print("docs/environment.md is not what `muster info --environment` prints")
    known = set(NAME.findall(page))
    others = {name for file in NOT_VARIABLES for name in NAME.findall((root / file).read_text())}
    wrong = [line for source, text in files(root) for line in complaints(source, text, known | others)]
    print("\n".join(wrong), end="\n" if wrong else "")
    if len(known) < 10:
        wrong.append("there are names")
        print(f"only {len(known)} names on the page")
    failed += bool(wrong)
    print(f"cases: {len(LINES) + 2 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
