#!/usr/bin/python3
"""Real MPI programs, unchanged, with and without the shim.

usage: applications.py --shim LIBRARY --test NAME
       applications.py --shim LIBRARY --measure [--ranks N,N,…] [--runs N] [--page FILE]

--test runs one of them both ways and compares its answers; the last line counts the cases.
--measure times all of them, both ways in turns, and writes a Markdown table.

Debian builds them with Open MPI.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


def numbers(pattern, text):
    """All numbers in the lines that match."""
    lines = [line for line in text.splitlines() if re.search(pattern, line)]
    return [float(one) for line in lines for one in NUMBER.findall(line)]


class Application:
    """One program: what it needs in its folder, its command, its answers, and what it says of its speed."""

    name = ""
    what = ""
    tolerance = 1e-9  # of answers, relative
    speed_in = ""  # what `speed` is, and whether more is better
    more_is_better = False
    adds_to = ()  # files of its folder that a run would add to

    def prepare(self, folder, ranks, short):
        pass

    def command(self, short):
        raise NotImplementedError

    def answers(self, folder, output):
        raise NotImplementedError

    def speed(self, folder, output):
        raise NotImplementedError


class Lammps(Application):
    name = "lammps"
    what = "LAMMPS, 6,912 Lennard-Jones atoms, 1,000 steps"
    speed_in = "seconds of its loop"

    def command(self, short):
        edge, steps = ("8", "100") if short else ("12", "1000")
        return ["lmp", "-in", str(HERE / "lammps_melt.in"), "-log", "none", "-var", "edge", edge, "-var", "steps", steps]

    def answers(self, folder, output):
        return numbers(r"^ +\d+( +-?[\d.]+){5} *$", output)

    def speed(self, folder, output):
        return numbers("^Loop time", output)[0]


class Cp2k(Application):
    name = "cp2k"
    what = "CP2K, four water molecules, energy"
    speed_in = "seconds"

    def command(self, short):
        return ["cp2k.psmp", "-i", str(HERE / "cp2k_water.inp")]

    def answers(self, folder, output):
        return numbers(r"^ ENERGY\|", output)

    def speed(self, folder, output):
        return numbers(r"^ CP2K  ", output)[-1]


class Gromacs(Application):
    name = "gromacs"
    what = "GROMACS, 884 water molecules with PME, 1,000 steps"
    tolerance = 1e-3  # six digits, of a trajectory
    speed_in = "ns/day"
    more_is_better = True

    def prepare(self, folder, ranks, short):
        shutil.copy(HERE / "gromacs_water.top", folder / "water.top")
        steps = (HERE / "gromacs_water.mdp").read_text()
        if short:
            steps = re.sub(r"nsteps = \d+", "nsteps = 100", steps)
        (folder / "run.mdp").write_text(steps)
        (folder / "relax.mdp").write_text(re.sub(r"integrator = md", "integrator = steep", steps))

        def gmx(*words):
            subprocess.run(["gmx", "-quiet", *words], cwd=folder, check=True, capture_output=True, text=True)

        gmx("solvate", "-cs", "spc216.gro", "-box", "3", "3", "3", "-o", "box.gro", "-p", "water.top")
        gmx("grompp", "-f", "relax.mdp", "-c", "box.gro", "-p", "water.top", "-o", "relax.tpr", "-maxwarn", "2")
        gmx("mdrun", "-deffnm", "relax", "-ntmpi", "1", "-ntomp", "1", "-nsteps", "100")
        gmx("grompp", "-f", "run.mdp", "-c", "relax.gro", "-p", "water.top", "-o", "run.tpr", "-maxwarn", "2")

    def command(self, short):
        return ["gmx_mpi", "-quiet", "-nobackup", "mdrun", "-deffnm", "run", "-ntomp", "1", "-npme", "0", "-noconfout",
                "-reprod"]

    def answers(self, folder, output):
        log = (folder / "run.log").read_text()
        return [one for line in re.findall(r"Potential +Kinetic En\.\n(.*)\n", log) for one in numbers(".", line)]

    def speed(self, folder, output):
        return numbers("^Performance:", (folder / "run.log").read_text())[0]


class Hpcc(Application):
    name = "hpcc"
    what = "HPCC, 1,000 rows: PTRANS, HPL, random access, FFT"
    speed_in = "giga-updates/s of its random access"
    more_is_better = True
    adds_to = ("hpccoutf.txt",)

    def prepare(self, folder, ranks, short):
        rows = max(one for one in range(1, ranks + 1) if ranks % one == 0 and one * one <= ranks)
        text = (HERE / "hpcc.txt").read_text().replace("ROWS\n", f"{rows}\n").replace("COLUMNS\n", f"{ranks // rows}\n")
        (folder / "hpccinf.txt").write_text(text.replace("\n1000\n", "\n400\n") if short else text)

    def command(self, short):
        return ["hpcc"]

    def answers(self, folder, output):
        text = (folder / "hpccoutf.txt").read_text()
        return numbers(r"^(Success|PTRANS_residual|MPIRandomAccess_(LCG_)?Errors|MPIFFT_maxErr)=", text) + \
            [float(text.count("FAILED")), float(text.count("PASSED"))]

    def speed(self, folder, output):
        return numbers("^MPIRandomAccess_GUPs=", (folder / "hpccoutf.txt").read_text())[0]


class Mpi4py(Application):
    name = "mpi4py"
    what = "mpi4py, buffers and objects in all its collectives"
    speed_in = ""

    def command(self, short):
        return ["/usr/bin/python3", str(HERE / "mpi4py_collectives.py")]

    def answers(self, folder, output):
        return []  # it compares its own, and ends with another status


APPLICATIONS = {one.name: one for one in (Lammps(), Cp2k(), Gromacs(), Hpcc(), Mpi4py())}


def run(application, folder, ranks, short, preload, variables=()):
    """Its output. `preload`: the shim, or None."""
    variables = ["OMP_NUM_THREADS=1", *variables] + ([f"LD_PRELOAD={preload}"] if preload else [])
    command = ["mpirun.openmpi", "--oversubscribe", "--map-by", "core", "--bind-to", "core:overload-allowed",
               "--mca", "mpi_yield_when_idle", "1", "--mca", "orte_tmpdir_base", str(folder),
               "--mca", "btl_vader_backing_directory", str(folder), "-np", str(ranks)]
    if os.geteuid() == 0:
        command.insert(1, "--allow-run-as-root")
    for one in variables:
        command += ["-x", one]
    for one in application.adds_to:
        (folder / one).unlink(missing_ok=True)
    done = subprocess.run(command + application.command(short), cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=280)
    if done.returncode:
        raise RuntimeError(f"{application.name} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout, done.stderr


def calls_and_share(report):
    """Of a report: collective calls, and what per cent of them were Muster's."""
    found = re.search(r"^muster: carried out (all|[\d.]+ %) of (\d+) collective calls", report, re.M)
    if not found:
        raise RuntimeError(f"no report:\n{report[-2000:]}")
    return int(found[2]), 100.0 if found[1] == "all" else float(found[1][:-2])


