#!/usr/bin/python3
"""MPI programs, unchanged, with and without the shim: real ones, and kernels of our own.

usage: applications.py --libraries FOLDER --test NAME [--mpi NAME] [--hosts TOOL]
       applications.py --libraries FOLDER --measure programs,kernels,starts [--mpi NAME,NAME] [--ranks N,N,…]
                       [--runs N] [--blocks SIZE,SIZE,…] [--hosts TOOL] [--page FILE]

--test runs one of them both ways and compares its answers; the last line counts the cases. With --hosts its ranks are
spread over two hosts that tools/hosts makes of this machine, which Open MPI's TCP connects.
--measure times them, both ways in turns, and writes Markdown tables; `starts` times MPI_Init, also over four such hosts.

FOLDER is where Bazel puts what it builds: tools/mpi, tools/command/bench and tests/applications are looked for in it.
Debian builds the programs with Open MPI. The kernels are there for both MPIs.
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


class CannotRun(Exception):
    """Why a program does not run on this machine, whatever Muster does."""


class Application:
    """One program: what it needs in its folder, its command, its answers, and what it says of its speed."""

    name = ""
    what = ""
    mpi = "openmpi"
    tolerance = 1e-9  # of answers, relative
    speed_in = ""  # what `speed` is, and whether more is better
    more_is_better = False
    adds_to = ()  # files of its folder that a run would add to
    hosts = 1  # that are made for it

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
            done = subprocess.run(["gmx", "-quiet", *words], cwd=folder, capture_output=True, text=True)
            if "is not supported by the current hardware" in done.stderr:
                raise CannotRun("GROMACS, as Debian compiled it, needs instructions that this machine does not have")
            if done.returncode != 0:
                raise RuntimeError(f"gmx {words[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")

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
        # A transposition whose processor time is too short for the clock has no line for that.
        passed = re.findall(r"^(?!CPU ).*PASSED", text, re.M)
        return numbers(r"^(Success|PTRANS_residual|MPIRandomAccess_(LCG_)?Errors|MPIFFT_maxErr)=", text) + \
            [float(text.count("FAILED")), float(len(passed))]

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


class Kernel(Application):
    """One of ours: KERNEL_program_MPI, which is built beside this file."""

    speed_in = "seconds"

    def __init__(self, name, mpi, block, turns):
        self.name, self.mpi, self.block, self.turns = name, mpi, block, turns

    def command(self, short):
        program = LIBRARIES / "tests/applications" / f"{self.name}_program_{self.mpi}"
        return [str(program), str(self.block), str(self.turns)]

    def answers(self, folder, output):
        return [int(re.search(rf"^{one}: (\d+)$", output, re.M)[1]) for one in ("digest", "wrong")]

    def speed(self, folder, output):
        return numbers("^seconds:", output)[0]

    def in_collectives(self, output):
        return numbers("^in collectives:", output)[0]


class Start(Application):
    """MPI_Init, and what a program needs to say how long it took."""

    name = "start"
    speed_in = "ms"

    def __init__(self, mpi, hosts):
        self.mpi, self.hosts = mpi, hosts

    def command(self, short):
        return [str(LIBRARIES / "tests/applications" / f"start_program_{self.mpi}")]

    def answers(self, folder, output):
        return []

    def speed(self, folder, output):
        return numbers("^MPI_Init:", output)[0]


APPLICATIONS = {one.name: one for one in (Lammps(), Cp2k(), Gromacs(), Hpcc(), Mpi4py())}
KERNELS = ("transpose", "sort", "first_calls")
FIRST_CALLS = 20
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
LIBRARIES = pathlib.Path(".")
MAKES_HOSTS = None  # tools/hosts
TEST_HOSTS = 1  # over which the ranks of tests are spread
NETWORK = "10.77.0.0/24"  # theirs


def shim_for(mpi):
    return LIBRARIES / "tools/mpi" / f"libmuster_{mpi}.so"


def launcher(mpi, folder, ranks, hosts, preload, variables):
    """The command that starts an MPI's ranks, each bound to a core; where they share one they yield."""
    yields = ranks > len(os.sched_getaffinity(0))
    preloaded = [str(preload)] if preload else []
    if mpi == "mpich":
        if yields:
            preloaded.append(str(LIBRARIES / "tools/command/bench/libmpich_yield.so"))
        variables = variables + ([f"LD_PRELOAD={':'.join(preloaded)}"] if preloaded else [])
        command = ["mpirun.mpich", "-n", str(ranks), "-bind-to", "core"]
        return command + [word for one in variables for word in ("-genv", *one.split("=", 1))]
    variables = variables + ([f"LD_PRELOAD={preloaded[0]}"] if preloaded else [])
    before, places = [], ["--map-by", "core", "--bind-to", "core:overload-allowed"]
    if hosts > 1:
        before, places = [str(MAKES_HOSTS), str(hosts)], on_hosts(folder, ranks, hosts)
    command = [*before, "mpirun.openmpi", *(["--allow-run-as-root"] if os.geteuid() == 0 else []),
               "--oversubscribe", *places,
               "--mca", "mpi_yield_when_idle", str(int(yields)), "--mca", "orte_tmpdir_base", str(folder),
               "--mca", "btl_vader_backing_directory", str(folder), "-np", str(ranks)]
    return command + [word for one in variables for word in ("-x", one)]


