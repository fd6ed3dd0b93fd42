# For tests of jobs on the two nodes, to source after guest.sh: $muster and $program are theirs.

export MUSTER_FABRIC=verbs MUSTER_TRAFFIC=1
unset MUSTER_JOB

# ends STATUS HOSTS COMMAND…: as ranks on the hosts, as in h0:2,h1:2.
ends() {
  local expected=$1 list=$2 status=0 ranks=0 host
  shift 2
  for host in ${list//,/ }; do ((ranks += ${host#*:})); done
  timeout 120 "$hosts" --verbs 2 "$muster" run -n "$ranks" --hosts "$list" --remote-shell "$hosts --rsh" "$@" >"$out" 2>&1 ||
    status=$?
  [ "$status" = "$expected" ] || { echo "status $status" >>"$out" && return 1; }
}

# Of all ranks together, as MUSTER_TRAFFIC has them say it: the number before such words.
told() { # WORDS
  awk -v words="$1" '/^muster: rank/ && match($0, "[0-9]+ " words) { all += substr($0, RSTART) } END { print all + 0 }' "$out"
}

# Until that is so, for at most a minute.
await() { # CONDITION…
  local end=$((SECONDS + 60))
  while ((SECONDS < end)); do
    ! "$@" || return 0
    sleep 0.2
  done
  echo "not so: $*" && return 1
}
# Until a rank talks on a rail: before that it would find the rail's port down.
await_traffic() { # RAIL
  local before=(0 0)
  before[$1]=$(sent_by "rxe$1")
  await goes_by 200 "$1"
}
