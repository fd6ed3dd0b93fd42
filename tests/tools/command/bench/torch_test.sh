#!/usr/bin/env bash
# `muster bench --torch` as its user sees it: tiny runs.
source tests/tools/command/bench/bench_cases.sh

check "the usual collectives" bench 0 -n 2 --torch --type float --sizes 8,4K
check "have right results" holds "one['verified'] and one['median_us'] > 0 and one['torch']"
check "of both backends, at every point" fills 30
check "the table says so" says "allreduce, 2 ranks, float, in torch"
check "and the plot" draws "in torch</title>"
check "it says what is measured" holds "' in torch ' in one['version']"

check "one rank, integers" bench 0 allreduce reduce -n 1,3 --torch --type int --sizes 4K
check "has right results" holds "one['verified'] and one['type'] == 'int'"
check "late ranks" bench 0 allreduce bcast -n 2 --torch --sizes 8 --arrivals random:mif=8
check "have right results" holds "one['verified'] and one['arrivals']"
check "made-up nodes" bench 0 allgather -n 4 --nodes 2 --torch --sizes 8
check "have right results" holds "one['verified']"
check "a collective that torch lacks" bench 1 scan -n 2 --torch --sizes 8
check "is said" says "scan: not measured of torch"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
