#!/usr/bin/env bash
# Who drives a program's operations, as MUSTER_PROGRESS says it.
source tests/support/cases.sh
muster=$1
threads=$2
readarray -t cores < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
  while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)

# run RANKS [NAME=VALUE]: what the ranks say.
run() {
  env "${@:2}" timeout 60 "$muster" run -n "$1" "$threads" >"$out" 2>&1
}

check "without it callers drive" run 2
check "and nothing goes on by itself, one of them" says "goes on in calls"
check "a thread of each process" run 2 MUSTER_PROGRESS=thread
check "drives all" eval '[ "$(grep -c "goes on by itself" "$out")" = 2 ]'
check "caller" run 2 MUSTER_PROGRESS=caller
check "is what there is by itself" says "goes on in calls"
check "a thread on a processor" run 1 MUSTER_PROGRESS="thread:core=${cores[-1]}"
check "runs there" grep -qE "rank 0:.* ${cores[-1]}( .*)?;" "$out"
check "on those of the memory's" run 1 MUSTER_PROGRESS=thread:numa
check "goes on by itself" says "goes on by itself"
check "on a core to spare" run 1 MUSTER_PROGRESS=thread:spare
if ((${#cores[@]} > 1)); then
  check "that is none of the rank's" eval '! grep -qE "rank 0:( [^ ]+)* ${cores[0]} ${cores[0]};" "$out"'
fi
check "where there is none" run "${#cores[@]}" MUSTER_PROGRESS=thread:spare
check "a thread drives all the same" eval '[ "$(grep -c "goes on by itself" "$out")" = "${#cores[@]}" ]'
check "but with auto" run "${#cores[@]}" MUSTER_PROGRESS=auto
check "it is the callers" says "goes on in calls"
check "what it cannot be" eval '! run 1 MUSTER_PROGRESS=sometimes'
check "is named, and what it can" says "MUSTER_PROGRESS: 'sometimes'"
check "a processor that there is not" eval '! run 1 MUSTER_PROGRESS=thread:core=9999'
check "is named, too" says "thread:core=9999"
check "muster info says what would be used" env MUSTER_PROGRESS=thread:spare "$muster" info --progress
MUSTER_PROGRESS=thread:spare "$muster" info --progress >"$out" 2>&1
check "and where" says "a thread of each process, on a core that no rank is bound to"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
