#!/usr/bin/env bash
# `muster run` as its user sees it: statuses, messages, signals, and nothing left behind.
source tests/support/cases.sh
muster=$1
program=$2

# run STATUS ARGS…: runs `muster run ARGS`, output to $out; true if it exits with STATUS.
run() {
  local wanted=$1
  shift
  timeout 30 "$muster" run "$@" >"$out" 2>&1
  [ $? = "$wanted" ]
}
counts() { [ "$(grep -cE -- "$2" "$out")" = "$1" ]; }
running() { pgrep -x -- "$(basename "$program")" >/dev/null; }
eventually() {
  for _ in $(seq 100); do
    "$@" && return
    sleep 0.05
  done
  return 1
}
gone() { ! running; }

shm_before=$(ls /dev/shm 2>/dev/null)

check "a killed rank: its status" run 137 -n 4 "$program" killed
check "a killed rank: the others learn of it soon" counts 3 'soon: .*rank 1 \(process [0-9]+\) was killed by signal 9'
check "a killed rank: the launcher says so" matches '^muster run: rank 1 .*killed by signal 9 \(Killed\)'
export MUSTER_TIMEOUT=1
check "a stopped rank: its status" run 137 -n 4 "$program" stops
check "a stopped rank: the others learn of it" counts 3 'soon: .*rank 1 \(process [0-9]+\) has been stopped for 1 s'
check "a stopped rank: the launcher says so" matches '^muster run: rank 1 .*has been stopped for 1 s, and others wait'
unset MUSTER_TIMEOUT
check "a limit that is no number" eval 'MUSTER_TIMEOUT=soon run 1 -n 2 "$program" where && says "MUSTER_TIMEOUT is"'
check "a rank that fails: its status" run 7 -n 4 --nodes 2 "$program" exits
check "a rank that fails: the others learn of it soon" counts 3 'soon: .*rank 1 .*exited with status 7'
check "a rank that leaves: not a failure of its own" run 0 -n 3 "$program" leaves
check "a rank that leaves: the others learn of it" counts 2 'soon: .*rank 1 left before allreduce'

check "info" sh -c '"$1" info >"$2"' - "$muster" "$out"
if matches 'process_vm_readv .*GB/s'; then
  check "kernel copies" run 0 -n 3 --kernel-copies-from 1 "$program" forbidden
  check "kernel copies: one that is refused is staged" counts 3 '^rank [012] has received all'
fi

check "ranks, nodes" run 0 -n 5 --nodes 2 --bind none "$program" where
check "uneven nodes" counts 3 'node 0 '
check "not bound: any core" counts 5 'core any'
check "bound" run 0 -n 3 --bind core "$program" where
check "bound: one processor each" counts 3 'processors 1 core known'
check "tagged output" run 0 -n 2 --tag-output "$program" where
check "tagged output: each line" counts 1 '^\[1\] rank 1 '

echo input | run 0 -n 3 "$program" reads
check "rank 0 alone reads standard input" counts 1 'rank 0 read input'
check "rank 0 alone reads standard input (others)" counts 1 'read'

check "no such program" run 1 -n 2 ./no-such-program
check "no such program: says which" matches "cannot run './no-such-program': No such file"
check "no program" run 105 -n 2
check "no program: says so" matches 'no program given'
# What muster itself takes is little: limits that it can start with.
limited() { # LIMIT STATUS ARGS…
  local limit=$1 wanted=$2
  shift 2
  timeout 30 bash -c "$limit; exec \"\$@\"" - "$muster" run "$@" >"$out" 2>&1
  [ $? = "$wanted" ]
}
if [ -z "${ASAN_OPTIONS-}${TSAN_OPTIONS-}" ]; then # which take more address space than that
  check "no room for the job's memory" limited 'ulimit -v 1000000' 1 -n 2 true
  check "no room for the job's memory: says so" matches 'cannot map [0-9]+ bytes of shared memory: Cannot allocate memory'
fi
check "no doorbells" limited 'ulimit -n 20' 1 -n 40 true
check "no doorbells: says so" matches 'cannot make an eventfd'
check "no number of ranks" run 106 "$program" where
check "ranks out of range" run 105 -n 0 "$program" where
check "more nodes than ranks" run 105 -n 2 --nodes 3 "$program" where
check "more nodes than ranks: says so" matches 'expected at most the number of ranks, 2'
check "a program's own options are its own" run 0 -n 1 sh -c 'exit 0' --nodes
check "not a Muster program" run 3 -n 1 sh -c 'exit 3'

check "grace: ranks go on after one has failed" run 3 -n 2 --grace 25 \
  sh -c 'mkdir "$0" 2>/dev/null && exit 3; sleep 3; echo went on' "$folder/failed"
check "grace: for as long as is said" counts 1 'went on'

"$muster" run -n 2 "$program" signal >"$out" 2>&1 &
launcher=$!
check "signals: ranks are ready" eventually counts 2 ready
kill -USR1 "$launcher"
wait "$launcher"
check "signals go on to all ranks" counts 2 'signal 10'

"$muster" run -n 2 "$program" sleeps >"$out" 2>&1 &
launcher=$!
check "termination: ranks run" eventually running
kill -TERM "$launcher"
wait "$launcher"
check "termination: the status says so" [ $? = 143 ]
check "termination: no rank is left" gone

"$muster" run -n 2 "$program" sleeps >"$out" 2>&1 &
launcher=$!
check "a killed launcher: ranks run" eventually running
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null
check "a killed launcher takes its ranks along" eventually gone

check "orphans do not hold up the job" run 0 -n 2 "$program" orphans
check "orphans are ended with it" gone

for way in 'forks' 'forks beside a thread'; do
  check "a rank that $way: the job ends well" run 0 -n 3 "$program" "$way"
  check "a rank that $way: all go on" counts 3 '^rank [012] went on to 243$'
  check "a rank that $way: nothing else happens" counts 3 '.'
done

for bad in 'nonsense' '0' '0,99,98,97' '0,4294967299,1,2'; do
  MUSTER_JOB=$bad "$program" where >"$out" 2>&1
  check "a job that cannot be joined ($bad): an error" matches 'MUSTER_JOB: .*expected what `muster run` sets'
done

check "nothing is left in /dev/shm" [ "$(ls /dev/shm 2>/dev/null)" = "$shm_before" ]

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
