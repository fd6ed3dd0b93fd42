# For shell tests to source first, with their own arguments, of which the first is tools/rdma-guest: what
# follows runs in an emulated machine with two nodes. "${guest_options[@]}", if set before, is for that.
if [[ ! -e /run/rdma-nodes ]]; then
  exec "$PWD/$1" "${guest_options[@]}" bash "$0" "$@"
fi
source tests/support/cases.sh
rails=$(dirname "$(readlink -f "$1")")/rdma-rails

# What has been sent on a rail by either node: so many packets.
sent_on() { # RAIL
  local near far
  near=$(</sys/class/net/w"$1"/statistics/tx_packets)
  far=$(</sys/class/net/p"$1"/statistics/tx_packets)
  echo $((near + far))
}

# What a device has sent by RDMA: so many packets.
sent_by() { # DEVICE
  echo "$(</sys/class/infiniband/"$1"/ports/1/hw_counters/sent_pkts)"
}

# goes_by LEAST RAIL…: since `mark` each device has sent so many packets at least.
mark() { before=("$(sent_by rxe0)" "$(sent_by rxe1)"); }
goes_by() {
  local rail
  for rail in "${@:2}"; do (($(sent_by "rxe$rail") - before[rail] >= $1)) || return 1; done
}

# Until somebody listens on a port of TCP, for at most ten seconds.
await_listener() { # PORT
  local tries port
  printf -v port %04X "$1"
  for ((tries = 0; tries < 200; ++tries)); do
    [[ $(</proc/net/tcp)$(</proc/net/tcp6) != *:$port\ +([0:])\ 0A* ]] || return 0
    sleep 0.05
  done
  return 1
}
shopt -s extglob
