#!/usr/bin/env bash
# MPI programs on two nodes with the library preloaded, whose ranks are to talk by RDMA: the MPI itself, by
# TCP, only brings them together.
#
# usage: mpi_test.sh RDMA_GUEST HOSTS LIBRARY COLLECTIVES_PROGRAM REQUESTS_PROGRAM
guest_options=(--memory 4096 --timeout 280)
source tests/rdma/guest.sh
hosts=$PWD/$2 library=$PWD/$3
collectives=$4 requests=$5

# ends STATUS HOSTS PROGRAM [NAME=VALUE…]: as ranks on the hosts, as in h0:2,h1:2.
ends() {
  local expected=$1 list=$2 program=$PWD/$3 status=0 ranks=0 host
  shift 3
  for host in ${list//,/ }; do ((ranks += ${host#*:})); done
  timeout 120 "$hosts" --verbs 2 mpirun.openmpi --allow-run-as-root -n "$ranks" --host "$list" --oversubscribe \
    --bind-to none --mca plm_rsh_agent "$hosts --rsh" --mca pml ob1 --mca btl self,vader,tcp \
    --mca btl_tcp_if_include lo --mca mpi_yield_when_idle 1 -x LD_PRELOAD="$library" -x MUSTER_NET=verbs \
    -x MUSTER_REPORT=1 ${@/#/-x } "$program" >"$out" 2>&1 || status=$?
  [ "$status" = "$expected" ] || { echo "status $status" >>"$out" && return 1; }
}

mark
check "all collectives" ends 0 h0:1,h1:1 "$collectives"
check "by both rails" goes_by 100 0 1
mark
check "nonblocking and persistent ones of four ranks" ends 0 h0:2,h1:2 "$requests"
check "by both rails" goes_by 100 0 1
check "no such device" ends 1 h0:1,h1:1 "$requests" MUSTER_VERBS_DEVICES=absent0
check "what is wrong is said" says absent0

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
