#!/usr/bin/env bash
# Jobs whose processes are killed at random moments, and started again. MUSTER_TEST_SEED replays which are killed, and
# after how long; what they do at that moment is another thing each time.
#
# usage: regrowth_random_test.sh MUSTER PROGRAM [JOBS]
source tests/support/cases.sh
muster=$PWD/$1 program=$PWD/$2 jobs=${3:-12}
unset MUSTER_JOB
seed=${MUSTER_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "replay with MUSTER_TEST_SEED=$seed"

# job RANKS SEED OPTION…: ends well, with all of its ranks.
job() {
  local ranks=$1 seed=$2
  shift 2
  : >"$folder/processes"
  timeout 100 "$muster" run -n "$ranks" --respawn 1000 "$@" "$program" "$seed" "$folder/processes" >"$out" 2>&1 &&
    [ "$(grep -c "^well" "$out")" = "$ranks" ]
}

for ((i = 0; i < jobs; ++i)); do
  ranks=$((2 + (seed + i) % 5))
  case $((i % 4)) in
    0 | 1) check "$ranks ranks, seed $((seed + i))" job $ranks $((seed + i)) ;;
    2) check "$ranks ranks on hosts, seed $((seed + i))" job $ranks $((seed + i)) --hosts-made 2 ;;
    3) MUSTER_PROGRESS=thread check "$ranks ranks with threads, seed $((seed + i))" job $ranks $((seed + i)) ;;
  esac
done

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
