#!/usr/bin/env bash
# A rank is killed; those that are left go on as a team of their own, on one machine and on made hosts.
#
# usage: survivors_test.sh MUSTER PROGRAM
source tests/support/cases.sh
muster=$PWD/$1 program=$PWD/$2
unset MUSTER_JOB

# goes_on RANKS OPTION…: the job ends as the killed rank did, and all others have made their sum.
goes_on() {
  local ranks=$1 sum
  shift
  sum=$((ranks * (ranks - 1) / 2 - 2))
  timeout 60 "$muster" run -n "$ranks" --grace 20 "$@" "$program" >"$out" 2>&1
  [ $? = $((128 + 9)) ] && [ "$(grep -c "of $((ranks - 1)): sum $sum, told of a death" "$out")" = $((ranks - 1)) ]
}

check "one machine" goes_on 3
check "more ranks than cores" goes_on 9
check "two hosts" goes_on 4 --hosts-made 2
check "a host for each" goes_on 4 --hosts-made 4
check "uneven hosts" goes_on 5 --hosts-made 3

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
