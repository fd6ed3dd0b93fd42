#!/usr/bin/env bash
# The catalog as its user sees it: what it costs, a table of what is fastest, the papers' claims.
source tests/support/cases.sh
muster=$1
example=$2

# does STATUS ARGS…: runs `muster ARGS`; true if it exits with STATUS.
does() {
  local wanted=$1
  shift
  timeout 100 "$muster" "$@" >"$out" 2>"$folder/err"
  local status=$?
  cat "$folder/err" >>"$out"
  [ $status = "$wanted" ]
}

info=(info --algorithms --collective alltoall --machine hdr100 --nodes 3 --ppn 2)
check "algorithms are listed with their costs" does 0 "${info[@]}" --size 512
check "of the collective asked for" eval '! grep -q "^allgather" "$out"'
check "with formula and figures" says "(n-1)p^2 messages of m bytes, as many connections: 8 messages, 4 KiB, 8 connections"
check "and what does not suit" grep -qE "flat +does not suit" "$out"
check "those of neighbours are listed, too" does 0 info --algorithms --collective neighbor_alltoall
check "with what they are" says "MPI-4.0 8.6; needs any ranks, any sizes"
check "a machine that there is not" does 1 info --algorithms --machine none
check "is named" says "none"

tune=(tune allgather --machine connectx_ddr --nodes 1,2 --ppn 2 --sizes 8,4K --calls 1)
check "a table is made" does 0 "${tune[@]}" --table "$folder/table.json" --plot "$folder/table.svg"
check "in JSON" python3 -c "import json, sys; json.load(open(sys.argv[1]))['rules'][0]['algorithm']" "$folder/table.json"
check "and drawn" grep -qF "2+ x 2+ ranks" "$folder/table.svg"
check "programs select by it" env MUSTER_TABLE="$folder/table.json" "$muster" run -n 4 --nodes 2 "$example"
check "a table that cannot be read" eval '! MUSTER_TABLE=/nowhere.json "$example" >"$out" 2>&1'
check "is named" says "/nowhere.json: cannot be read"
check "real ranks are measured" does 0 tune alltoall --nodes 2 --ppn 2 --sizes 8 --rounds 1 --table "$folder/here.json"
check "each beside what would be selected" says "gain"
check "and their table is read" env MUSTER_TABLE="$folder/here.json" "$muster" run -n 4 --nodes 2 "$example"
check "none is needed" env MUSTER_TABLE=none "$muster" run -n 4 --nodes 2 "$example"
check "lengths that only some know" does 1 tune gatherv --machine hdr100
check "cannot be selected by" says "gatherv: only some ranks know the lengths"
check "a collective that there is not" does 105 tune sum --machine hdr100
check "is refused" says "sum"

check "the papers' claims are held against models" does 0 sim --reproduce "$folder/claims" --only barrier-srm
check "one by one" says "barrier of 256 ranks takes less time than message passing"
check "and drawn" test -s "$folder/claims/barrier-srm.svg"
check "from JSON" test -s "$folder/claims/barrier-srm.json"
check "an experiment that there is not" does 1 sim --reproduce "$folder/claims" --only cosmology
check "is refused with those there are" says "alltoall-mif32"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
