#!/usr/bin/env bash
# The examples in Python.
#
# usage: examples_test.sh MUSTER SUM TRAIN
source tests/support/cases.sh
muster=$PWD/$1 example=$PWD/$2 train=$PWD/$3
unset MUSTER_JOB
export PYTHONPATH=$PWD/tools/python PYTHONDONTWRITEBYTECODE=1

check "alone" eval '/usr/bin/python3 "$example" >"$out" 2>&1 && says "1 ranks, total [0.0, 1.0, 2.0, 3.0], of totals [0.0, 1.0, 2.0, 3.0]"'
check "3 ranks" eval 'timeout 60 "$muster" run -n 3 /usr/bin/python3 "$example" >"$out" 2>&1 && says "3 ranks, total [3.0, 6.0, 9.0, 12.0], of totals [9.0, 18.0, 27.0, 36.0]"'
check "torch.distributed, 3 ranks" eval 'timeout 60 "$muster" run -n 3 /usr/bin/python3 "$train" "$folder/store" >"$out" 2>&1 && says "3 ranks, mean [1.0, 1.0, 1.0]"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
