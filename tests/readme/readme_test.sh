#!/usr/bin/env bash
# The README's example, and the program with an algorithm of its own, alone and as several ranks.
set -uo pipefail
muster=$1
example=$2
own_algorithm=$3
changelog=$4

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
expect "1 ranks, right" "$own_algorithm"
expect "5 ranks, right" "$muster" run -n 5 --nodes 2 "$own_algorithm"
expect "Muster $(sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' "$changelog" | head -n 1)" "$muster" --version
echo "cases: $((5 - failed)) passed, $failed failed"
[ "$failed" = 0 ]
