#!/usr/bin/env bash
# The backend of torch.distributed, beside Gloo.
#
# usage: torch_test.sh MUSTER
source tests/support/cases.sh
muster=$PWD/$1 program=$PWD/tests/tools/python/torch_program.py
unset MUSTER_JOB
export PYTHONPATH=$PWD/tools/python PYTHONDONTWRITEBYTECODE=1

# right N: every rank says so.
right() { [ "$(grep -o "all right" "$out" | wc -l)" = "$1" ]; }
# meets: a folder in which the ranks of one job do.
meets() { rm -rf "$folder/store" && mkdir "$folder/store"; }
runs() { meets && timeout 100 "$muster" run -n "$@" /usr/bin/python3 "$program" "$folder/store" all >"$out" 2>&1; }
# by_store N: processes that nobody has started as ranks.
by_store() {
  meets
  local rank started=()
  for ((rank = 0; rank < $1; ++rank)); do
    RANK=$rank WORLD_SIZE=$1 timeout 100 /usr/bin/python3 "$program" "$folder/store" all >"$out.$rank" 2>&1 &
    started+=($!)
  done
  local failed=0
  for each in "${started[@]}"; do wait "$each" || failed=1; done
  cat "$out".* >"$out"
  return $failed
}

for n in 1 2 3; do
  check "$n ranks" eval 'runs $n && right $n'
done
check "4 ranks on 2 nodes" eval 'runs 4 --nodes 2 && right 4'
check "3 ranks that meet by the group's store" eval 'by_store 3 && right 3'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
