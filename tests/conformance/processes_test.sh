#!/usr/bin/env bash
# The reduced sweep in real processes, on one node and on several made-up ones.
set -u
muster=$1 program=$2 limit=60
passed=0 failed=0
unset MUSTER_JOB

# check RANKS NODES
check() {
  local status=0
  timeout "$limit" "$muster" run -n "$1" --nodes "$2" "$program" || status=$?
  if ((status == 0)); then
    ((++passed))
  else
    ((++failed))
    echo "FAILED with status $status: $1 ranks on $2 nodes"
  fi
}

timeout "$limit" "$program" && ((++passed)) || ((++failed)) # started by nobody: a team of one
for ranks in ${RANKS:-1 2 3 4 5 8 9 17}; do check "$ranks" 1; done
for shape in ${SHAPES:-2/2 3/2 4/2 7/3 8/8 9/4}; do check "${shape%/*}" "${shape#*/}"; done

echo "cases: $passed passed, $failed failed"
((failed == 0))
