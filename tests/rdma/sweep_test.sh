#!/usr/bin/env bash
# The sweep of all collectives in real processes on two nodes, by RDMA alone: on both rails, while one is
# cut, and while both lose packets.
#
# usage: sweep_test.sh RDMA_GUEST HOSTS MUSTER SWEEP_PROGRAM RANK_PROGRAM
guest_options=(--timeout 280)
source tests/rdma/guest.sh
hosts=$PWD/$2 muster=$PWD/$3 sweep=$PWD/$4 program=$PWD/$5
source tests/rdma/jobs.sh

mark
check "two ranks" ends 0 h0:1,h1:1 "$sweep"
check "by both rails" goes_by 1000 0 1
check "with a queue pair for each" [ "$(told 'at once at most')" = 4 ]
mark
check "four ranks" ends 0 h0:2,h1:2 "$sweep"
check "by both rails" goes_by 1000 0 1
check "without a loss" [ "$(told lost)" = 0 ]

(await_traffic 1 && "$rails" --cut 1 && sleep 3 && "$rails" --mend 1) &
check "a rail is cut, and mended" ends 0 h0:2,h1:2 "$program" exchanges
wait
check "nothing was wrong" eval 'for rank in 0 1 2 3; do says "rank $rank: 0 wrong" || exit; done'
check "queue pairs were lost" [ "$(told 'lost')" != 0 ]
(await_traffic 0 && "$rails" --netem 0 loss 100% && sleep 3 && "$rails" --netem 0) &
check "a rail loses all, unnoticed" ends 0 h0:2,h1:2 "$program" exchanges
wait
check "nothing was wrong" eval 'for rank in 0 1 2 3; do says "rank $rank: 0 wrong" || exit; done'
check "queue pairs were lost" [ "$(told 'lost')" != 0 ]

"$rails" --netem 0 loss 1%
"$rails" --netem 1 loss 1%
check "one packet in a hundred is lost" ends 0 h0:2,h1:2 "$sweep"

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
