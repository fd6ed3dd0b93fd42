#!/usr/bin/env bash
# The guide's programs do what it says.
#
# usage: guide_test.sh MUSTER FOLDER   (FOLDER: the programs')
source tests/support/cases.sh
muster=$1 programs=$2
unset MUSTER_JOB

# run RANKS PROGRAM [OPTION…]: all its requirements hold.
run() { timeout 20 "$muster" run -n "$1" "${@:3}" "$programs/$2" >"$out" 2>&1; }

check "the tutorial's program" run 4 hello/hello
check "says what the tutorial says" eval '[ "$(grep -c "of 4: sum 6$" "$out")" = 4 ]'
check "on two made-up nodes" run 4 hello/hello --nodes 2
check "says the same" eval '[ "$(grep -c "of 4: sum 6$" "$out")" = 4 ]'
check "alone" eval '"$programs/hello/hello" >"$out" 2>&1 && says "rank 0 of 1: sum 0"'
check "fragments" run 4 snippets
check "fragments between nodes" run 4 snippets --nodes 2
check "a thread" run 2 thread
check "a thread, as MUSTER_PROGRESS says" eval 'MUSTER_PROGRESS=thread run 4 snippets'
check "a loop of the program's own" run 3 external
check "ranks that are threads" eval 'timeout 20 "$programs/threads" >"$out" 2>&1'
check "a rank that is started again" run 4 growing --respawn 1
check "Boost.Asio" run 4 asio
check "Kokkos" run 2 kokkos

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
