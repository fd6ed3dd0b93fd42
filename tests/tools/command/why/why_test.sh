#!/usr/bin/env bash
# `muster why` of jobs that hang, and what ranks write of themselves, as their user sees it.
#
# usage: why_test.sh MUSTER PROGRAM MPI_PROGRAM
source tests/support/cases.sh
muster=$1
program=$2
mpi_program=$3
dir=$folder/why
job=
trap 'end_job; rm -rf "$folder"' EXIT
unset MUSTER_JOB
export MUSTER_TIMEOUT=0

# begin COMMAND…: a job that does not end by itself.
begin() {
  "$@" >"$folder/printed" 2>&1 &
  job=$!
}
end_job() {
  [ -n "$job" ] || return 0
  kill -9 "$job" 2>/dev/null
  wait "$job" 2>/dev/null
  job=
}
# until COMMAND…: true once it is, within what a slow machine may take.
until_true() {
  for _ in $(seq 300); do
    "$@" && return 0
    sleep 0.1
  done
  return 1
}
# answers PATTERN [OF]: the page of the job, or of a process or folder, has a line like it.
answers() { timeout 60 "$muster" why "${2:-$job}" >"$out" 2>&1 && matches "$1"; }
# process RANK: its process, by the JSON.
process() {
  timeout 60 "$muster" why "$job" --json - 2>/dev/null | python3 -c "
import json, sys
print(next(one['process'] for one in json.load(sys.stdin)['ranks'] if one['rank'] == int(sys.argv[1])))" "$1"
}
wait_for_three='^  For it wait ranks 0-2, the longest for '
written() { compgen -G "$1/muster-why.*.json" >/dev/null; }

begin "$muster" run -n 4 "$program" late
check "who waits for a late rank is found" until_true answers '^  0-2: sleeping, in call 4 of world, allreduce\(4 x float64, max\), waits for rank 3, for [0-9.]+ s$'
check "and the rank" until_true answers '^LATE: rank 3 \(process [0-9]+ on [^ ,]+, sleeping\) has not come to call 4 of world, allreduce\(4 x float64, max\)\.$'
check "and its last call" matches '^  Its last was call 3 of world, allreduce\(16 x float64, sum\), ended [0-9.]+( to [0-9.]+)? s ago\.$'
check "and who waits for it" matches "$wait_for_three"
check "a rank tells as much as what has started it" answers "$wait_for_three" "$(process 1)"
check "the late rank, too" answers "$wait_for_three" "$(process 3)"
check "as JSON" exits 0 "$muster" why "$job" --json "$folder/one.json"
check "with all calls" python3 -c "
import json, sys
it = json.load(open(sys.argv[1]))
assert [one['rank'] for one in it['ranks']] == [0, 1, 2, 3], it
assert [len(one['calls']) for one in it['ranks']] == [4, 4, 4, 3], it
last = it['ranks'][0]['calls'][-1]
assert (last['collective'], last['type'], last['op'], last['count']) == ('allreduce', 'float64', 'max', 4), last
assert last['first_awaited'] == 3 and 'ended_ns' not in last and last['begun_ns'] < it['ranks'][0]['seen_ns'], last
assert all([call['sequence'] for call in one['calls']] == list(range(1, 1 + len(one['calls']))) for one in it['ranks'])" "$folder/one.json"
ranks=$(for rank in 0 1 2 3; do process $rank; done)
kill -STOP $ranks
check "of ranks that are all stopped" until_true answers '^LATE: rank 3 .*, stopped\) has not come to call 4 of world'
end_job
check "nothing is written unasked" [ "$(ls "$folder")" = "$(printf 'one.json\nout\nprinted')" ]

