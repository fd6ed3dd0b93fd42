#!/usr/bin/env bash
# The C interface, in jobs of processes.
#
# usage: c_test.sh MUSTER COLLECTIVES ERRORS REQUESTS REGROWTH
source tests/support/cases.sh
muster=$PWD/$1 collectives=$PWD/$2 errors=$PWD/$3 requests=$PWD/$4 regrowth=$PWD/$5
unset MUSTER_JOB

# runs N ARG…: as N ranks.
runs() { timeout 100 "$muster" run -n "$@" >"$out" 2>&1; }
# right N: every rank says so.
right() { [ "$(grep -c "all right" "$out")" = "$1" ]; }
rested() { # at most 100 ms of a second, and few wake-ups
  awk '/computed/ { ranks++; if ($4 > 100 || $NF == "often") busy = 1 } END { exit !ranks || busy }' "$out"
}

for n in 1 2 3 5; do
  check "collectives, $n ranks" eval 'runs $n "$collectives" && says "$n ranks, all right"'
done
check "collectives, 5 ranks on 2 nodes" eval 'runs 5 --nodes 2 "$collectives" && says "5 ranks, all right"'
check "collectives, nobody's rank" eval '"$collectives" >"$out" 2>&1 && says "1 ranks, all right"'
check "MUSTER_PROGRESS changes nothing" eval 'MUSTER_PROGRESS=thread runs 3 "$collectives" && says "3 ranks, all right"'
for n in 1 2 4; do
  check "errors, $n ranks" eval 'runs $n "$errors" && says "$n ranks, all right"'
  check "requests, $n ranks" eval 'runs $n "$requests" all && right $n'
done
check "requests, 4 ranks on 2 nodes" eval 'runs 4 --nodes 2 "$requests" all && right 4'
check "who waits by poll sleeps" eval 'runs 3 "$requests" idle && right 3 && rested'
check "also on 3 nodes" eval 'runs 3 --nodes 3 "$requests" idle && right 3 && rested'
for n in 2 4; do
  check "one of $n ranks dies" eval '! runs $n "$requests" died && right $((n - 1))'
done
check "one of 3 ranks dies and is started again" eval 'runs 3 --respawn 1 "$regrowth" && right 3'
check "a team is freed with operations pending" eval 'runs 3 "$requests" freed && right 3'
check "a job is left with operations pending" eval 'runs 3 "$requests" left && right 3'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