def left_to_the_mpi(report):
    """Why, in the report's words."""
    return set(re.findall(r"MPI \d+ \(([^)]*)\)", report)) | set(re.findall(r"MPI \(([^)]*)\)", report))


def same(first, second, tolerance):
    return len(first) == len(second) and all(
        abs(one - other) <= tolerance * max(abs(one), abs(other)) for one, other in zip(first, second))


def test(application, shim, ranks=4):
    """Right, silent, and all calls taken that can be."""
    failed = 0

    def check(name, condition, *what):
        nonlocal failed
        if not condition:
            failed += 1
            print(f"FAILED: {application.name}, {name}", *what)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        application.prepare(folder, ranks, True)
        alone, complaints = run(application, folder, ranks, True, None)
        expected = application.answers(folder, alone)
        output, silent = run(application, folder, ranks, True, shim)
        got = application.answers(folder, output)
        _, reported = run(application, folder, ranks, True, shim, ["MUSTER_REPORT=1"])
    check("there are answers", expected or not application.speed_in)
    check("the same answers", same(got, expected, application.tolerance), got, "expected", expected)
    check("silence", not re.search("^muster:", output + silent, re.M), silent)
    calls, share = calls_and_share(reported)
    check("collective calls, most of them Muster's", calls > 0 and share > 50, calls, share)
    check("all are Muster's but those of one rank", left_to_the_mpi(reported) <= {"one rank"}, reported)
    print(f"cases: {5 - failed} passed, {failed} failed")
    return 1 if failed else 0


def measured(application, shim, ranks, runs):
    """A row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        application.prepare(folder, ranks, False)
        speeds = {None: [], shim: []}
        answers = []
        for number in range(runs):
            for preload in speeds:
                print(f"\r{application.name}, {ranks} ranks, run {number + 1} of {runs} ", end="", file=sys.stderr)
                output, _ = run(application, folder, ranks, False, preload)
                answers.append(application.answers(folder, output))
                speeds[preload].append(application.speed(folder, output))
        _, report = run(application, folder, ranks, False, shim, ["MUSTER_REPORT=1"])
    print(file=sys.stderr)
    calls, share = calls_and_share(report)
    without, with_shim = (statistics.median(one) for one in speeds.values())
    ratio = with_shim / without if application.more_is_better else without / with_shim
    spread = max(max(one) / min(one) for one in speeds.values())
    agree = "yes" if all(same(one, answers[0], application.tolerance) for one in answers) else "NO"
    return (f"| {application.what} | {ranks} | {calls // ranks} | {share:.4g} % | {agree} | {application.speed_in} "
            f"| {without:.4g} | {with_shim:.4g} | {ratio:.2f} | {100 * (spread - 1):.0f} % |")


def measure(shim, ranks, runs, page):
    rows = ["| program | ranks | collective calls a rank | Muster's | same answers | its own measure | Open MPI | with the shim "
            "| times as fast | spread of runs |", "|---|---|---|---|---|---|---|---|---|---|"]
    for application in APPLICATIONS.values():
        if application.speed_in:
            rows += [measured(application, shim, one, runs) for one in ranks]
    text = "\n".join(rows) + "\n"
    print(text, end="")
    if page:
        begin, end = "<!-- measured -->\n", "<!-- end -->\n"
        old = page.read_text()
        page.write_text(old[:old.index(begin)] + begin + text + old[old.index(end):])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--shim", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--test", choices=APPLICATIONS)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--ranks", type=lambda text: [int(one) for one in text.split(",")], default=[2, 4])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args()
    if args.test:
        return test(APPLICATIONS[args.test], args.shim)
    return measure(args.shim, args.ranks, args.runs, args.page)


if __name__ == "__main__":
    sys.exit(main())
