#!/usr/bin/env bash
# Ranks on several hosts, which tools/hosts makes of this machine, and the ways to start them: by
# `muster run`, by hand, as torchrun does.
#
# usage: hosts_test.sh MUSTER HOSTS RANK_PROGRAM SWEEP_PROGRAM
source tests/support/cases.sh
muster=$PWD/$1 hosts=$PWD/$2 program=$PWD/$3 sweep=$PWD/$4
unset MUSTER_JOB

# ends STATUS COMMAND…
ends() {
  local expected=$1 status=0
  shift
  [ "$(type -t "$1")" = function ] || set -- timeout 100 "$@"
  "$@" >"$out" 2>&1 || status=$?
  [ "$status" = "$expected" ] || { echo "status $status" >>"$out" && return 1; }
}
run=("$muster" run)

# ---- by muster run

check "each rank on its host" eval 'ends 0 "${run[@]}" --hosts-made 3 -n 5 --tag-output hostname &&
  says "[0] h0" && says "[1] h1" && says "[2] h1" && says "[3] h2" && says "[4] h2"'
for shape in 2/2 2/4 3/7 4/4; do
  check "the sweep on ${shape%/*} hosts, ${shape#*/} ranks" \
    ends 0 "${run[@]}" --hosts-made "${shape%/*}" -n "${shape#*/}" "$sweep"
done
for shape in 2/4 3/7; do
  check "the sweep by epoll on ${shape%/*} hosts, ${shape#*/} ranks" \
    eval 'MUSTER_REACTOR=epoll ends 0 "${run[@]}" --hosts-made "${shape%/*}" -n "${shape#*/}" "$sweep"'
done
check "info says by what it is" eval 'MUSTER_REACTOR=epoll ends 0 "$muster" info && says "learnt by epoll (MUSTER_REACTOR)"'
check "a reactor that there is not" eval 'MUSTER_REACTOR=kqueue ends 134 "${run[@]}" --hosts-made 2 -n 2 "$program" where &&
  says "MUSTER_REACTOR is '"'kqueue'"'; expected io_uring or epoll"'
# Two launchers on one machine: each has made memory for its own ranks.
printf '#!/bin/sh\nshift\nexec "$@"\n' >"$folder/here"
chmod +x "$folder/here"
for shape in 2/2 3/7; do
  check "the sweep without copies on ${shape%/*} hosts, ${shape#*/} ranks" \
    eval 'MUSTER_ZERO_COPY=4096 ends 0 "${run[@]}" --hosts-made "${shape%/*}" -n "${shape#*/}" "$sweep"'
done
check "a size that is no number" eval 'MUSTER_ZERO_COPY=much ends 134 "${run[@]}" --hosts-made 2 -n 2 "$program" where &&
  says "MUSTER_ZERO_COPY is '"'much'"'; expected a number of bytes"'
check "the sweep on one machine under two names" \
  ends 0 "${run[@]}" -n 4 --hosts a:2,b:2 --bind none --remote-shell "$folder/here" "$sweep"
check "the first failure's status" ends 3 "${run[@]}" --hosts-made 2 -n 2 sh -c \
  '[ "$(hostname)" = h0 ] || exit 3; sleep 60'
check "what is passed on" eval 'WORD=said ends 0 "${run[@]}" --hosts-made 2 -n 2 -x WORD sh -c "echo \$(hostname) \$WORD" &&
  says "h1 said"'
check "no key on a command line" eval 'ends 0 "${run[@]}" --hosts-made 2 -n 2 sh -c \
  "tr \"\\0\" \" \" </proc/\$PPID/cmdline; env" && ! grep -qE "[0-9a-f]{64}|\"key\"" "$out"'
