#!/usr/bin/env bash
# A rank is killed; those that are left go on by the same devices, as a team of their own or with the rank that
# was started again in its place.
#
# usage: survivors_test.sh RDMA_GUEST HOSTS MUSTER SURVIVORS_PROGRAM REGROWTH_PROGRAM
guest_options=(--timeout 280)
source tests/rdma/guest.sh
hosts=$PWD/$2 muster=$PWD/$3 survivors=$PWD/$4 regrowth=$PWD/$5
source tests/rdma/jobs.sh

# goes_on RANKS HOSTS: the job ends as the killed rank did, and all others have made their sum.
goes_on() {
  local ranks=$1 sum
  sum=$((ranks * (ranks - 1) / 2 - 2))
  ends $((128 + 9)) "$2" --grace 60 "$survivors" &&
    [ "$(grep -c "of $((ranks - 1)): sum $sum, told of a death" "$out")" = $((ranks - 1)) ]
}
check "two ranks of each node, one is killed" goes_on 4 h0:2,h1:2
check "by RDMA" eval '(($(told "at once at most") >= 3))'
check "the node has others" goes_on 4 h0:3,h1:1
check "a rank alone on its node" goes_on 3 h0:2,h1:1
check "uneven nodes" goes_on 5 h0:1,h1:4

# grows RANKS NEW HOSTS WHAT…: all ranks end all rounds, so many of them started again.
grows() {
  local ranks=$1 new=$2 list=$3
  shift 3
  ends 0 "$list" --respawn 3 --grace 60 "$regrowth" "$@" && [ "$(grep -c "12 rounds" "$out")" = "$ranks" ] &&
    [ "$(grep -c ": new, " "$out")" = "$new" ]
}

check "with one started again" grows 4 1 h0:2,h1:2 3@4
check "by RDMA" eval '(($(told "at once at most") >= 4))'
check "rank 0" grows 4 1 h0:2,h1:2 0@4
check "the one rank of a node" grows 3 1 h0:2,h1:1 2@4
check "one after the other" grows 4 2 h0:2,h1:2 1@3 2@7

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
