#!/usr/bin/env bash
# Jobs of processes that Boost.Asio drives.
#
# usage: processes_test.sh MUSTER PROGRAM GUIDE_SAMPLE
source tests/support/cases.sh
muster=$PWD/$1 program=$PWD/$2 sample=$PWD/$3
unset MUSTER_JOB

runs() { timeout 60 "$muster" run -n "$1" "$program" "$2" >"$out" 2>&1; }
rested() { # at most 100 ms of a second
  awk '/computed/ { ranks++; if ($4 > 100) busy = 1 } END { exit !ranks || busy }' "$out"
}

check "a process alone" eval '"$program" example >"$out" && says "rank 0: 1 0 1.5"'
check "two ranks" eval 'runs 2 example && says "rank 1: 2 1 3.0"'
check "five ranks" eval 'runs 5 example && says "rank 3: 5 10 7.5"'
check "the guide's sample" eval 'timeout 60 "$muster" run -n 3 "$sample" >"$out" && says "3 6 4.5"'
check "who waits for a late rank sleeps" eval 'runs 3 idle && rested'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
