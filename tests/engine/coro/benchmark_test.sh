#!/usr/bin/env bash
# A benchmark runs and reports all its lines of figures; what they are is for people to judge.
#
#   benchmark_test.sh BENCHMARK LINES
set -u
output=$("$1" 2000) || { echo "cases: 0 passed, 1 failed"; exit 1; }
echo "$output"
if (($(grep -c ' ns ' <<<"$output") == $2)); then
  echo "cases: 1 passed, 0 failed"
else
  echo "cases: 0 passed, 1 failed"
  exit 1
fi