check "by what hosts talk" ends 0 "${run[@]}" --hosts-made 2 -n 2 --fabric tcp true
check "what they cannot talk by" eval 'ends 105 "${run[@]}" --hosts-made 2 -n 2 --fabric smoke true && says "tcp"'
check "hosts that are none" eval 'ends 105 "${run[@]}" -n 2 --fabric tcp true && says "expected --hosts or --hosts-made"'
check "a host without room" eval 'ends 1 "${run[@]}" -n 3 --hosts a:1,b:1 true && says "has room for 2 ranks"'
# The remote shell is a host's, whose launcher gets the order of another version.
cat >"$folder/older" <<'TEXT'
#!/bin/sh
shift
{ read -r order && printf '%s\n' "$order" | sed 's/"version":"[^"]*"/"version":"0.0.7"/'; } | "$@"
TEXT
chmod +x "$folder/older"
check "a host with another version" eval 'ends 1 "${run[@]}" -n 1 --hosts a:1 --remote-shell "$folder/older" true &&
  says "this host has Muster $("$muster" --version | grep -oE "[0-9.]+" | head -1), the one that started the job 0.0.7"'
check "a shell that is not there" eval 'ends 1 "${run[@]}" -n 1 --hosts a:1 --remote-shell no-such-shell true &&
  says "no-such-shell"'
check "a host that cannot be reached" ends 1 "${run[@]}" -n 1 --hosts a:1 --remote-shell false true

# lines_read COUNT: by rank 0, and by nobody else.
lines_read() { [ "$(grep -c '^rank 0 read line' "$out")" = "$1" ] && [ "$(grep -c read "$out")" = "$1" ]; }
seq -f 'line %g' 100000 >"$folder/lines"
check "rank 0 alone reads the input" eval 'ends 0 "${run[@]}" --hosts-made 2 -n 4 "$program" reads <"$folder/lines" &&
  lines_read 100000 && says "rank 0 read line 100000"'
check "as it does on one machine" eval 'ends 0 "${run[@]}" -n 4 "$program" reads <"$folder/lines" && lines_read 100000'
check "it comes when it is there" eval '{ sleep 0.2; echo line one; sleep 0.2; echo line two; } |
  ends 0 "${run[@]}" --hosts-made 2 -n 2 "$program" reads && lines_read 2'
mkfifo "$folder/never"
exec 9<>"$folder/never"
check "an input that never ends keeps nobody" ends 0 "${run[@]}" --hosts-made 2 -n 2 "$sweep" <&9
check "nor one that nobody reads" ends 0 "${run[@]}" --hosts-made 2 -n 2 "$sweep" </dev/zero
check "no input" eval 'ends 0 "${run[@]}" --hosts-made 2 -n 2 "$program" reads </dev/null && lines_read 0'

# Of two ranks elsewhere: a window of 8 KiB, four of it each.
check "memory for links counts all ranks of the job" eval 'MUSTER_LINK_MEMORY=131072 ends 0 "${run[@]}" --hosts-made 2 -n 4 \
  "$program" links && says "rank 0 takes 65536 bytes" && says "rank 3 takes 65536 bytes"'
check "and the sweep goes on with little" eval 'MUSTER_LINK_MEMORY=1 ends 0 "${run[@]}" --hosts-made 2 -n 4 "$sweep"'
check "descriptors run out" eval 'ends 134 "${run[@]}" --hosts-made 2 -n 2 sh -c \
  "ulimit -n 32; exec \"\$0\" \"short of descriptors\"" "$program" && says "Too many open files: 32 are allowed (ulimit -n)" &&
  says "expected at least"'

# ---- clocks

# Host h1 was started 5,000 seconds earlier, by its clock.
cat >"$folder/rsh" <<TEXT
#!/bin/sh
host=\$1
shift
[ "\$host" != h1 ] || set -- unshare --time --monotonic 5000 --fork --kill-child "\$@"
exec "$hosts" --shell "\$host" "\$@"
TEXT
chmod +x "$folder/rsh"
# related CONDITION: true of the clocks of both ranks' records, (offset, error), and of the figures, `it`.
related() {
  python3 -c "
import json, sys
one, other = ([int(word) for word in line.split()[1:]] for rank in (0, 1)
              for line in open(f'{sys.argv[1]}/rank-{rank}') if line.startswith('clock '))
it = json.load(open(sys.argv[2]))
sys.exit(0 if $1 else f'{one} {other} {it}')" "$folder/arrivals" "$folder/arrivals.json" >"$out" 2>&1
}
check "hosts with clocks of their own" eval 'ends 0 "$hosts" 2 "${run[@]}" -n 2 --hosts h0:1,h1:1 --bind none \
  --remote-shell "$folder/rsh" --record-arrivals "$folder/arrivals" "$program" computes &&
  "$muster" arrivals "$folder/arrivals" --json "$folder/arrivals.json" >"$out" &&
  says "times of different hosts are right to each other within"'
