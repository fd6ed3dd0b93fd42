# For shell tests to source: tiny runs of `muster bench`, and a look at what they write. The test's
# argument is the command. "$bench_limit" is how many seconds each may take: 60.
source tests/support/cases.sh
muster=$1
export MUSTER_BENCH_WORKERS=$PWD/tools/command/bench

# bench STATUS ARGS…: runs `muster bench ARGS`; true if it exits with STATUS.
bench() {
  local wanted=$1
  shift
  rm -f "$folder"/bench.*
  timeout "${bench_limit:-60}" "$muster" bench --rounds 2 --sample-ms 2 --quiet --json "$folder/bench.json" \
    --plot "$folder/bench.svg" "$@" >"$out" 2>&1
  [ $? = "$wanted" ]
}
draws() { grep -qF -- "$1" "$folder/bench.svg"; }
# holds CONDITION: true of each object `one` in the JSON.
holds() {
  python3 -c "
import json, sys
found = json.load(open(sys.argv[1]))
sys.exit(0 if found and all($1 for one in found) else 1)" "$folder/bench.json"
}
# fills COUNT: so many objects in the JSON.
fills() { python3 -c "import json, sys; sys.exit(len(json.load(open('$folder/bench.json'))) != $1)"; }
# counts COUNT CONDITION: true of so many of them.
counts() {
  python3 -c "
import json, sys
sys.exit(sum(bool($2) for one in json.load(open(sys.argv[1]))) != $1)" "$folder/bench.json"
}
