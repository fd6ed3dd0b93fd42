#!/usr/bin/env bash
# import muster, in jobs of processes.
#
# usage: python_test.sh MUSTER
source tests/support/cases.sh
muster=$PWD/$1 here=$PWD/tests/tools/python
unset MUSTER_JOB
export PYTHONPATH=$PWD/tools/python PYTHONDONTWRITEBYTECODE=1
shared=$(mktemp -d /tmp/beside.XXXXXX) # shorter than TEST_TMPDIR: it has sockets
trap 'rm -rf "$folder" "$shared"' EXIT

# runs N PROGRAM [ARG…]: as N ranks.
runs() { timeout 100 "$muster" run -n "$1" "${@:3}" /usr/bin/python3 $here/$2 >"$out" 2>&1; }
# right N: every rank says so.
right() { [ "$(grep -o "all right" "$out" | wc -l)" = "$1" ]; }
rested() { # at most 100 ms of a second, and few turns of the loop
  awk '/computed/ { ranks++; if ($4 > 100 || $NF == "often") busy = 1 } END { exit !ranks || busy }' "$out"
}
# beside HOW: with Debian's mpi4py, whose MPI is Open MPI.
beside() {
  timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca orte_tmpdir_base "$shared" \
    --mca btl_vader_backing_directory "$shared" -n 3 /usr/bin/python3 "$here/beside_mpi4py.py" "$1" >"$out" 2>&1
}

for n in 1 2 3 5; do
  check "collectives, $n ranks" eval 'runs $n collectives.py && right $n'
done
check "collectives, 4 ranks on 2 nodes" eval 'runs 4 collectives.py --nodes 2 && right 4'
check "nobody's rank" eval '/usr/bin/python3 "$here/collectives.py" >"$out" 2>&1 && right 1'
for n in 1 2 3; do
  check "wrong arguments, $n ranks" eval 'runs $n errors.py && right $n'
  check "awaited, $n ranks" eval 'runs $n "awaited.py all" && right $n'
done
check "awaited, 3 ranks on 3 nodes" eval 'runs 3 "awaited.py all" --nodes 3 && right 3'
check "who awaits a late rank sleeps" eval 'runs 3 "awaited.py idle" && right 3 && rested'
check "one of 3 ranks dies" eval '! runs 3 "awaited.py died" && right 2'
for how in awaits blocks; do
  check "one of 3 ranks dies and is started again, who $how" eval 'runs 3 "regrowth.py $how" --respawn 1 && right 3'
done
# Of processes that no launcher knows, and that a bootstrap of the program's own connects.
for how in killed exits raises; do
  check "connected by the program, one rank $how" eval 'timeout 100 /usr/bin/python3 "$here/ended.py" $how >"$out" 2>&1 && right 3'
done
check "a job is left with operations pending" eval 'runs 3 "awaited.py left" && right 3'
check "beside mpi4py, under its launcher" eval 'beside launcher && right 3'
check "beside mpi4py, by its communicator" eval 'beside communicator && right 3'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
