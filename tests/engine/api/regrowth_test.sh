#!/usr/bin/env bash
# Ranks are killed and started again; the others grow with them and go on, on one machine and on made hosts.
#
# usage: regrowth_test.sh MUSTER PROGRAM STEADY PLAIN
source tests/support/cases.sh
muster=$PWD/$1 program=$PWD/$2 steady=$PWD/$3 plain=$PWD/$4
unset MUSTER_JOB

# run STATUS OPTION… -- WHAT…: how the job ends.
run() {
  local status=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  timeout 100 "$muster" run --grace 5 "${options[@]}" "$program" "$@" >"$out" 2>&1
  [ $? = "$status" ]
}
# says COUNT TEXT
says() { [ "$(grep -c "$2" "$out")" = "$1" ]; }

# grows RANKS NEW OPTION… -- WHAT…: all ranks end all rounds, so many of them started again.
grows() {
  local ranks=$1 new=$2
  shift 2
  run 0 -n "$ranks" --respawn "${times:-3}" "$@" && says "$ranks" "12 rounds" && says "$new" ": new, " &&
    says "$((ranks - new))" ": old, 12 rounds, grew [1-9]"
}

check "one machine" grows 3 1 -- 2@4
check "rank 0" grows 3 1 -- 0@4
check "more ranks than cores" grows 9 1 -- 5@3
check "several at once" grows 9 3 -- 1@3 4@3 8@3
check "one after the other" grows 4 2 -- 1@3 2@7
check "all but one" grows 4 3 -- 0@2 1@2 3@2
check "one of two" grows 2 1 -- 1@5
check "again once it is back" grows 4 1 -- 2@3 again-2@6
check "progress by threads" env MUSTER_PROGRESS=thread bash -c "$(declare -f grows run says); muster='$muster' program='$program' out='$out'; grows 4 2 -- 1@3 2@7"
check "two hosts" grows 4 1 --hosts-made 2 -- 3@4
check "rank 0 of hosts" grows 4 2 --hosts-made 2 -- 0@4 3@8
check "a host for each" grows 3 1 --hosts-made 3 -- 1@4
check "uneven hosts" grows 5 2 --hosts-made 3 -- 1@4 2@6

# At one moment after the other, until it is back before its time.
frail() {
  rm -f "$folder/times"
  times=1000 grows 4 1 "$@" -- 1@3 "frail@$folder/times" && [ "$(cat "$folder/times")" -gt 3 ]
}
check "killed on its way back" frail
check "killed on its way back, over hosts" frail --hosts-made 2

# One ends before it has joined: on one machine the others grow, on several they begin anew, too.
stillborn() {
  rm -f "$folder/made"
  run 0 -n 4 --respawn 3 "$@" -- "stillborn@$folder/made" && says 4 "12 rounds"
}
check "ends before it has joined" stillborn
check "ends before it has joined, over hosts" stillborn --hosts-made 2

# Who grows has no descriptors for the rendezvous, or for what comes after that; then it has, and grows again.
poor() {
  local files
  for files in 0 1 2 4 6 9 14; do
    grows 4 1 "$@" -- 1@3 "poor@$files" && { [ $files != 0 ] || [ "$(grep -c "^too few: " "$out")" -ge 3 ]; } || return
  done
}
check "too few descriptors to grow" poor
check "too few descriptors to grow, over hosts" poor --hosts-made 2
# Who was started again has none, and ends of that; the others wait for the next one.
destitute() {
  rm -f "$folder/made"
  grows 4 1 "$@" -- 1@3 "destitute@$folder/made" && says 2 "starting it again" &&
    says 1 "^ended: rendezvous: no socket: Too many open files"
}
check "no descriptors to come back with" destitute
check "no descriptors to come back with, over hosts" destitute --hosts-made 2

# steady RANKS OPTION…: nothing is left of the teams that went, and whoever gave up has come again.
steady() {
  local ranks=$1
  shift
  timeout 100 "$muster" run -n "$ranks" --respawn 1 "$@" "$steady" >"$out" 2>&1 && says "$ranks" ": well"
}
check "many times" steady 4
check "many times, over hosts" steady 4 --hosts-made 2
check "many times, by threads" env MUSTER_PROGRESS=thread bash -c "$(declare -f steady says); muster='$muster' steady='$steady' out='$out'; steady 4"

# Rank 1 has come back, and rank 2 comes no further. A signal to the launcher ends all, and none is started again.
late() {
  MUSTER_TIMEOUT=0 "$muster" run -n 3 --respawn 1 "$program" 1@2 late-2@6 >"$folder/printed" 2>&1 &
  job=$!
  local found=1
  for _ in $(seq 100); do
    sleep 0.1
    timeout 60 "$muster" why "$job" >"$out" 2>&1
    grep -q '^LATE: rank 2 .* has not come to call 1[0-9] of world' "$out" && found=0 && break
  done
  kill -TERM "$job"
  wait "$job"
  [ $found = 0 ] && [ "$(grep -c "starting it again" "$folder/printed")" = 1 ]
}
check "who is late in a job that grew" late

fails_for_good() { run 137 -n 3 --respawn 2 -- 1@2 again-1@4 again-1@6 && says 2 "starting it again" && says 1 "(2 of 2)"; }
check "a rank that fails too often" fails_for_good
not_at_all() { run 137 -n 3 -- 1@2 && says 2 "ended: grow: ranks of this job are not started again"; }
check "not started again" not_at_all
has_left() { run 3 -n 3 --respawn 1 -- 1@2 leaves-2@2 && grep -q "rank 2 has ended, and comes no more" "$out"; }
check "a rank that has ended" has_left
unaware() {
  timeout 60 "$muster" run -n 3 --respawn 1 "$plain" >"$out" 2>&1
  [ $? != 0 ] && says 1 "expected world::rejoin"
}
check "a program that does not rejoin" unaware
made_up() { timeout 60 "$muster" run -n 2 --nodes 2 --respawn 1 true >"$out" 2>&1; [ $? != 0 ] && says 1 "expected without --nodes"; }
check "made-up nodes" made_up

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
