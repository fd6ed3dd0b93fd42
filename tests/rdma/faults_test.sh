#!/usr/bin/env bash
# What ends a job by RDMA ends it soon, with words that name a rank and why, or at once where it cannot
# begin.
#
# usage: faults_test.sh RDMA_GUEST HOSTS MUSTER RANK_PROGRAM
guest_options=(--timeout 200)
source tests/rdma/guest.sh
hosts=$PWD/$2 muster=$PWD/$3 program=$PWD/$4
source tests/rdma/jobs.sh

check "a rank is killed" ends 137 h0:1,h1:1 "$program" killed
check "the other learns it soon" says "rank 0 soon"
check "a rank exits" ends 7 h0:2,h1:2 "$program" exits
check "all learn it soon" eval 'says "rank 0 soon" && says "rank 2 soon" && says "rank 3 soon"'
check "a rank leaves" ends 0 h0:2,h1:2 "$program" leaves
MUSTER_TIMEOUT=2 check "a rank is stopped" ends 4 h0:1,h1:1 "$program" stops
check "is missed" says "it did not answer for 2 s"
check "ranks that wait use no processor" eval 'ends 0 h0:1,h1:1 "$program" idles && says "rank 1 idle: 0.0"'

# Both rails carry nothing any more, and the sockets by the loopback still do.
(sleep 5 && "$rails" --netem 0 loss 100% && "$rails" --netem 1 loss 100%) &
MUSTER_INTERFACES=lo MUSTER_TIMEOUT=3 check "no rail is left" ends 134 h0:1,h1:1 "$program" exchanges
wait
check "says of which ports and why" eval 'says "no queue pair to it works" && says "transport retry counter exceeded"'
"$rails" --netem 0
"$rails" --netem 1

check "memory cannot be locked" eval '! "$rails" --memlock 64 "$hosts" --verbs 2 "$muster" run -n 2 --hosts h0:1,h1:1 \
  --remote-shell "$hosts --rsh" "$program" where >"$out" 2>&1'
check "says what to set" says "ulimit -l unlimited"
"$rails" --cut 0
check "a port that was named is down" ends 134 h0:1,h1:1 "$program" where
check "says which" says "MUSTER_VERBS_DEVICES: 'rxe0': the port is down"
"$rails" --mend 0
MUSTER_QUEUE_PAIRS=none check "a number that is none" ends 134 h0:1,h1:1 "$program" where
check "says what was expected" says "MUSTER_QUEUE_PAIRS is 'none'; expected a number"
MUSTER_FABRIC=rdma check "a fabric that is none" ends 134 h0:1,h1:1 "$program" where
check "says which there are" says "expected auto, tcp or verbs"

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
