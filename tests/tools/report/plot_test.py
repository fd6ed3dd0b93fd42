#!/usr/bin/python3
"""The program that draws, on a little JSON of every kind, and of what is not quite that."""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# Where HOME cannot be written matplotlib would look for its fonts again for each picture.
os.environ["MPLCONFIGDIR"] = os.environ.get("TEST_TMPDIR", "/tmp") + "/matplotlib"

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(PROGRAM))
from plot.kinds import drawing_of
from plot.output import svg_of

SVG = "{http://www.w3.org/2000/svg}"


def drawn(found):
    return svg_of(drawing_of(found))


def run(found, name="one.svg"):
    """What the program makes of JSON: its exit status, what it says, and the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / name
        made = subprocess.run(
            (PROGRAM, "-", "-o", file), input=json.dumps(found), capture_output=True, text=True, check=False
        )
        return made.returncode, made.stderr, file.read_text("utf-8") if file.exists() else ""


def texts(svg):
    """The title and all that stands in a picture; raises where it is no SVG."""
    tree = xml.etree.ElementTree.fromstring(svg)
    return [tree.findtext(SVG + "title")] + [one.text for one in tree.iter(SVG + "text")]


def measured(library, collective="bcast", size=8, us=1.0, **more):
    return {
        "collective": collective, "algorithm": "default", "library": library, "ranks": 4, "nodes": 1,
        "bytes": size, "median_us": us, "p10_us": us and us * 0.9, "p90_us": us and us * 1.1, "verified": True,
    } | more


def benchmark(**more):
    """Muster twice as fast as the better peer."""
    rows = []
    for collective, size in (("barrier", 0), ("bcast", 8), ("bcast", 4096), ("alltoall", 64)):
        rows.append(measured("muster", collective, size, 1, ratio=2, limit_us=0.5, **more))
        rows.append(measured("openmpi", collective, size, 2, version="Open MPI 4.1.4", **more))
        rows.append(measured("mpich", collective, size, 3, machine="a & b <c>", **more))
    return rows


def simulated(collective, asked, size, us, **more):
    return {
        "collective": collective, "algorithm": "pairwise", "asked": asked, "machine": "made_up", "nodes": 2,
        "ranks_a_node": 2, "bytes": size, "calls": 5, "seed": 7, "arrivals": None, "median_us": us,
    } | more


def simulation(**more):
    return [
        simulated("barrier", "auto", 0, 3, **more),
        simulated("alltoall", "auto", 8, 4, **more),
        simulated("alltoall", "pairwise", 8, 5, **more),
        simulated("alltoall", "flat", 8, None, **more),
        simulated("alltoall", "auto", 64, 6, **more),
    ]


def rule(nodes, ranks, size, algorithm):
    return {
        "collective": "bcast", "nodes": nodes, "ranks_a_node": ranks, "bytes": size, "algorithm": algorithm
    }


TABLE = {
    "measured": "simulated, model made_up",
    "rules": [
        rule([2, 2], [1, 1], [0, 64], "binomial:ports=2"),
        rule([3, None], [1, 4], [65, None], "srm"),
    ],
}

COMPARED = {
    "machine": "Two CPUs",
    "points": [
        {"collective": what, "ranks": ranks, "bytes": 8, "measured_us": 1 + ranks, "predicted_us": 2}
        for what in ("bcast", "alltoall")
        for ranks in (2, 4)
    ],
}

FACTORS = ("average_case_imbalance_factor", "worst_case_imbalance_factor")
FACTOR = {"mean": 1.5, "most": 4.5}
RECORDED = {
    "ranks": 4,
    "sites": [
        {
            "call": "bcast(300 x byte, root 0)", "algorithm": "srm", "team_size": 3, "ranks": [0, 1, 3],
            "calls": 2, "kept": 2, "bytes": 300, "message_time_ns": 400,
            FACTORS[0]: FACTOR, FACTORS[1]: FACTOR,
            "time_in_call_ns": 1200, "waiting_share": 0.83,
            "lateness": {
                "ranks": ["0", "1", "3"], "first_call": [1, 2], "first_arrival_ns": [0, 5000],
                "ns": [[0, 400], [0, 1000], [1800, 0]],
            },
        }
    ],
}

# What each kind of JSON is of, and words that its picture must have.
KINDS = {
    "a benchmark": (benchmark(), [
        "Muster beside Open MPI and MPICH", "Muster", "Open MPI", "MPICH", "about the least this machine allows",
        "bcast, 4 ranks", "alltoall, 4 ranks", "barrier, 4 ranks", "time a call", "ratio", "size of the message",
        "size of one rank's block", "4 KiB", "1 µs", "2×", "a & b <c>  ·  Open MPI 4.1.4",
    ]),
    "between hosts": (benchmark() + [measured("openmpi_han", us=4), measured("gloo", us=5)], [
        "Muster beside Open MPI, MPICH, Open MPI with HAN and Gloo", "Open MPI with HAN", "Gloo",
    ]),
    "late ranks": (benchmark(arrivals="random:mif=32", seed=7), [
        "Muster beside Open MPI and MPICH, arrivals random:mif=32, seed 7", "arrivals random:mif=32, seed 7",
    ]),
    "other loops": (benchmark(loop="barrier", buffers="same", type="char"), [
        "Muster beside Open MPI and MPICH, between barriers, char, same buffers",
    ]),
    "several numbers of ranks": (benchmark() + benchmark(ranks=8), [
        "bcast, 4 ranks", "bcast, 8 ranks", "barrier", "Geometric means of the ratio", "all",
    ]),
    "algorithms": ([
        measured("muster", asked="pairwise", us=2, ratio=1.5, nodes=2),
        measured("muster", asked="auto", us=1, ratio=3, to_first=2, nodes=2),
        measured("muster", asked="flat", us=None, nodes=2),
        measured("mpich", us=3),
    ], ["Muster on 2 nodes beside MPICH", "Muster pairwise 1.50×", "Muster auto 3.00×"]),
    "nothing": ([], ["Nothing measured"]),
    "a peer alone": ([measured("mpich")], ["MPICH"]),
    "a simulation": (simulation(), [
        "made_up, 2 nodes x 2 ranks, seed 7", "auto", "pairwise", "barrier", "alltoall", "time a call",
        "size of one rank's block", "64 B", "3.00 µs", "Simulated; the median of 5 calls. Times: the slowest rank's.",
    ]),
    "a simulation of late ranks": (simulation(arrivals="random:mif=8"), [
        "made_up, 2 nodes x 2 ranks, arrivals random:mif=8, seed 7",
    ]),
    "a simulation without figures": ([simulated("bcast", "flat", 8, None)], ["made_up, 2 nodes x 2 ranks"]),
    "a selection table": (TABLE, [
        "What is selected: simulated, model made_up", "bcast", "binomial:ports=2", "srm", "≤ 64 B", "> 64 B",
        "2 x 1 ranks", "3+ x 2–4 ranks",
    ]),
    "an empty table": ({"rules": []}, ["What is selected: a table"]),
    "predictions": (COMPARED, [
        "Predicted and measured: Two CPUs", "2 ranks", "4 ranks", "bcast", "alltoall", "measured", "predicted",
    ]),
    "recorded arrivals": (RECORDED, [
        "Who arrived when: 4 ranks", "bcast(300 x byte, root 0): srm, ranks 0-1, 3", "rank", "behind the first",
        "operation 1, after 0.00 µs", "1 µs",
    ]),
    "a run without calls": ({"ranks": 2, "sites": []}, ["No call has a record of its ranks."]),
}

REMOVED = object()

# Of each kind of JSON: where something is put, what, and what is said of it.
AMISS = [
    (benchmark(), [
        ((2, "library"), REMOVED, "entry 3: library is missing; expected one of muster, openmpi, openmpi_han, mpich, gloo"),
        ((0, "library"), REMOVED, "entry 1: library is missing; expected one of muster, openmpi, openmpi_han, mpich, gloo"),
        ((2, "library"), "nccl", 'entry 3: library is "nccl"; expected one of muster, openmpi, openmpi_han, mpich, gloo'),
        ((1,), 5, "entry 2 is 5; expected an object"),
        ((0, "median_us"), "1", 'entry 1: median_us is "1"; expected a number above 0'),
        ((0, "median_us"), 0, "entry 1: median_us is 0; expected a number above 0"),
        ((0, "median_us"), float("nan"), "entry 1: median_us is NaN; expected a number above 0"),
        ((3, "p10_us"), REMOVED, "entry 4: p10_us is missing; expected a number above 0"),
        ((0, "ratio"), True, "entry 1: ratio is true; expected a number above 0"),
        ((0, "ranks"), 1.5, "entry 1: ranks is 1.5; expected a whole number from 1"),
        ((3, "bytes"), 0, "entry 4: bytes is 0; expected a whole number from 1"),
        ((3, "bytes"), 10**400, "entry 4: bytes is 1000"),
        ((0, "arrivals"), "random", "entry 1: seed is missing; expected a whole number"),
        ((0, "machine"), "a\nb", 'entry 1: machine is "a\\nb"; expected a text without control characters'),
    ]),
    (simulation(), [
        ((1, "machine"), REMOVED, "entry 2: machine is missing; expected a text"),
        ((0, "asked"), REMOVED, "entry 1: asked is missing; expected a text"),
        ((0, "arrivals"), REMOVED, "entry 1: arrivals is missing; expected a text"),
        ((0, "calls"), -1, "entry 1: calls is -1; expected a whole number from 1"),
        ((2, "median_us"), [], "entry 3: median_us is []; expected a number above 0"),
    ]),
    (TABLE, [
        (("rules",), {"a": 1}, 'rules is {"a": 1}; expected a list'),
        (("rules", 1, "algorithm"), REMOVED, "rules: entry 2: algorithm is missing; expected a text"),
        (("rules", 0, "nodes"), [2, 1], "rules: entry 1: nodes is [2, 1]; expected [first, last]"),
        (("rules", 0, "bytes"), [2], "rules: entry 1: bytes is [2]; expected [first, last]"),
    ]),
    (COMPARED, [
        (("points",), None, "points is null; expected a list"),
        (("points", 3, "predicted_us"), REMOVED, "points: entry 4: predicted_us is missing; expected a number"),
    ]),
    (RECORDED, [
        (("ranks",), REMOVED, "ranks is missing; expected a whole number"),
        (("sites", 0), "x", 'sites: entry 1 is "x"; expected an object'),
        (("sites", 0, "waiting_share"), None, "sites: entry 1: waiting_share is null; expected a number"),
        (("sites", 0, FACTORS[0], "most"), REMOVED, f"sites: entry 1: {FACTORS[0]}: most is missing"),
        (("sites", 0, "lateness", "ns", 0), REMOVED, "lateness: ns: number of entries is 2; expected 3"),
        (("sites", 0, "lateness", "ns", 1), [0], "ns: entry 2: number of entries is 1; expected 2"),
        (("sites", 0, "lateness", "ns", 1, 0), "x", 'ns: entry 2: entry 1 is "x"; expected a number'),
        (("sites", 0, "lateness", "first_call"), [], "first_call: number of entries is 0; expected a whole"),
    ]),
]

failures = []


def check(name, holds, shown=""):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n  | {shown}")
    return 1


def check_kind(name, found, words):
    there = texts(drawn(found))
    missing = [word for word in words if word not in there]
    return check(f"{name} is drawn", not missing, f"missing: {missing}; there are: {there}")


def changed(found, path, value):
    """A copy that has another value there, or none."""
    found = copy.deepcopy(found)
    *before, last = path
    at = found
    for key in before:
        at = at[key]
    if value is REMOVED:
        del at[last]
    else:
        at[last] = value
    return found


def refusal(found):
    """What is said of JSON instead of drawing it, if it is."""
    try:
        drawing_of(found)
    except ValueError as why:
        return str(why)
    return "nothing"


def check_amiss(found, path, value, words):
    said = refusal(changed(found, path, value))
    return check(f"it is said: {words}", words in said and "\n" not in said, said)


def main():
    cases = sum(check_kind(name, *kind) for name, kind in KINDS.items())
    cases += sum(check_amiss(found, *one) for found, all_of_it in AMISS for one in all_of_it)
    first = drawn(benchmark())
    cases += check("of no day", "dc:date" not in first)
    cases += check("whose text is text", "<text" in first and "DejaVu Sans" in first)
    cases += check("libraries have their colours", all(one in first for one in ("#d55e00", "#0072b2", "#cc79a7")))
    status, said, again = run(benchmark())
    cases += check("another process draws", status == 0 and not said, said)
    cases += check("the same", again == first)
    cases += check("HTML where the name says so", run(benchmark(), "one.html")[2].startswith("<!doctype html>"))
    status, said, _ = run({"other": 1})
    cases += check("what is nothing known is refused", status == 1 and "expected what muster bench, sim" in said, said)
    status, said, file = run(changed(benchmark(), (2, "median_us"), "3"))
    cases += check("an entry amiss fails", status == 1 and not file, said)
    line = 'muster plot: -: entry 3: median_us is "3"; expected a number above 0 and below 2^63, or null\n'
    cases += check("in one line", said == line, said)
    status, said, _ = run(benchmark(), "no/such/folder.svg")
    cases += check("a file that can't be written is named", status == 1 and "no/such/folder.svg" in said, said)
    print(f"cases: {cases - len(failures)} passed, {len(failures)} failed")
    sys.exit(bool(failures))


main()
