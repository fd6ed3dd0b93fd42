#!/usr/bin/env bash
# Random calls of import muster and of the backend of torch, for a few seconds each; for longer, or again, by the seed that it prints:
#
#   tools/test -- //tests/tools/python:fuzz_test --test_arg=60 [--test_arg=SEED]
#
# usage: fuzz_test.sh MUSTER [SECONDS [SEED]]
source tests/support/cases.sh
muster=$PWD/$1 given=("${@:2}") here=$PWD/tests/tools/python
unset MUSTER_JOB
export PYTHONPATH=$PWD/tools/python PYTHONDONTWRITEBYTECODE=1

fuzzes() { timeout 140 "$muster" run -n 3 /usr/bin/python3 -X faulthandler -W ignore "$here/$1" "${given[@]:-8}" >"$out" 2>&1; }
for program in fuzz.py torch_fuzz.py; do
  check "random calls, 3 ranks: $program" fuzzes $program
  check "on all ranks" [ "$(grep -o "all right" "$out" | wc -l)" = 3 ]
  grep ^fuzz: "$out"
done

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
