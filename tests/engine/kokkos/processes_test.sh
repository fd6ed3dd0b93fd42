#!/usr/bin/env bash
# Jobs of processes that use Kokkos.
#
# usage: processes_test.sh MUSTER PROGRAM
source tests/support/cases.sh
muster=$PWD/$1 program=$PWD/$2
unset MUSTER_JOB

runs() { timeout 60 "$muster" run -n "$1" "${@:3}" "$program" "$2" >"$out" 2>&1; }

check "a process alone" eval '"$program" example >"$out" && says "rank 0: 29099 2003"'
check "two ranks" eval 'runs 2 example && says "rank 0: 58200 2004" && says "rank 1: 58200 2004"'
check "five ranks" eval 'runs 5 example && says "rank 3: 145509 2007"'
check "on two made-up nodes" eval 'runs 4 example --nodes 2 && says "rank 2: 116405 2006"'
check "with a thread of the engine's own" eval \
  'MUSTER_PROGRESS=thread runs 2 example && says "rank 1: 58200 2004"'
check "another argument is refused" eval '! "$program" other >"$out" 2>&1 && says "usage"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
