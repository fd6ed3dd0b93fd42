#!/usr/bin/env bash
# Rails that are lost and come back, or do not, and what is missing from the start: what ranks see of it.
#
# usage: outages_test.sh RDMA_GUEST HOSTS MUSTER RANK_PROGRAM
guest_options=(--timeout 400)
source tests/rdma/guest.sh
hosts=$PWD/$2 muster=$PWD/$3 program=$PWD/$4
source tests/rdma/jobs.sh
# The sockets go by no rail.
export MUSTER_INTERFACES=lo

losses_of() { grep -c "muster: rank $1 lost a queue pair" "$out"; }
both_rails_lost() { matches 'lost a queue pair: rxep?0' && matches 'lost a queue pair: rxep?1'; }
nothing_wrong() { says "rank 0: 0 wrong" && says "rank 1: 0 wrong"; }
# How often a device gave up on rail 1.
gave_up() { echo $(($(given_up_by rxe1) + $(given_up_by rxep1))); }
given_up_by() { echo "$(</sys/class/infiniband/"$1"/ports/1/hw_counters/retry_exceeded_err)"; }
gave_up_more() { (($(gave_up) - given_up >= $1)); }
netem_all() { "$rails" --netem 0 "$@" && "$rails" --netem 1 "$@"; }
enough=$folder/enough
# while_exchanging COMMAND: two ranks exchange as long as that takes; it ends well, as they do.
while_exchanging() {
  local disturbing
  rm -f "$enough"
  { "$@" || echo "the disturbance failed" >>"$folder/disturbance"; touch "$enough"; } &
  disturbing=$!
  ends 0 h0:1,h1:1 "$program" exchanges "$enough"
  local status=$?
  touch "$enough"
  wait "$disturbing"
  [ "$status" = 0 ] && [ ! -e "$folder/disturbance" ] && nothing_wrong
}

lose_for_long() {
  await_traffic 1 || return 1
  given_up=$(gave_up)
  "$rails" --netem 1 loss 100% && await gave_up_more 6 && "$rails" --netem 1 && await_traffic 1
}
check "a rail loses all for long" while_exchanging lose_for_long
check "attempt after attempt has failed" eval '(($(told lost) >= 3))'
check "a rank tells it once" eval '(($(losses_of 0) <= 1 && $(losses_of 1) <= 1))'

# Whoever notices first tells it; the other may hear of it before it notices.
losses() { echo $(($(losses_of 0) + $(losses_of 1))); }
lost_more_than() { (($(losses) > $1)); }
cut_thrice() {
  local times before
  for times in 1 2 3; do
    await_traffic 1 || return 1
    before=$(losses)
    "$rails" --cut 1 && await lost_more_than "$before" && "$rails" --mend 1 || return 1
  done
  await_traffic 1
}
check "a rail that is back is used again, and again" while_exchanging cut_thrice
check "a rank has told that more than once" eval '(($(losses_of 0) > 1 || $(losses_of 1) > 1))'

lose_both() {
  await_traffic 0 && netem_all loss 100% && await both_rails_lost && sleep 1 && "$rails" --netem 0 &&
    await_traffic 0 && "$rails" --netem 1 && await_traffic 1
}
MUSTER_TIMEOUT=60 check "all rails are lost, and one is back in time" while_exchanging lose_both
check "both had been lost" both_rails_lost
cut_both() {
  await_traffic 0 && "$rails" --cut 0 && "$rails" --cut 1 && await both_rails_lost && sleep 1 && "$rails" --mend 0 &&
    await_traffic 0 && "$rails" --mend 1 && await_traffic 1
}
MUSTER_TIMEOUT=60 check "all ports are down, and one is back in time" while_exchanging cut_both
check "both had been down" both_rails_lost
rm -f "$enough"
(await_traffic 0 && "$rails" --cut 0 && "$rails" --cut 1) &
MUSTER_TIMEOUT=3 check "all ports stay down" ends 134 h0:1,h1:1 "$program" exchanges "$enough"
wait
check "says of which ports and why" says "no queue pair to it works: rxe"
"$rails" --mend 0
"$rails" --mend 1

(await_traffic 0 && netem_all loss 100% && tc qdisc replace dev lo root netem loss 100%) &
MUSTER_TIMEOUT=3 check "all rails and all sockets are lost" ends 134 h0:1,h1:1 "$program" exchanges "$enough"
wait
tc qdisc del dev lo root
netem_all
check "is said as of a host that has no power" says "it did not answer for 3 s"

MUSTER_TIMEOUT=1 check "a rank computes for longer than it may be silent" ends 0 h0:1,h1:1 "$program" computes
check "the others wait" eval 'says "rank 0 went on" && says "rank 1 went on"'

# A connection takes 260 KiB on each of two devices.
check "there is memory for one connection and not for two" eval '! "$rails" --memlock 800 "$hosts" --verbs 2 "$muster" run -n 3 \
  --hosts h0:1,h1:2 --remote-shell "$hosts --rsh" "$program" exchanges >"$out" 2>&1'
check "says what to set" eval 'says "bytes of memory cannot be registered" && says "ulimit -l unlimited"'

# Each host has its own devices or settings: what is to be run before a program.
on() { # FIRST SECOND
  printf '#!/bin/sh\nif [ "$(hostname)" = h0 ]; then %s; else %s; fi\nexec "$@"\n' "$1" "$2" >"$folder/on"
  chmod +x "$folder/on"
}
on 'export MUSTER_VERBS_DEVICES=rxe0' 'export MUSTER_VERBS_DEVICES=rxep1'
MUSTER_TIMEOUT=3 check "ports are named that do not reach each other" \
  ends 134 h0:1,h1:1 "$folder/on" "$program" exchanges
check "is said of them" says "no queue pair to it works: rxe"
on : 'export MUSTER_FABRIC=tcp'
check "one host has no RDMA, and all are to use it" ends 134 h0:1,h1:2 "$folder/on" "$program" where
not_reached() { [ "$(grep -o "rank 0 does not reach rank 1 by RDMA" "$out" | wc -l)" = 3 ]; }
check "all ranks say which do not reach each other" not_reached
on 'export MUSTER_FABRIC=auto' 'export MUSTER_FABRIC=tcp'
check "or use it where they can" ends 0 h0:1,h1:2 "$folder/on" "$program" computes
check "and say once that they cannot" [ "$(grep -c "ranks 0 and 1 talk by TCP, not by RDMA: rank 1 has none" "$out")" = 1 ]
check "they have no queue pairs" eval '! says "queue pairs"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
