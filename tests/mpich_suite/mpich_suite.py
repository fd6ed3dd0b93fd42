#!/usr/bin/python3
"""The tests that MPICH brings along, with the library preloaded and without it, under MPICH or Open MPI.

usage: mpich_suite.py --libraries FOLDER --work FOLDER [--mpi NAME] [--parts NAME,NAME,…] [--limit SECONDS]

FOLDER is where Bazel puts what it builds; in the other one MPICH's source is fetched and its tests are built, unless they
are there. Fetching needs a Debian mirror, building some five minutes. What passes without the library has to pass with
it; what does not pass without it is only counted. The last line counts the cases.
"""

import argparse
import os
import pathlib
import shlex
import signal
import subprocess
import sys

PARTS = "coll,topo,comm,threads/coll,f77/coll,f90/coll,errhan"
SOURCES = """Types: deb-src
URIs: http://deb.debian.org/debian
Suites: {release}
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""
LAUNCH = {
    "mpich": "mpiexec.mpich -n {ranks}",
    "openmpi": "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n {ranks}",
}
PASS_ON = {"mpich": "-genv {name} {value}", "openmpi": "-x {name}={value}"}


def run(command, folder, log):
    """Runs what may take long; its output goes to a file."""
    with open(log, "ab") as out:
        done = subprocess.run(command, cwd=folder, shell=True, stdout=out, stderr=subprocess.STDOUT)
    return done.returncode == 0


def fetch(work):
    """MPICH's source, as Debian has it."""
    found = sorted(work.glob("mpich-*/test/mpi/configure"))
    if found:
        return found[0].parent
    release = next(line.split("=")[1] for line in pathlib.Path("/etc/os-release").read_text().splitlines()
                   if line.startswith("VERSION_CODENAME="))
    (work / "lists").mkdir(parents=True, exist_ok=True)
    (work / "parts").mkdir(exist_ok=True)
    (work / "parts/source.sources").write_text(SOURCES.format(release=release.strip('"')))
    apt = (f"apt-get -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts={work}/parts "
           f"-o Dir::State::Lists={work}/lists -o APT::Sandbox::User=root ")
    if not run(f"{apt} update && {apt} source --download-only mpich && tar xf mpich_*.orig.tar.*", work, work / "fetch.log"):
        sys.exit(f"MPICH's source could not be fetched: see {work}/fetch.log")
    return fetch(work)


def build(source, work, mpi, parts):
    """Its tests, as far as they compile: some are of a newer MPI."""
    made = work / mpi
    made.mkdir(exist_ok=True)
    log = work / f"{mpi}.log"
    if not (made / "Makefile").exists():
        # Some tests call what later versions of MPI have removed; Open MPI declares it if asked.
        removed = "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"
        old = f"FFLAGS='-fallow-argument-mismatch -w' FCFLAGS='-fallow-argument-mismatch -w' CFLAGS='-O1 -w {removed}'"
        compilers = f"MPICC=mpicc.{mpi} MPICXX=mpicxx.{mpi} MPIFC=mpif90.{mpi} MPIF77=mpif77.{mpi}"
        if not run(f"{source}/configure {compilers} {old} --disable-spawn --disable-rma --enable-threads=multiple", made, log):
            sys.exit(f"MPICH's tests could not be configured: see {log}")
    jobs = os.cpu_count()
    for part in ["dtpools", "util", *parts]:
        for goal in ("all", "check TESTS="):  # at once they would compile the same files
            run(f"make -k -j{jobs} {goal}", made / part, log)
    return made


def cases(source, made, part):
    """The program, ranks, arguments and environment of each line of a part's list."""
    list_file = next(one for one in (made / part / "testlist", source / part / "testlist") if one.exists())
    for line in list_file.read_text().splitlines():
        words = line.split("#")[0].split()
        if len(words) < 2 or not words[1].isdigit() or not (made / part / words[0]).exists():
            continue
        options = [word.split("=", 1) for word in words[2:] if "=" in word]
        yield {
            "program": made / part / words[0],
            "ranks": int(words[1]),
            "arguments": [value for key, value in options if key == "arg"],
            "environment": [value.split("=", 1) for key, value in options if key == "env"],
        }


def passes(mpi, case, library, limit):
    """Whether it says so in time. Nothing of it is left behind."""
    environment = case["environment"] + ([["LD_PRELOAD", str(library)]] if library else [])
    command = shlex.split(LAUNCH[mpi].format(ranks=case["ranks"]))
    for name, value in environment:
        command += shlex.split(PASS_ON[mpi].format(name=name, value=shlex.quote(value)))
    command += [str(case["program"]), *case["arguments"]]
    job = subprocess.Popen(command, cwd=case["program"].parent, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said = job.communicate(timeout=limit)[0]
        return job.returncode == 0 and b"No Errors" in said, said.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        job.communicate()
        subprocess.run(["pkill", "-KILL", "-f", str(case["program"])], check=False)
        return False, f"nothing within {limit} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", choices=sorted(LAUNCH), default="mpich")
    parser.add_argument("--parts", default=PARTS)
    parser.add_argument("--limit", type=float, default=60)
    options = parser.parse_args()
    library = (options.libraries / f"tools/mpi/libmuster_{options.mpi}.so").resolve()
    if not library.exists():
        sys.exit(f"{library} is not there; expected what `bazel build //tools/mpi/...` makes")
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    parts = options.parts.split(",")
    source = fetch(work)
    made = build(source, work, options.mpi, parts)
    everything = [(part, case) for part in parts for case in cases(source, made, part)]
    passed = failed = alone = 0
    for number, (part, case) in enumerate(everything):
        name = f"{part}/{case['program'].name} with {case['ranks']} ranks {' '.join(case['arguments'])}".rstrip()
        print(f"[{100 * number // len(everything):3} %] {name}", flush=True)
        with_it, said = passes(options.mpi, case, library, options.limit)
        if with_it:
            passed += 1
        elif passes(options.mpi, case, None, options.limit)[0]:
            failed += 1
            print(f"FAILED, though it passes without the library:\n{said}", flush=True)
        else:
            alone += 1
            print("does not pass without the library, either", flush=True)
    print(f"cases: {passed} passed, {failed} failed ({alone} more do not pass without the library)")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
