#!/usr/bin/env bash
# The same with other shapes and settings: uneven nodes, IPv6, fewer queue pairs than ranks need, memory
# that may not be locked, and a rail each.
#
# usage: more_sweeps_test.sh RDMA_GUEST HOSTS MUSTER SWEEP_PROGRAM
guest_options=(--timeout 400)
source tests/rdma/guest.sh
hosts=$PWD/$2 muster=$PWD/$3 sweep=$PWD/$4
source tests/rdma/jobs.sh

check "three ranks" ends 0 h0:2,h1:1 "$sweep"
check "five ranks" ends 0 h0:1,h1:4 "$sweep"
MUSTER_QUEUE_PAIRS=2 check "with two queue pairs each" ends 0 h0:2,h1:2 "$sweep"
check "they took turns" eval '(($(told recycled) > 0)) && (($(told "at once at most") == 8))'

# on WORDS: the devices' ports, with these words behind each.
on() {
  printf '#!/bin/sh\nMUSTER_VERBS_DEVICES=$(echo "$MUSTER_VERBS_DEVICES" | sed "s/,/%s,/; s/$/%s/") exec "$@"\n' "$1" "$1" \
    >"$folder/on" && chmod +x "$folder/on"
}
on :1:gid=2
check "by IPv6" ends 0 h0:1,h1:1 "$folder/on" "$sweep"
on :1:pkey=0xffff
check "in a partition" ends 0 h0:1,h1:1 "$folder/on" "$sweep"

limited=("$rails" --memlock 3072)
check "memory enough for connections alone" eval '"${limited[@]}" "$hosts" --verbs 2 "$muster" run -n 2 \
  --hosts h0:1,h1:1 --remote-shell "$hosts --rsh" "$sweep" >"$out" 2>&1'
check "by RDMA" [ "$(told 'at once at most')" = 4 ]

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
