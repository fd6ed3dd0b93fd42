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

# ---- ends, of which sockets alone tell

export MUSTER_TIMEOUT=0
check "a rank that is killed" eval '! ends 0 "${run[@]}" --hosts-made 3 -n 3 "$program" "killed far away" &&
  matches "rank 0 soon: .*rank 1 died.*its connection ended" && matches "rank 2 soon: .*rank 1 died"'
check "a connection that is reset" eval 'ends 4 "${run[@]}" --hosts-made 2 -n 2 "$program" reset &&
  matches "rank 0 soon: .*rank 1 died.*10.77.0.2:.*its connection ended" &&
  matches "rank 1 soon: .*rank 0 died.*10.77.0.1:.*its connection ended"'
check "a connection that is reset, by epoll" eval 'MUSTER_REACTOR=epoll ends 4 "${run[@]}" --hosts-made 2 -n 2 "$program" reset &&
  matches "rank 0 soon: .*its connection ended" && matches "rank 1 soon: .*its connection ended"'
check "a peer that has forgotten the connection, and is sent something" eval \
  'ends 137 "${run[@]}" --hosts-made 2 -n 2 --grace 40 "$program" "forgotten by who sends" &&
  matches "rank 0: a rank died: .*its connection ended"'
check "teams that do not wait for the dead one are whole" eval \
  'ends 137 "${run[@]}" --hosts-made 3 -n 3 --grace 40 "$program" "leaves other teams whole" && ! says "lost more" &&
  [ $(grep -c "^rank [02]: a rank died: .*rank 1" "$out") = 4 ] &&
  says "rank 0 went on with 2" && says "rank 2 went on with 2"'
unset MUSTER_TIMEOUT

# ---- the launcher ends

# Like ssh it ends alone when it is told to: its command has to notice.
cat >"$folder/ssh" <<TEXT
#!/bin/sh
"$hosts" --shell "\$@"
exit \$?
TEXT
chmod +x "$folder/ssh"
running() { [ "$(pgrep -cx -- "$(basename "$program")")" = "$1" ]; }
eventually() {
  for _ in $(seq 200); do
    "$@" && return
    sleep 0.1
  done
  return 1
}
killed_launcher() {
  "$hosts" 2 "${run[@]}" -n 4 --hosts h0:2,h1:2 --grace 1 --remote-shell "$folder/ssh" "$program" sleeps >"$out" 2>&1 &
  local launcher=$!
  eventually running 4 && kill -KILL "$launcher" || return
  wait "$launcher" 2>/dev/null
  eventually running 0
}
check "a killed launcher takes the ranks of all hosts along" killed_launcher

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
# Who waits asks whether it is there. That may be refused first.
check "a peer that has forgotten the connection, and is only waited for" eval \
  'ends 137 "${run[@]}" --hosts-made 2 -n 2 --grace 40 "$program" "forgotten by who waits" &&
  matches "rank 0: a rank died: .*(did not answer for 1 s|its connection ended)"'
check "a host that vanishes before it was talked with" eval 'ends 4 "${run[@]}" --hosts-made 2 -n 2 "$program" nowhere &&
  matches "rank 0: a rank died: .*10.77.0.2:.*there is no way to it"'
check "a rank that computes is no silent one" eval 'ends 0 "${run[@]}" --hosts-made 2 -n 2 "$program" computes &&
  says "rank 0 went on" && says "rank 1 went on"'
check "who waits uses no processor" eval 'ends 0 "${run[@]}" --hosts-made 2 -n 2 "$program" idles &&
  says "rank 1 idle"'
check "a silence that is no number" eval 'MUSTER_TIMEOUT=soon ends 1 "${run[@]}" --hosts-made 2 -n 2 "$program" where &&
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

# What one rank alone is or has: SCRIPT, in which it is the first word and its program comes after.
met() { # RANKS SCRIPT PROGRAM…
  local ranks=$1 script=$2
  shift 2
  by_hand "$ranks" MUSTER_RENDEZVOUS=10.77.0.1:20000 MUSTER_RANK=RANK_IS MUSTER_SIZE="$ranks" \
    MUSTER_KEY_FILE="$folder/key" bash -c "$script"'; shift; exec "$@"' - RANK_IS "$@"
}
times() { [ "$(grep -cE -- "$2" "$out")" = "$1" ]; }
# A sanitizer takes more address space than there is then.
[ -n "${ASAN_OPTIONS-}${TSAN_OPTIONS-}" ] || check "ranks that cannot share their machine's memory" eval \
  '! ends 0 met 4 "[ \$1 != 3 ] || ulimit -v 1000000" &&
  times 4 "^on the machine of rank 1: bootstrap a job: rank 1: .*shared memory: Cannot allocate memory: cannot join the job\$"'
for wrong in MUSTER_PORTS=none MUSTER_CONNECTIONS=many MUSTER_INTERFACES=nowhere0; do
  check "${wrong%=*} is wrong on one rank" eval '! ends 0 met 3 "[ \$1 != 1 ] || export $wrong" &&
    times 1 "${wrong%=*}( is|:) .*invalid argument" && times 2 "rank 1 went away: cannot join the job"'
done
for wrong in MUSTER_TIMEOUT=soon MUSTER_REACTOR=kqueue MUSTER_ZERO_COPY=much; do
  check "${wrong%=*} is wrong on one rank" eval '! ends 0 met 3 "[ \$1 != 1 ] || export $wrong" &&
    times 1 "${wrong%=*} is" && times 2 "rank 1 (left|died)"'
done
# Of rank 1 and 3, on one host, one ends; the others go on to their end.
check "a rank ends that was started by hand" eval '! ends 0 met 4 : "$program" exits &&
  times 3 "^rank [023] .*rank 1 .*(ended without leaving the job|its connection ended)" &&
  matches "^rank 3 .*rank 1 \(process [0-9]+\) ended without leaving the job"'
check "and one of torchrun" eval '! ends 0 by_hand 4 MASTER_ADDR=10.77.0.1 MASTER_PORT=20000 RANK=RANK_IS WORLD_SIZE=4 \
  MUSTER_KEY_FILE="$folder/key" "$program" killed &&
  times 3 "^rank [023] .*rank 1 .*(ended without leaving the job|its connection ended)"'

# ---- one machine

# full_shm COMMAND…: with a /dev/shm that has not a page left.
full_shm() {
  unshare --mount --propagation private sh -c 'mount -t tmpfs -o size=64k none /dev/shm &&
    ! head -c 1M /dev/zero 2>/dev/null >/dev/shm/filler && [ $(stat -f -c %f /dev/shm) = 0 ] && exec "$@"' - "$@"
}
check "a full /dev/shm" ends 0 full_shm "${run[@]}" -n 3 "$sweep"

chmod 644 "$folder/key"
check "a key that others can read is none" eval '! ends 0 by_hand 2 MUSTER_RENDEZVOUS=10.77.0.1:20000 \
  MUSTER_RANK=RANK_IS MUSTER_SIZE=2 MUSTER_KEY_FILE="$folder/key" && says "which others can read"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
