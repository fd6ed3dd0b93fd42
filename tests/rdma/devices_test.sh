#!/usr/bin/env bash
# Two nodes with RDMA devices on two rails: what goes between them travels on their rails, and these can
# be cut and lose packets.
#
# usage: devices_test.sh RDMA_GUEST HOSTS
guest_options=(--timeout 150)
source tests/rdma/guest.sh
hosts=$PWD/$2

patience=20 # seconds
# between SERVER CLIENT PROGRAM…: the program on a device of each node.
between() {
  local server=$1 client=$2 serving
  shift 2
  timeout $patience "$@" -d "$server" >"$folder/server" 2>&1 &
  serving=$!
  await_listener 18515
  timeout $patience "$@" -d "$client" 127.0.0.1 >"$out" 2>&1 && wait "$serving"
}
# travels RAIL COMMAND…: it ends well, and what it sends goes by that rail alone.
travels() {
  local rail=$1 mine others
  mine=$(sent_on "$rail") others=$(sent_on $((1 - rail)))
  shift
  "$@" && (($(sent_on "$rail") - mine >= 100 && $(sent_on $((1 - rail))) - others < 10))
}
fails() { ! "$@"; }
state_is() { # STATE DEVICE…
  local device
  for device in "${@:2}"; do
    [[ $(</sys/class/infiniband/"$device"/ports/1/state) == *"$1" ]] || return 1
  done
}
has_gid() { # DEVICE INDEX GID
  [[ $(</sys/class/infiniband/"$1"/ports/1/gids/"$2") == "$3" ]]
}
pingpong=(ibv_rc_pingpong -s 65536 -n 20 -m 4096)

ibv_devinfo >"$out" 2>&1
check "four devices" [ "$(grep -c hca_id: "$out")" = 4 ]
check "they are active" [ "$(grep -c PORT_ACTIVE "$out")" = 4 ]
check "the longest packets have 4096 bytes" [ "$(grep -c 'active_mtu:.*4096' "$out")" = 4 ]
check "a GID is the IPv4 address" has_gid rxep1 1 0000:0000:0000:0000:0000:ffff:0a0a:0102
check "a GID is the IPv6 address" has_gid rxep1 2 fd10:0001:0000:0000:0000:0000:0000:0002

check "rail 0, by IPv4" travels 0 between rxe0 rxep0 "${pingpong[@]}" -g 1
check "rail 1, by IPv6" travels 1 between rxep1 rxe1 "${pingpong[@]}" -g 2
check "writes" travels 0 between rxep0 rxe0 ib_write_bw -x 1 -s 65536 -n 20
check "are sent by RDMA" eval '(($(sent_by rxe0) >= 300))'
check "atomic operations" travels 1 between rxe1 rxep1 ib_atomic_lat -x 1 -n 60

as_nobody=("$rails" --user nobody --memlock 64)
check "a program without rights" travels 0 between rxe0 rxep0 "${as_nobody[@]}" ibv_rc_pingpong -g 1 -n 60 -s 9000
"${as_nobody[@]}" ibv_rc_pingpong -s 1000000 >"$out" 2>&1
check "that may lock little memory, and is told so" says "Couldn't register MR"
"$rails" --memlock 64 ibv_rc_pingpong -s 1000000 >"$out" 2>&1
check "as is root" says "Couldn't register MR"

"$rails" --netem 0 loss 10% delay 1ms
# This program's ends part only when both know that all has arrived: they say so by TCP.
check "a rail that loses packets" travels 0 between rxe0 rxep0 ib_write_bw -x 1 -s 65536 -n 20
tc -s qdisc show dev w0 >"$out"
check "has lost some" eval '[[ $(<"$out") =~ dropped\ ([0-9]+) ]] && ((BASH_REMATCH[1] > 0))'
"$rails" --netem 0 loss 100%
patience=3
check "a rail that loses all" fails between rxe0 rxep0 "${pingpong[@]}" -g 1
patience=20
check "looks sound" state_is ACTIVE rxe0 rxep0
"$rails" --netem 0
check "and is again" travels 0 between rxe0 rxep0 "${pingpong[@]}" -g 1

"$rails" --cut 1
check "a rail that is cut" state_is DOWN rxe1 rxep1
check "is not the other" state_is ACTIVE rxe0 rxep0
"$rails" --mend 1
sleep 0.2
check "it is mended" state_is ACTIVE rxe1 rxep1
check "for IPv4" travels 1 between rxe1 rxep1 "${pingpong[@]}" -g 1
check "for IPv6" travels 1 between rxe1 rxep1 "${pingpong[@]}" -g 2

"$hosts" --verbs 2 "$hosts" --rsh -x h1 'echo $(hostname) $MUSTER_VERBS_DEVICES' >"$out" 2>&1
check "a made host has a node's devices" says "h1 rxep0,rxep1"
MUSTER_FABRIC=verbs "$hosts" --rails 1 2 "$hosts" --shell h0 env >"$out" 2>&1
check "or one of a rail" says "MUSTER_VERBS_DEVICES=rxe0"
"$hosts" --verbs 3 true >"$out" 2>&1
check "there are two" says "no RDMA devices for h2"

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
