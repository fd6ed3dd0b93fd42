#!/usr/bin/env bash
# The soak, for a moment; that a rank's end is told with all that is needed to see it again; and
# that it says so when it is misused.
source tests/support/cases.sh
soak=$1
unset MUSTER_JOB

runs() { timeout 100 "$soak" "$@" >"$out" 2>&1; }
runs --for 3s --seed 1
check "some seconds of random jobs" test $? = 0
check "it says what it did" says "found nothing wrong"

# Every child is a rank of some job; one may have ended before it is killed, and be still listed.
"$soak" --for 60s --seed 2 >"$out" 2>&1 &
running=$!
while kill -0 $running 2>/dev/null; do
  kill -9 "$(pgrep -P $running | head -n 1)" 2>/dev/null
  sleep 0.5
done
wait $running
check "a killed rank is an error" test $? = 1
check "which names the job" says "WRONG in job "
check "and how to replay it" says "tools/test --soak-replay "

runs --faults --for 5s --seed 1
check "some seconds of random jobs whose ranks are lost" test $? = 0
check "it says how many" eval 'grep -Eq "[1-9][0-9]* ranks lost, [1-9][0-9]* times gone on, told within .*: found nothing wrong" "$out"'

# The ranks are known by the scores that this run keeps; a launcher has the same words behind others.
"$soak" --faults --for 60s --seed 2 >"$out" 2>&1 &
running=$!
while kill -0 $running 2>/dev/null; do
  pkill -9 -o -f -- "^[^ ]* --faults --rank-of [0-9]* --scores /proc/$running/" 2>/dev/null
  sleep 0.2
done
wait $running
check "a rank that is lost, and should not be, is an error" test $? = 1
check "which names the rank" says "did not end well"
check "and how to replay it" eval 'says "tools/test --soak-replay " && says " --faults"'

runs --for 20x
check "a wrong time is refused" test $? = 105

echo "cases: $passed passed, $failed failed"
((failed == 0))
