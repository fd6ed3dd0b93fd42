#!/usr/bin/env bash
# `muster bench --arrivals` as its user sees it: tiny runs with every library.
source tests/tools/command/bench/bench_cases.sh

run=(bcast alltoall -n 2,3 --sizes 8,4K --arrivals random:mif=8 --seed 9)
check "random arrivals are measured" bench 0 "${run[@]}"
check "of every library at every point" fills 24
check "with right results" holds "one['verified'] and one['median_us'] > 0"
check "pattern and seed are in the JSON" holds "one['arrivals'] == 'random:mif=8' and one['seed'] == 9"
check "a message takes longer than nothing" holds "one['message_time_ns'] > 0"
check "pattern and seed are in the table" says "bcast, 3 ranks, arrivals random:mif=8, seed 9"
check "pattern and seed are in the plot" draws "MPICH, arrivals random:mif=8, seed 9</title>"

run=(barrier allreduce -n 4 --sizes 8 --arrivals late:share=25%,mif=10 --message-time 20000)
check "a share comes late" bench 0 "${run[@]}"
check "with right results" holds "one['verified']"
check "by the message time that was given" holds "one['message_time_ns'] == 20000"
# Three of four ranks wait for the fourth, 200 µs; half of that is what can't be for other reasons.
check "and the others wait for it" holds "one['median_us'] > 75"

echo '{"unit": "ns", "delays": [[0, 300000], [300000, 0]]}' >"$folder/recorded.json"
check "recorded delays are kept" bench 0 alltoall -n 2 --sizes 8 --arrivals "file:$folder/recorded.json"
check "as they were recorded" holds "one['verified'] and one['median_us'] > 75"
check "recorded delays are for so many ranks" bench 1 -n 4 --arrivals "file:$folder/recorded.json"
check "which it says" says "it has the delays of 2 ranks; expected those of 4 (--ranks)"

check "no delays are a pattern, too" bench 0 allgather -n 2 --sizes 8 --vs none --arrivals none
check "with right results" holds "one['verified'] and one['arrivals'] == 'none'"
check "without arrivals nothing of them is said" bench 0 allgather -n 2 --sizes 8 --vs none
check "with right results" holds "one['verified'] and 'arrivals' not in one"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
