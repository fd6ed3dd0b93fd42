#!/usr/bin/env bash
# Ranks on hosts that have two rails, which tools/hosts makes: both are used, and one is lost in the
# middle of it and comes back.
#
# usage: rails_test.sh MUSTER HOSTS RANK_PROGRAM SWEEP_PROGRAM
source tests/support/cases.sh
muster=$PWD/$1 hosts=$PWD/$2 program=$PWD/$3 sweep=$PWD/$4
unset MUSTER_JOB

# What the hosts' network does meanwhile: `meanwhile COMMAND…`, with a function `disturb`; then what
# each interface has sent.
cat >"$folder/meanwhile" <<'TEXT'
#!/usr/bin/env bash
sent() { # HOST INTERFACE: bytes
  ip -n "$1" -s link show "$2" 2>/dev/null | awk '/TX:/ { getline; print $1 }'
}
goes_on() { # INTERFACE: more goes by it, of the first host
  local before try
  before=$(sent h0 "$1")
  for ((try = 0; try < 100; ++try)); do
    sleep 0.2
    (($(sent h0 "$1") > before + (1 << 20))) && return
  done
  return 1
}
source "$DISTURBANCE"
disturb & disturbance=$!
"$@" & command=$!
wait "$command"
status=$?
kill "$disturbance" 2>/dev/null
for interface in eth0 eth1; do echo "$interface sent $(sent h0 "$interface") bytes"; done
exit "$status"
TEXT
chmod +x "$folder/meanwhile"

# disturbance TEXT: what happens to the network during the next cases.
disturbance() { printf 'disturb() { %s; }\n' "$1" >"$folder/disturbance"; }
# ends STATUS HOSTS:RANKS COMMAND…: on hosts of two rails.
ends() {
  local expected=$1 count=${2%:*} ranks=${2#*:} list='' status=0 host
  shift 2
  for ((host = 0; host < count; ++host)); do
    list+=h$host:$((ranks * (host + 1) / count - ranks * host / count)),
  done
  DISTURBANCE=$folder/disturbance timeout 100 "$hosts" --rails 2 "$count" "$folder/meanwhile" \
    "$muster" run -n "$ranks" --hosts "${list%,}" --remote-shell "$hosts --rsh" "$@" >"$out" 2>&1 || status=$?
  [ "$status" = "$expected" ] || { echo "status $status" >>"$out" && return 1; }
}
# has_sent INTERFACE BYTES: at least so many, by the first host.
has_sent() { (($(awk -v name="$1" '$1 == name { print $3 }' "$out") >= $2)); }

mib=$((1 << 20))

disturbance :
for shape in 2:2 2:4 3:7 4:4; do
  check "the sweep on both rails, $shape" ends 0 "$shape" "$sweep"
  check "goes by both" eval "has_sent eth0 $mib && has_sent eth1 $mib"
done
check "info tells of both" eval 'ends 0 1:1 "$muster" info && says "eth0       10.77.0.1" && says "eth1       10.78.0.1"'
export MUSTER_CONNECTIONS=3
check "the sweep with three connections on each" ends 0 2:4 "$sweep"
export MUSTER_CONNECTIONS=many
check "connections that are no number" eval 'ends 134 2:2 "$program" where &&
  says "MUSTER_CONNECTIONS is '"'many'"'; expected"'
unset MUSTER_CONNECTIONS
export MUSTER_INTERFACES=10.78.0.0/16
check "the sweep on the rail that was chosen" ends 0 2:4 "$sweep"
check "goes by that one" eval "has_sent eth1 $mib && ! has_sent eth0 $mib"
unset MUSTER_INTERFACES

# A second is enough to find that a rail carries nothing any more, and to make it anew.
disturbance 'goes_on eth1; ip -n h0 link set eth1 down; sleep 2; goes_on eth0 && echo the other was used
  ip -n h0 link set eth1 up; goes_on eth1 && echo it was used again; touch "$over"'
export over=$folder/over
check "a rail is lost and comes back" ends 0 2:4 "$program" exchanges "$over"
check "nothing was wrong" eval 'for rank in 0 1 2 3; do says "rank $rank: 0 wrong" || exit; done'
check "the other was used" says "the other was used"
check "it was used again" says "it was used again"
disturbance 'while sleep 0.3; do
  for rail in 1 0; do ip -n h1 link set eth$rail down; sleep 0.7; ip -n h1 link set eth$rail up; sleep 1.5; done
done'
for shape in 2:4 3:7; do
  check "the sweep while rails come and go, $shape" ends 0 "$shape" "$sweep"
done

disturbance :
export MUSTER_TIMEOUT=1
check "a host whose rails are all cut" eval 'ends 4 3:3 "$program" "cut off" &&
  says "rank 0 soon" && says "rank 2 soon" && says "did not answer for 1 s"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
