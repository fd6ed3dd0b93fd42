#!/usr/bin/env bash
# `muster bench --hosts-made` and `muster tune --hosts-made` as their user sees them: tiny runs, as root.
source tests/tools/command/bench/bench_cases.sh

check "all libraries on two hosts" bench 0 alltoall -n 2,3 --sizes 8 --hosts-made 2
check "each at every point" fills 6
check "with right results" holds "one['verified'] and one['median_us'] > 0"
check "on hosts" holds "one['hosts'] == 2 and one['nodes'] == 1"
check "they are compared" counts 2 "one.get('ratio', 0) > 0"
check "nothing says what no machine allows" holds "'limit_us' not in one or one['limit_us'] is None"
check "the table says where" says "alltoall, 2 ranks on 2 made hosts, bytes a block"
check "more hosts than ranks" bench 1 barrier -n 2 --hosts-made 3
check "are refused" says "--hosts-made: 3 hosts for 2 ranks; expected at most one for each (--ranks)"
check "with nodes" bench 1 barrier -n 4 --hosts-made 2 --nodes 2
check "hosts do not go" says "--hosts-made: goes with neither --nodes nor --shim"

check "a table for hosts" eval 'timeout 60 "$muster" tune barrier --hosts-made --nodes 2 --ppn 1 --rounds 1 \
  --quiet --table "$folder/table.json" >"$out" 2>&1'
check "is a table" grep -q '"rules"' "$folder/table.json"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
