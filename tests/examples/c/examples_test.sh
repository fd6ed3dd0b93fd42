#!/usr/bin/env bash
# The examples in C.
#
# usage: examples_test.sh MUSTER SUM EVENT_LOOP
source tests/support/cases.sh
muster=$PWD/$1 sum=$PWD/$2 loop=$PWD/$3
unset MUSTER_JOB

runs() { timeout 60 "$muster" run -n "$@" >"$out" 2>&1; }

check "sum, alone" eval '"$sum" >"$out" 2>&1 && says "1 ranks, sum 0"'
check "sum, 4 ranks" eval 'runs 4 "$sum" && says "4 ranks, sum 6"'
check "an event loop, alone" eval '"$loop" >"$out" 2>&1 && says "1 ranks, sum 0, few ticks"'
check "an event loop, 3 ranks" eval 'runs 3 "$loop" && says "3 ranks, sum 3, many ticks"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
