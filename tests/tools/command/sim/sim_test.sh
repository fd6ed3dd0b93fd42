#!/usr/bin/env bash
# `muster sim` as its user sees it.
source tests/support/cases.sh
muster=$1

# sim STATUS ARGS…: runs `muster sim ARGS`; true if it exits with STATUS.
sim() {
  local wanted=$1
  shift
  timeout 60 "$muster" sim "$@" >"$out" 2>"$folder/err"
  local status=$?
  cat "$folder/err" >>"$out"
  [ $status = "$wanted" ]
}
# holds CONDITION: true of each object `one` in the JSON.
holds() {
  python3 -c "
import json, sys
found = json.load(open(sys.argv[1]))
sys.exit(0 if found and all($1 for one in found) else 1)" "$folder/one.json"
}
fills() { python3 -c "import json, sys; sys.exit(len(json.load(open('$folder/one.json'))) != $1)"; }

check "machines are listed" sim 0 --list-machines
check "with their descriptions" says "Quadrics"
check "by either name" sim 0 --machine list

run=(--machine connectx_ddr --nodes 3 --ppn 2 --sizes 8,4K --arrivals random:mif=8 --seed 9)
check "all collectives are simulated" sim 0 "${run[@]}" --json "$folder/one.json" --plot "$folder/one.svg"
check "barrier once, the others at each size" fills 15
check "with right results" holds "one['verified'] and one['median_us'] > 0 and one['suits']"
check "on the machine that was asked for" \
  holds "(one['machine'], one['nodes'], one['ranks_a_node'], one['ranks']) == ('connectx_ddr', 3, 2, 6)"
check "with arrivals and seed" holds "one['arrivals'] == 'random:mif=8' and one['seed'] == 9"
check "with counters" holds "one['a_call']['sends'] > 0 and one['events'] > 0 and one['virtual_us'] > 0"
check "and each rank's waiting" holds "len(one['waiting_us']) == 6"
check "progress is told on standard error" grep -qF "alltoall, connectx_ddr" "$folder/err"
check "the plot is titled" grep -qF "connectx_ddr, 3 nodes x 2 ranks, arrivals random:mif=8, seed 9</title>" "$folder/one.svg"
check "another process, the same seed" sim 0 "${run[@]}" --json "$folder/two.json" --plot "$folder/two.svg" --quiet
check "gives the same JSON" cmp "$folder/one.json" "$folder/two.json"
check "and the same plot" cmp "$folder/one.svg" "$folder/two.svg"
check "--quiet is" test ! -s "$folder/err"
check "another seed" sim 0 "${run[@]::${#run[@]}-1}" 10 --json "$folder/two.json"
check "gives other JSON" eval '! cmp -s "$folder/one.json" "$folder/two.json"'

run=(alltoall --machine colony --nodes 2 --ppn 2 --sizes 8 --algorithms pairwise)
check "an operation is traced" sim 0 "${run[@]}" --trace "$folder/one.trace"
check "in JSON" python3 -c "import json, sys; json.load(open(sys.argv[1]))['traceEvents']" "$folder/one.trace"
check "another process" sim 0 "${run[@]}" --trace "$folder/two.trace"
check "traces the same" cmp "$folder/one.trace" "$folder/two.trace"
check "several are not traced" sim 1 "${run[@]}" --algorithms auto --trace "$folder/one.trace"
check "which it says" says "--trace: 2 points; expected one collective"

run=(alltoall --machine hdr100 --nodes 2 --ppn 2)
check "algorithms side by side" sim 0 "${run[@]}" --algorithms pairwise,flat,auto --sizes 8 --json "$folder/one.json"
check "in one table" says "auto: "
check "and one that does not suit" grep -qE "flat +does not suit" "$out"
check "all in the JSON" fills 3
check "without payload" sim 0 "${run[@]}" --no-payload --sizes 8 --json "$folder/one.json"
check "nothing is verified" holds "one['verified'] is None and one['median_us'] > 0"
check "which it says" says "1 of 1 points without payload"

sed 's/"hdr100"/"my own"/' >"$folder/own.json" <<'JSON'
{"name": "hdr100", "description": "Two of two.",
 "cluster": {"nodes": 2, "ranks_a_node": 2, "cores_a_node": 2}}
JSON
check "a machine of one's own" sim 0 barrier --machine "$folder/own.json"
check "has its name and size" says "my own, 2 nodes x 2 ranks"
check "more nodes than it has" sim 0 barrier --machine "$folder/own.json" --nodes 3
check "are noted" says "my own has 2 nodes; 3 of the same kind are simulated"

check "a machine must be given" sim 1 barrier
check "which it says" says "--machine: expected one of colony, "
check "an unknown algorithm" sim 1 alltoall --machine colony --algorithms srm
check "is answered with those of the collective" says "'srm' is not an algorithm of alltoall; there are: alone, flat, flat_long, pairwise"
check "one of another collective" sim 0 barrier alltoall --machine colony --nodes 2 --ppn 2 --sizes 8 --algorithms pairwise
check "is left out where there is none" eval '! says "barrier,"'
check "and runs where there is" says "alltoall, colony"
check "an unknown option" sim 1 alltoall --machine colony --algorithms pairwise:colour=2,shade=3,auto
check "is named with the algorithm" says "'pairwise' for alltoall has no option 'colour=2,shade=3'"
check "too many ranks" sim 1 --machine hdr100 --nodes 60000
check "are refused" says "expected at most 65536 in all"
check "a file that can't be written" sim 1 --machine colony --json /no/such/folder/x.json
check "is found out first" says "--json: cannot write"
echo '{"unit": "ns", "delays": [[0, 5], [5, 0]]}' >"$folder/two_ranks.json"
check "recorded delays are for so many ranks" sim 1 barrier --machine colony --arrivals "file:$folder/two_ranks.json"
check "which it says" says "it has the delays of 2 ranks; expected those of 256 (--nodes, --ppn)"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
