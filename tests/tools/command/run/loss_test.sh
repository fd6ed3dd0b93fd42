#!/usr/bin/env bash
# Ranks on hosts whose network loses one packet in a hundred: an emulated machine's, since the kernel
# has to be able to lose some.
#
# usage: loss_test.sh MUSTER HOSTS GUEST SWEEP_PROGRAM
source tests/support/cases.sh
muster=$PWD/$1 hosts=$PWD/$2 guest=$PWD/$3 sweep=$PWD/$4
unset MUSTER_JOB

# How many packets the interfaces of the made hosts' bridge have lost, after the command.
cat >"$folder/counting" <<'TEXT'
#!/usr/bin/env bash
"$@"
status=$?
echo "lost $(tc -s qdisc show | awk '/netem/ { netem = 1 } /dropped/ && netem { sub(",", "", $7); lost += $7; netem = 0 }
  END { print lost + 0 }') packets"
exit "$status"
TEXT
chmod +x "$folder/counting"

# ends REACTOR HOSTS RANKS PROGRAM…
ends() {
  local reactor=$1 count=$2 ranks=$3 list='' host
  shift 3
  for ((host = 0; host < count; ++host)); do
    list+=h$host:$((ranks * (host + 1) / count - ranks * host / count)),
  done
  MUSTER_REACTOR=$reactor "$guest" --timeout 150 "$hosts" --loss 1% "$count" "$folder/counting" \
    "$muster" run -n "$ranks" --hosts "${list%,}" --remote-shell "$hosts --rsh" "$@" >"$out" 2>&1
}

for shape in io_uring:2:2 io_uring:2:4 epoll:3:5; do
  IFS=: read -r reactor count ranks <<<"$shape"
  check "the sweep, $ranks ranks on $count hosts, $reactor" ends "$reactor" "$count" "$ranks" "$sweep"
  check "packets were lost" eval '(($(awk "/^lost/ { print \$2 }" "$out") > 0))'
done

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
