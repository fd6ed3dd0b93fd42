#!/usr/bin/env bash
# The example in Python.
#
# usage: examples_test.sh MUSTER EXAMPLE
source tests/support/cases.sh
muster=$PWD/$1 example=$PWD/$2
unset MUSTER_JOB
export PYTHONPATH=$PWD/tools/python PYTHONDONTWRITEBYTECODE=1

check "alone" eval '/usr/bin/python3 "$example" >"$out" 2>&1 && says "1 ranks, total [0.0, 1.0, 2.0, 3.0], of totals [0.0, 1.0, 2.0, 3.0]"'
check "3 ranks" eval 'timeout 60 "$muster" run -n 3 /usr/bin/python3 "$example" >"$out" 2>&1 && says "3 ranks, total [3.0, 6.0, 9.0, 12.0], of totals [9.0, 18.0, 27.0, 36.0]"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
