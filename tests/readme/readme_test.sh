#!/usr/bin/env bash
# The README's example, alone and as four ranks.
set -uo pipefail
muster=$1
example=$2

failed=0
expect() {
  local wanted=$1
  shift
  local got
  got=$("$@") && [ "$got" = "$wanted" ] && return
  printf 'expected "%s" from: %s\ngot "%s"\n' "$wanted" "$*" "$got"
  failed=$((failed + 1))
}

expect "1 ranks, sum 0" "$example"
expect "4 ranks, sum 6" "$muster" run -n 4 "$example"
echo "cases: $((2 - failed)) passed, $failed failed"
[ "$failed" = 0 ]