check "are related" related 'abs(one[0] - other[0] - 5000e9) <= one[1] + other[1] == it["clock_error_ns"]'
# Who is late comes 3 seconds after the other one; nobody 5,000.
check "before arrivals are compared" related 'all(0 <= ns < 100e9 for call in it["delays"] for ns in call)'

# ---- silence

export MUSTER_TIMEOUT=1
check "a rank that is stopped" eval 'ends 4 "${run[@]}" --hosts-made 2 -n 2 "$program" stops &&
  says "rank 0 soon" && says "rank 1 died in or before" && says "10.77.0.2" && says "did not answer for 1 s"'
check "a host that is cut off" eval 'ends 4 "${run[@]}" --hosts-made 3 -n 3 "$program" "cut off" &&
  says "rank 0 soon" && says "rank 2 soon" && says "did not answer for 1 s"'
check "a rank that computes is no silent one" eval 'ends 0 "${run[@]}" --hosts-made 2 -n 2 "$program" computes &&
  says "rank 0 went on" && says "rank 1 went on"'
check "who waits uses no processor" eval 'ends 0 "${run[@]}" --hosts-made 2 -n 2 "$program" idles &&
  says "rank 1 idle"'
check "a silence that is no number" eval 'MUSTER_TIMEOUT=soon ends 134 "${run[@]}" --hosts-made 2 -n 2 "$program" where &&
  says "MUSTER_TIMEOUT is '"'soon'"'; expected seconds"'
unset MUSTER_TIMEOUT

# ---- by hand

printf 'a secret of this test, long enough' >"$folder/key"
chmod 600 "$folder/key"

# by_hand SIZE ASSIGNMENT…: a process for each rank on two hosts, with these variables.
by_hand() {
  local size=$1
  shift
  timeout 100 "$hosts" 2 bash -c '
    hosts=$1 size=$2 program=$3
    shift 3
    for ((rank = 0; rank < size; ++rank)); do
      "$hosts" --shell "h$((rank % 2))" env "${@//RANK_IS/$rank}" "$program" &
    done
    status=0
    for job in $(jobs -p); do wait "$job" || status=$?; done
    exit "$status"' - "$hosts" "$size" "$sweep" "$@"
}
check "by a rendezvous" ends 0 by_hand 3 MUSTER_RENDEZVOUS=10.77.0.1:20000 MUSTER_RANK=RANK_IS MUSTER_SIZE=3 \
  MUSTER_KEY_FILE="$folder/key"
check "as torchrun does" ends 0 by_hand 2 MASTER_ADDR=10.77.0.1 MASTER_PORT=20000 RANK=RANK_IS WORLD_SIZE=2 \
  MUSTER_KEY_FILE="$folder/key"
check "by chosen ports and interfaces" ends 0 by_hand 2 MUSTER_RENDEZVOUS=10.77.0.1:20000 MUSTER_RANK=RANK_IS \
  MUSTER_SIZE=2 MUSTER_KEY_FILE="$folder/key" MUSTER_PORTS=21000-21009 MUSTER_INTERFACES=eth0
check "without a key nobody joins" eval '! ends 0 by_hand 2 MUSTER_RENDEZVOUS=10.77.0.1:20000 MUSTER_RANK=RANK_IS \
  MUSTER_SIZE=2 && says "MUSTER_KEY_FILE is not set"'
chmod 644 "$folder/key"
check "a key that others can read is none" eval '! ends 0 by_hand 2 MUSTER_RENDEZVOUS=10.77.0.1:20000 \
  MUSTER_RANK=RANK_IS MUSTER_SIZE=2 MUSTER_KEY_FILE="$folder/key" && says "which others can read"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
