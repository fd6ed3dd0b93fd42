#!/usr/bin/env bash
# What `muster bench` counts below the libraries where they talk by RDMA.
#
# usage: posted_test.sh RDMA_GUEST HOSTS MUSTER POSTED
guest_options=(--memory 3072 --timeout 280)
bench_limit=150
source tests/rdma/guest.sh
counting=$PWD/tools/command/bench/libverbs_count.so
posted=$PWD/$4
set -- "$3"
source tests/tools/command/bench/bench_cases.sh

check "Muster counts alike" eval 'timeout 100 "$muster" run -n 2 --hosts-made 2 --fabric verbs \
  env LD_PRELOAD="$counting" "$posted" >"$out" 2>&1'

check "all libraries" bench 0 alltoall -n 2 --sizes 8,64K --hosts-made 2 --fabric verbs --vs openmpi,mpich
check "are right" holds "one['verified'] and one['median_us'] > 0"
check "what each posts is told" fills 6
check "of 8 B it is one send, and what was left of a barrier" holds "one['bytes'] > 8 or 1 <= one['sends'] < 3"
check "whose bytes are few" holds "one['bytes'] > 8 or 8 <= one['sent_bytes'] < 400"
check "of 64 KiB all goes" holds "one['bytes'] == 8 or 1 <= one['sent_bytes'] / 65536 < 1.2"
check "with no more doorbells than sends" holds "1 <= one['doorbells'] <= one['sends']"
check "by queue pairs" holds "one['queue_pairs'] >= 1"
check "the table has it" says "posted by a host in a call, and its queue pairs"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
