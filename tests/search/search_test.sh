#!/usr/bin/env bash
# The search, for a moment and always from the same seed; that it finds bugs which are planted in the
# simulator, each within a minute; and that it says so when it is misused.
set -u
search=$1
passed=0 failed=0

# check WHAT STATUS COMMAND...
check() {
  local what=$1 expected=$2 status=0
  shift 2
  "$@" || status=$?
  if ((status == expected)); then
    ((++passed))
  else
    ((++failed))
    echo "FAILED with status $status, expected $expected: $what"
  fi
}

check "twenty seconds of random cases" 0 "$search" --for 20s --seed 1
check "one case" 0 "$search" --replay 12345
# hunt PLANTED OPTION...
hunt() {
  local planted=$1
  shift
  check "$planted" 1 "$search" --for 60s --seed 1 --planted "$planted" "$@" >"$TEST_TMPDIR/found"
  if ((failed != 0)); then head -n 20 "$TEST_TMPDIR/found"; fi
  grep -E '^rank|deadlock|random cases' "$TEST_TMPDIR/found" | cut -c 1-200 | sed "s/^/$planted: /"
}
for planted in told-by-finder left-unheard flags-overtake survivors-break lost-while-cut-off; do
  hunt "$planted"
done
# The others tell most of those who do not learn of it.
hunt lost-on-one-side --only "a host is cut off"
check "a trouble that there is not" 105 "$search" --only nonsense
check "a bug that cannot be planted" 105 "$search" --planted nonsense
for wrong in 20x m 1h2 ''; do
  check "a wrong time" 105 "$search" --for "$wrong"
done

echo "cases: $passed passed, $failed failed"
((failed == 0))
