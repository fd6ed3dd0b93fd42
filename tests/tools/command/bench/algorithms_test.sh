#!/usr/bin/env bash
# `muster bench --algorithms --nodes` as its user sees it: tiny runs.
source tests/tools/command/bench/bench_cases.sh

run=(alltoall -n 2 --sizes 8 --vs none)
check "algorithms are measured beside each other" bench 0 "${run[@]}" --nodes 2 --algorithms pairwise,auto
check "each at every point" fills 2
check "with right results" holds "one['verified'] and one['median_us'] > 0"
check "on made-up nodes" holds "one['nodes'] == 2"
check "one ran as asked" counts 1 "one['asked'] == 'pairwise' and one['algorithm'] == 'pairwise'"
check "the other is compared with it" counts 1 "one['asked'] == 'auto' and one['to_first'] > 0"
check "the table says where" says "alltoall, 2 ranks, Muster's on 2 nodes, bytes a block"
check "and what was chosen" says "auto: "
check "the means are there" says "the first algorithm's time over the others', geometric means"
check "the plot says where" draws "Muster on 2 nodes</title>"
check "and names the algorithms" draws ">Muster pairwise"

check "late ranks, too" bench 0 "${run[@]}" --nodes 2 --algorithms pairwise,auto --arrivals random:mif=4
check "with right results" holds "one['verified'] and one['arrivals'] == 'random:mif=4'"

check "beside a peer" bench 0 alltoall -n 2 --sizes 8 --vs openmpi --nodes 2 --algorithms auto,pairwise
check "which has one node" counts 1 "one['library'] == 'openmpi' and one['nodes'] == 1 and 'asked' not in one"
check "and is compared with both" counts 2 "one.get('ratio', 0) > 0"

# A flat algorithm needs one node.
check "one that does not suit" bench 0 "${run[@]}" --nodes 2 --algorithms flat,pairwise
check "has no figures" counts 1 "not one['suits'] and one['median_us'] is None and 'failure' not in one"
check "which the table says" says "does not suit"
check "one of another collective" bench 0 barrier alltoall -n 2 --sizes 8 --vs none --algorithms pairwise
check "is left out where there is none" fills 1

check "an unknown algorithm" bench 1 "${run[@]}" --algorithms srm
check "is answered with those there are" says "'srm' is not an algorithm of alltoall; there are: alone, flat, "
check "more nodes than ranks" bench 1 "${run[@]}" --nodes 3
check "are refused" says "--nodes: 3 nodes for 2 ranks; expected at most one for each (--ranks)"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
