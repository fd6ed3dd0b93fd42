#!/usr/bin/env bash
# `muster bench --loop --type --buffers --excluded` and long sizes as its user sees it: tiny runs.
source tests/tools/command/bench/bench_cases.sh

reductions=(reduce allreduce scan exscan reduce_scatter_block reduce_scatter)
for type in char int float; do
  check "reductions of $type, with every library" bench 0 "${reductions[@]}" -n 2 --sizes 8,4K --type $type
  check "have right results" holds "one['verified'] and one['median_us'] > 0 and one['type'] == '$type'"
  check "at every point" fills 36
done
check "the table says the type" says "scan, 2 ranks, float"

between=(barrier bcast allreduce alltoall -n 2,3 --sizes 8,4K --loop barrier --buffers same)
check "calls between barriers, on the same buffers" bench 0 "${between[@]}"
check "have right results" holds "one['verified'] and one['median_us'] > 0"
check "and are known by it" holds "one['loop'] == 'barrier' and one['buffers'] == 'same'"
check "in the table" says "bcast, 3 ranks, between barriers, same buffers"
check "in the plot" draws "MPICH, between barriers, same buffers</title>"
check "none has a limit" counts 0 "'limit_us' in one"

for mpi in openmpi mpich; do
  check "calls left to $mpi" bench 0 barrier bcast alltoall -n 2 --sizes 8 --shim $mpi --excluded
  check "are measured beside it alone" holds "one['verified'] and one['excluded']"
  check "at every point" fills 6
  check "the table says so" says "bcast, 2 ranks, left to the MPI"
done

check "long blocks" bench 0 alltoall bcast -n 2 --sizes 16M --vs none
check "have right results" holds "one['verified'] and one['median_us'] > 0"
check "and the memory's limit" holds "one['limit_us'] > 200"
check "buffers of 4 GiB" bench 0 alltoall -n 16 --sizes 64M --vs none
check "are not made" fills 0
check "which it says" says "skipped alltoall of 64 MiB, 16 ranks: a library's buffers would take 32 GiB; expected less than 4 GiB"

check "late ranks have a loop of their own" bench 1 -n 2 --loop barrier --arrivals none
check "which it says" says "--loop: barrier does not go with --arrivals"

check "JSON on standard output" eval \
  'timeout 60 "$muster" bench barrier -n 2 --rounds 2 --sample-ms 2 --vs none --json - --plot "$folder/bench.svg" \
     2>"$out" | python3 -c "import json, sys; sys.exit(json.load(sys.stdin)[0][\"collective\"] != \"barrier\")"'
check "and the table beside it" says "barrier, 2 ranks"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