begin "$muster" run -n 4 "$program" stops
check "a stopped rank is found" until_true answers '^LATE: rank 3 \(process [0-9]+ on [^ ,]+, stopped\) has not come to call 4 of world'
end_job
begin "$muster" run -n 4 "$program" computes
check "a rank that computes in the midst of a call is found" until_true answers '^STUCK: rank 3 .* is in call 4 of world, .*: nobody drives its engine\.$'
end_job
begin "$muster" run -n 4 "$program" crosses
check "teams whose calls are in two orders are found" until_true answers '^CIRCLE: ranks wait for each other'
check "with their calls" matches '^  rank 0 waits in call 1 of world\.1, barrier\(\), for rank 3$'
check "all of them" matches '^  rank 3 waits in call 1 of world\.2, barrier\(\), for rank 0$'
end_job
begin "$program" threads
check "ranks that are threads" until_true answers '^LATE: rank 2 .*has not come to call 4 of world'
end_job
begin bash -c '"$0" run -n 2 "$1" late & "$0" run -n 2 "$1" late & wait' "$muster" "$program"
check "what has started two jobs is refused" until_true eval '"$muster" why "$job" >"$out" 2>&1; says "has started several jobs: processes "'
pkill -9 -P "$job"
end_job
mkdir "$folder/shared"
export OMPI_MCA_orte_tmpdir_base=$folder/shared OMPI_MCA_btl_vader_backing_directory=$folder/shared
begin "$muster" mpirun -n 3 "$mpi_program"
check "ranks of an MPI" until_true answers '^LATE: rank 2 .*has not come to call 4 of [a-z0-9.]+, allreduce\(1 x float64, sum\)\.$'
end_job

export MUSTER_WHY=$dir
check "a rank dies" exits 137 "$muster" run -n 4 "$program" dies
check "it is said where that is written" says "who is late is in $dir/muster-why."
check "what was written says who" answers '^LATE: rank 3 \(process [0-9]+ on [^ ,]+, dead\) has not come to call 4 of world' "$dir"
check "and why it was written" matches '^Job of 4 ranks, seen .*rank 3 \(process [0-9]+\) was killed by signal 9'
check "on a page beside it, too" grep -qE '^LATE: rank 3 ' "$dir"/muster-why.*.txt
rm -r "$dir"
check "a call passes its deadline" exits 1 "$muster" run -n 4 "$program" deadline
check "who is late is written" answers '^LATE: rank 3 .* has not come to call 4 of world' "$dir"
check "and that it was the deadline" matches 'passed its deadline$'
rm -r "$dir"
check "ranks call different things" exits 1 "$muster" run -n 4 "$program" differs
check "which is written" answers '^MISMATCH in call 4 of world: ranks? [-0-9, ]+ called allreduce\(4 x float64, sum\); rank 3 called bcast\(4 x float64, root 0\)\.$' "$dir"
rm -r "$dir"
check "a job without a fault" exits 0 "$muster" run -n 4 "$program"
check "writes nothing" [ -z "$(ls "$dir")" ]

export MUSTER_WHY_SIGNAL=USR1
begin "$muster" run -n 4 "$program" late
check "a rank hangs" until_true answers "$wait_for_three"
kill -USR1 "$(process 0)"
check "upon a signal it writes" until_true written "$dir"
check "who is late" until_true answers "$wait_for_three" "$dir"
check "and which signal it was" matches ': signal USR1$'
check "there is a page, too" until_true grep -qsE '^LATE: rank 3 ' "$dir"/muster-why.*.txt
check "and hangs on" answers "$wait_for_three"
rm "$dir"/*
late=$(process 3)
sleep 1.1
kill -USR1 "$late"
check "the late rank does so, too" until_true written "$dir"
end_job
rm -f "$dir"/*
begin "$muster" run -n 4 "$program" late handles
check "a rank hangs that handles the signal itself" until_true answers "$wait_for_three"
kill -USR1 "$(process 3)"
check "its own handler has it" until_true grep -q handled "$folder/printed"
check "which was said" grep -qF "MUSTER_WHY_SIGNAL: the program does something else upon that signal" "$folder/printed"
check "and nothing else" eval '! written "$dir"'
end_job
check "a signal that there is not" exits 1 env MUSTER_WHY_SIGNAL=NONE "$program"
check "is said" says "MUSTER_WHY_SIGNAL is 'NONE'; expected a signal's name, as in USR1"
unset MUSTER_WHY MUSTER_WHY_SIGNAL

check "no such process" exits 1 "$muster" why 999999999
check "is said" says "process 999999999 does not exist"
check "a process that is no rank" exits 1 "$muster" why $$
check "is said" says "are no ranks of a job; expected a rank, or what has started ranks"
check "no such folder" exits 1 "$muster" why "$folder/nowhere"
check "is said" says "nowhere"
mkdir "$folder/empty"
check "an empty one" exits 1 "$muster" why "$folder/empty"
check "is, too" says "has nothing that ranks have written; expected the folder of MUSTER_WHY"
echo nonsense >"$folder/empty/muster-why.here.rank-0.json"
check "a file that is none" exits 1 "$muster" why "$folder/empty"
check "is said" says "muster-why.here.rank-0.json: "

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
