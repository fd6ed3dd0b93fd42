#!/usr/bin/env bash
# Queue pairs and posted sends of a node: those of the papers' tables (OHIO, table I; Qian, table 5.1),
# counted on two nodes of two ranks with one rail.
#
# usage: costs_test.sh RDMA_GUEST HOSTS MUSTER COSTS_PROGRAM
guest_options=(--rails 1 --timeout 200)
source tests/rdma/guest.sh
hosts=$PWD/$2 muster=$PWD/$3 program=$PWD/$4
source tests/rdma/jobs.sh

# costs COLLECTIVE ALGORITHM QUEUE_PAIRS SENDS: of a node.
costs() {
  ends 0 h0:2,h1:2 "$program" "$1" "$2" && says "$2: $3 queue pairs and $4 sends a node;"
}
check "OHIO, version 1, which sends a part for each rank" costs alltoall ohio_v1 1 2
for version in 2 3; do check "OHIO, version $version" costs alltoall "ohio_v$version" 1 1; done
check "leaders" costs alltoall leader 1 1
check "pairwise" costs alltoall pairwise 4 4
check "one group, one connection" costs allgather one_group_single 1 1
check "one group, several" costs allgather one_group_multi 1 1
check "two groups" costs allgather two_group_multi 2 2
check "a group each" costs allgather all_group_multi 2 2

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
