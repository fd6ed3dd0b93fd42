#!/usr/bin/env bash
# Algorithms from shared libraries, in the four commands that take them; and libraries that are refused.
source tests/support/cases.sh
muster=$1
here=$2
wrong=$here/refused

# does STATUS ARGS…: runs `muster ARGS`; true if it exits with STATUS.
does() {
  local wanted=$1
  shift
  timeout 200 "$muster" "$@" >"$out" 2>"$folder/err"
  local status=$?
  cat "$folder/err" >>"$out"
  [ $status = "$wanted" ]
}

# holds FILE EXPRESSION: true of the JSON in FILE, as `points`.
holds() { python3 -c "import json, sys; points = json.load(open(sys.argv[1])); assert $2" "$1"; }

# measures COLLECTIVE ID: in bench, sim and tune.
measures() {
  local what=$1 id=$2 more=(--catalog "$here/$2.so" --sizes 8,40K)
  local few=(--vs none --rounds 1 --sample-ms 2 --quiet --plot "$folder/plot.svg" --json "$folder/json")
  check "$id is measured on one node" does 0 bench "$what" -n 3 "${more[@]}" "${few[@]}" --algorithms "$id,auto"
  check "and its results are right" holds "$folder/json" "sum(each['algorithm'] == '$id' and each['verified'] for each in points) == 2"
  check "$id is measured on made-up nodes" does 0 bench "$what" -n 4 --nodes 2 "${more[@]}" "${few[@]}" --algorithms "$id"
  check "$id is simulated" does 0 sim "$what" --machine hdr100 --nodes 3 --ppn 2 "${more[@]}" --quiet --algorithms "$id" --json "$folder/json"
  check "and its results are right" holds "$folder/json" "len(points) == 2 and all(each['verified'] for each in points)"
  check "$id is tried by tune, with real ranks" does 0 tune "$what" --nodes 1 --ppn 3 --rounds 1 "${more[@]}" --quiet --table "$folder/table"
  check "$id is tried by tune, simulated" does 0 tune "$what" --machine hdr100 --nodes 2 --ppn 2 "${more[@]}" --quiet --table "$folder/table"
}

for id in invited chain; do
  check "$id is right" does 0 check --catalog "$here/$id.so"
  check "under virtual time" grep -qE ":$id +under virtual time +[0-9]+ calls on [0-9]+ teams: right" "$out"
  check "with threads" grep -qE ":$id +threads +[0-9]+ calls on [0-9]+ teams: right" "$out"
  check "with processes" grep -qE "7 processes, 3 nodes +right" "$out"
done
measures allgather invited
measures allreduce chain
check "info lists it" does 0 info --algorithms --collective allreduce --catalog "$here/chain.so"
check "with what it is" says "segments go up a chain"

check "wrong results are found" does 1 check --catalog "$wrong/wrong.so"
check "where and in which call" says "allgather:wrong"
check "and how to see them again" says "replay with MUSTER_TEST_SEED="
check "by sim" does 1 sim allgather --machine hdr100 --nodes 2 --ppn 2 --sizes 8 --quiet --catalog "$wrong/wrong.so" --algorithms wrong
check "by bench" does 1 bench allgather -n 2 --sizes 8 --vs none --rounds 1 --quiet --plot "$folder/plot.svg" --catalog "$wrong/wrong.so" --algorithms wrong
check "by tune" does 1 tune allgather --nodes 1 --ppn 2 --sizes 8 --rounds 1 --quiet --catalog "$wrong/wrong.so"
check "which names it" says "wrong: wrong results"

check "an algorithm that is not there" does 1 check --catalog "$here/chain.so" ring
check "is refused with those there are" says "muster check: 'ring' is not an algorithm; there are: allreduce:chain"
check "in bench, too" does 1 bench allgather --catalog "$here/invited.so" --algorithms chain
check "with those of the library" says "invited, auto"

# refused FILE TEXT…: by every command, which says TEXT.
refused() {
  local file=$1 command text
  shift
  for command in "check" "bench allgather" "sim allgather --machine hdr100" "tune allgather" "info --algorithms"; do
    # shellcheck disable=SC2086
    check "${command%% *} refuses $(basename "$file")" does 1 $command --catalog "$file"
    for text in "--catalog: $file: " "$@"; do check "and says why" says "$text"; done
  done
}
version=$("$muster" --version)
check "the version is one" grep -qE '^Muster [0-9]+\.[0-9]+\.[0-9]+$' <<<"$version"
refused /nowhere/mine.so "there is no such file; expected a shared library"
refused tests/support/cases.sh "cannot be loaded" "expected a shared library"
refused "$wrong/nothing.so" "exports no muster_catalog; expected extern \"C\" const muster::catalog* muster_catalog() noexcept"
refused "$wrong/null.so" "muster_catalog gave null; expected a catalog"
refused "$wrong/other_version.so" "was compiled with Muster 0.0.9; expected ${version#Muster }"
refused "$wrong/incomplete.so" "allgather 'incomplete' has a \`formula\` but no \`costs\`"
refused "$wrong/namesake.so" "allgather 'ring' (\"every rank keeps its own block\"" "has the id of an algorithm of Muster's own"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
