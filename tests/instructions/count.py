#!/usr/bin/env python3
"""Counts the instructions of short calls whose peers are there already, and fails where one has come to
take a tenth more than it did. callgrind counts them in the second of two ranks, from the call to its end,
with the co_await, or the MPI's function, around it; what is compared is the median.

usage: count.py CALLS_PROGRAM MPI_CALLS_PROGRAM MPI_LIBRARY
"""

import collections
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# What they took when this was last changed. Less is welcome, and then belongs here.
BEFORE = {
    "barrier": 361,
    "barrier, planned": 299,
    "bcast": 429,
    "bcast, planned": 372,
    "allreduce": 438,
    "allreduce, planned": 381,
    "MPI_Barrier": 320,
    "MPI_Bcast": 402,
    "MPI_Allreduce": 413,
}
GROWTH = 1.1


def commands(own, with_mpi, library, callgrind):
    """One for the calls of Muster's own, one for those of an MPI."""
    rank = ["-n", "1", "env", f"LD_PRELOAD={library}"]
    mpirun = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    return [callgrind + [own], mpirun + rank + [with_mpi, ":"] + rank + callgrind + [with_mpi]]


def counted_in(folder):
    """What each call took, by what was called."""
    found = collections.defaultdict(list)
    for dump in pathlib.Path(folder).glob("counted.*"):
        text = dump.read_text(encoding="utf-8")
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
        if name and total:
            found[name[1]].append(int(total[1]))
        dump.unlink()
    return found


def count(programs):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        callgrind = ["valgrind", "--tool=callgrind", "--fair-sched=yes", "--collect-atstart=no",
                     f"--callgrind-out-file={folder}/counted"]
        for command in commands(*programs, callgrind):
            run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
            if run.returncode != 0:
                sys.exit(f"count: {' '.join(command)} ended with {run.returncode}\n{run.stdout}{run.stderr}")
            found |= counted_in(folder)
    return found


def main():
    programs = [os.path.abspath(path) for path in sys.argv[1:]]
    if len(programs) != 3:
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        sys.exit("count: no valgrind; tools/setup test installs it")
    found = count(programs)
    wrong = 0
    for name, before in BEFORE.items():
        if name not in found:
            sys.exit(f"count: nothing was counted of {name}")
        now = round(statistics.median(found[name]))
        more = now > before * GROWTH
        wrong += more
        print(f"{name:20} {now:5} instructions, {before:5} before{'  MORE' if more else ''}")
    sys.exit(f"{wrong} of {len(BEFORE)} have grown by more than a tenth" if wrong else 0)


if __name__ == "__main__":
    main()
