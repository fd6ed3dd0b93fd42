#!/usr/bin/env bash
# Four workers that make each answer together: their answers, what they compute while nothing comes, how
# they leave.
#
# usage: http_server_test.sh MUSTER SERVER CLIENT
#
# SEED and REQUESTS in the environment say what is asked.
source tests/support/cases.sh
muster=$PWD/$1 server=$PWD/$2 client=$PWD/$3
unset MUSTER_JOB
seed=${SEED:-$RANDOM} requests=${REQUESTS:-500} workers=4
said=$folder/said
job=
trap 'if [ -n "$job" ]; then kill -KILL "$job" "${processes[@]}" 2>/dev/null; fi; rm -rf "$folder"' EXIT

# starts: the job, with the workers' ports and processes in rank order.
starts() {
  : >"$said" # what the job before said, now and not when this one has come so far
  "$muster" run -n "$workers" "$server" 0 >"$said" 2>&1 &
  job=$!
  for ((i = 0; i < 200; i++)); do
    [ "$(grep -c listens "$said")" = "$workers" ] && break
    sleep 0.05
  done
  mapfile -t ports < <(sort "$said" | awk '/listens/ { print $NF }')
  mapfile -t processes < <(sort "$said" | awk '/listens/ { print $4 + 0 }')
  [ ${#ports[@]} = "$workers" ]
}
# ended STATUS: the job, within a minute, with this status; what it said is in "$out".
ended() {
  for ((i = 0; i < 600; i++)); do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$job" 2>/dev/null; then return 1; fi
  wait "$job"
  local status=$?
  job=
  cp "$said" "$out"
  [ $status = "$1" ]
}

# ask PORT TARGET: opens a connection, "$to", and sends a request.
ask() {
  exec {to}<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&"$to"
}
answer() { # of the connection $1
  local from=$1
  timeout 60 cat <&"$from"
  exec {from}>&-
}
get() { ask "$1" "$2" && answer "$to"; }
# all TARGET: asks every worker, one after another, and prints the answers.
all() {
  local port
  for port in "${ports[@]}"; do get "$port" "$1"; done >"$out"
  [ "$(grep -c '^HTTP/1.1 200' "$out")" = "$workers" ]
}

computed() { awk '{ print $14 + $15 }' "/proc/$1/stat"; } # in hundredths of a second
slept() { awk '/^voluntary/ { print $2 }' "/proc/$1/status"; }
# rests SECONDS: while they pass, no worker computes for 5 % of them.
rests() {
  local before=() naps=() rank process ticks rested=0
  for process in "${processes[@]}"; do
    before+=("$(computed "$process")")
    naps+=("$(slept "$process")")
  done
  sleep "$1"
  for ((rank = 0; rank < workers; rank++)); do
    process=${processes[rank]}
    ticks=$(($(computed "$process") - before[rank]))
    echo "  worker $rank, in $1 s: $((10 * ticks)) ms computed, $(($(slept "$process") - naps[rank])) times put to sleep"
    if [ $ticks -ge $((5 * $1)) ]; then rested=1; fi
  done >"$out"
  cat "$out"
  return $rested
}
alone() { # in its process: one thread
  local process
  for process in "${processes[@]}"; do echo /proc/"$process"/task/*; done >"$out"
  [ "$(wc -w <"$out")" = "$workers" ]
}

check "four workers listen" starts
"$client" "$seed" "$requests" "${ports[@]}" >"$out" 2>&1
check "each request is answered right" says " s: right"
cat "$out"
check "each worker has one thread" alone
check "what is no request is refused" eval 'get "${ports[1]}" /sum?id=x >"$out" && says "400 Bad Request"'
check "the ticks end" all /idle
check "who has nothing to do rests" rests 2

# An id that the client has not had.
last=$((workers - 1)) waits=()
for ((i = 0; i < last; i++)); do
  ask "${ports[i]}" "/sum?id=$requests&value=$i"
  waits+=("$to")
done
check "who waits for another worker's request rests" rests 1
get "${ports[last]}" "/sum?id=$requests&value=10" >"$out"
for i in "${waits[@]}"; do answer "$i"; done >>"$out"
check "all answer once it has come" [ "$(grep -c '"sum":13' "$out")" = "$workers" ]
check "they leave when they are asked to" eval 'all /quit && ended 0'
sed 's/^/  /' "$out" | grep ticks
check "each has answered all" [ "$(grep -c ": $((requests + 1)) requests" "$out")" = "$workers" ]

check "four more listen" starts
ask "${ports[1]}" "/sum?id=0&value=1" # never comes to the others
sleep 0.3
kill -TERM "$job"
check "a signal has them leave" ended 0
answer "$to" >"$out"
check "who waits then is told" says "503 Service Unavailable"

check "four more listen" starts
"$client" "$seed" 1000000 "${ports[@]}" >"$folder/client" 2>&1 &
sleep 1
kill -TERM "$job"
check "also amid requests" ended 0
sed 's/^/  /' "$out" | grep ticks
wait $!

check "four more listen" starts
ask "${ports[0]}" "/sum?id=0&value=1"
sleep 0.3
kill -KILL "${processes[3]}"
answer "$to" >"$out"
check "who waits for a worker that dies is told" says "503 Service Unavailable"
check "and the job ends" ended 137

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