def on_hosts(folder, ranks, hosts):
    """What Open MPI's launcher is told of made hosts."""
    shell = folder / "rsh"
    shell.write_text(f'#!/bin/sh\nexec {MAKES_HOSTS} --rsh "$@"\n')
    shell.chmod(0o755)
    shares = [(ranks + hosts - 1 - host) // hosts for host in range(hosts)]
    return ["--bind-to", "none", "--host", ",".join(f"h{host}:{share}" for host, share in enumerate(shares)),
            "--mca", "plm_rsh_agent", str(shell), "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp",
            "--mca", "oob_tcp_if_include", NETWORK, "--mca", "btl_tcp_if_include", NETWORK]


def run(application, folder, ranks, short, preload, variables=()):
    """Its output. `preload`: the shim, or None."""
    hosts = max(application.hosts, TEST_HOSTS)
    command = launcher(application.mpi, folder, ranks, hosts, preload, ["OMP_NUM_THREADS=1", *variables])
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


def test(application, ranks, check):
    """Right, silent, and all calls taken that can be."""
    shim = shim_for(application.mpi)
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
    # Where some lengths are left, the MPI is faster between hosts.
    may_be_left = {"one rank", "as selected"} if TEST_HOSTS > 1 else {"one rank"}
    check("all others are Muster's", left_to_the_mpi(reported) <= may_be_left, reported)


def test_all(name, mpi):
    """One program, or one kernel with few ranks and long blocks and the other way round."""
    cases = [(APPLICATIONS[name], 4)] if name in APPLICATIONS else [
        (Kernel(name, mpi, 1 << 20, 5), 2), (Kernel(name, mpi, 1 << 15, 20), 4), (Kernel(name, mpi, 1 << 12, 20), 8)]
    passed, failed, skipped = 0, 0, 0
    for application, ranks in cases:
        def check(what, condition, *shown):
            nonlocal passed, failed
            passed, failed = passed + bool(condition), failed + (not condition)
            if not condition:
                print(f"FAILED: {application.name}, {ranks} ranks, {what}", *shown)

        try:
            test(application, ranks, check)
        except CannotRun as why:
            print(f"skipped: {why}")
            skipped += 1
    print(f"cases: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


class Timed:
    """What some runs of an application said without and with the shim, one after the other."""

    def __init__(self, application, ranks, runs):
        self.outputs, self.speeds, self.answers = ([], []), ([], []), []
        shim = shim_for(application.mpi)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            application.prepare(folder, ranks, False)
            for number in range(runs):
                print(f"\r{application.name}, {ranks} ranks, run {number + 1} of {runs} ", end="", file=sys.stderr)
                # Now the one is first, now the other: the machine is not the same from one second to the next.
                for which in (0, 1) if number % 2 == 0 else (1, 0):
                    output, _ = run(application, folder, ranks, False, shim if which else None)
                    self.outputs[which].append(output)
                    self.speeds[which].append(application.speed(folder, output))
                    self.answers.append(application.answers(folder, output))
            _, self.report = run(application, folder, ranks, False, shim, ["MUSTER_REPORT=1"])
        print(file=sys.stderr)
        self.agree = "yes" if all(same(one, self.answers[0], application.tolerance) for one in self.answers) else "NO"
        self.medians = [statistics.median(one) for one in self.speeds]
        ratio = self.medians[0] / self.medians[1]
        self.times_as_fast = 1 / ratio if application.more_is_better else ratio
        self.spread = 100 * (max(max(one) / min(one) for one in self.speeds) - 1)


def program_row(application, ranks, runs):
    timed = Timed(application, ranks, runs)
    calls, share = calls_and_share(timed.report)
    without, with_shim = timed.medians
    return (f"| {application.what} | {ranks} | {calls // ranks} | {share:.4g} % | {timed.agree} "
            f"| {application.speed_in} | {without:.4g} | {with_shim:.4g} | {timed.times_as_fast:.2f} "
            f"| {timed.spread:.0f} % |")


def programs_table(args):
    head = ["| program | ranks | collective calls a rank | Muster's | same answers | its own measure | Open MPI | with the shim "
            "| times as fast | spread of runs |", "|---|---|---|---|---|---|---|---|---|---|"]
    return head + [program_row(application, ranks, args.runs) for application in APPLICATIONS.values()
                   if application.speed_in for ranks in args.ranks]


def size_text(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def parse_size(text):
    return int(text.rstrip("KM")) << {"K": 10, "M": 20}.get(text[-1], 0)


def kernel_row(name, mpi, ranks, block, runs):
    some_tenths_of_a_second = max(4, (128 << 20) // (block * ranks))
    turns = FIRST_CALLS if name == "first_calls" else some_tenths_of_a_second
    kernel = Kernel(name, mpi, block, turns)
    timed = Timed(kernel, ranks, runs)
    without, with_shim = (1e3 * one / turns for one in timed.medians)
    alone, taken = (1e3 * statistics.median(map(kernel.in_collectives, one)) / turns for one in timed.outputs)
    return (f"| {name} | {MPIS[mpi]} | {ranks} | {size_text(block)} | {timed.agree} | {without:.4g} | {with_shim:.4g} "
            f"| {timed.times_as_fast:.2f} | {alone:.4g} | {taken:.4g} | {alone / taken:.2f} | {timed.spread:.0f} % |")


def kernels_table(args):
    head = ["| kernel | MPI | ranks | block | same answers | ms a turn, the MPI alone | with the shim | times as fast "
            "| of these in collectives, alone | with the shim | times as fast | spread of runs |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    return head + [kernel_row(name, mpi, ranks, block, args.runs)
                   for name in KERNELS for mpi in args.mpi for ranks in args.ranks for block in args.blocks
                   if block * ranks * ranks <= MOST_BYTES]


def starts_table(args):
    head = ["| MPI | ranks | hosts | ms of `MPI_Init`, the MPI alone | with the shim | longer by | spread of runs |",
            "|---|---|---|---|---|---|---|"]
    return head + [start_row(mpi, hosts, args.runs) for mpi in args.mpi for hosts in (1, 4)
                   if hosts == 1 or (mpi == "openmpi" and MAKES_HOSTS)]


def start_row(mpi, hosts, runs):
    ranks = 16
    timed = Timed(Start(mpi, hosts), ranks, runs)
    without, with_shim = timed.medians
    return (f"| {MPIS[mpi]} | {ranks} | {hosts} | {without:.4g} | {with_shim:.4g} | {with_shim - without:.0f} ms "
            f"| {timed.spread:.0f} % |")


MOST_BYTES = 256 << 20  # of all ranks' blocks together; a kernel has three times as much
TABLES = {"programs": programs_table, "kernels": kernels_table, "starts": starts_table}


def measure(args):
    for name in args.measure:
        text = "\n".join(TABLES[name](args)) + "\n"
        print(text, end="")
        if args.page:
            begin, end = f"<!-- {name} -->\n", "<!-- end -->\n"
            before, after = args.page.read_text().split(begin, 1)
            args.page.write_text(before + begin + text + after[after.index(end):])


def names_of(allowed):
    def parse(text):
        names = text.split(",")
        for one in names:
            if one not in allowed:
                raise argparse.ArgumentTypeError(f"'{one}' is unknown; expected {', '.join(allowed)}")
        return names
    return parse


def main():
    global LIBRARIES, MAKES_HOSTS, TEST_HOSTS
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--libraries", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--test", choices=[*APPLICATIONS, *KERNELS])
    parser.add_argument("--hosts", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--measure", type=names_of(TABLES), default=list(TABLES))
    parser.add_argument("--mpi", type=names_of(MPIS), default=list(MPIS))
    parser.add_argument("--ranks", type=lambda text: [int(one) for one in text.split(",")], default=[2, 4])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--blocks", type=lambda text: [parse_size(one) for one in text.split(",")],
                        default=[parse_size(one) for one in ("256K", "1M", "4M", "16M", "32M")])
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args()
    LIBRARIES, MAKES_HOSTS = args.libraries, args.hosts
    TEST_HOSTS = 2 if args.test and args.hosts else 1
    return test_all(args.test, args.mpi[0]) if args.test else measure(args)


if __name__ == "__main__":
    sys.exit(main())
