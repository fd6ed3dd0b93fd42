#!/usr/bin/env bash
# `muster bench --hosts-made` and `muster tune --hosts-made` as their user sees them: tiny runs, as root.
source tests/tools/command/bench/bench_cases.sh

check "all libraries on two hosts" bench 0 alltoall -n 2,3 --sizes 8 --hosts-made 2
check "each at every point" fills 10
check "Open MPI also with HAN" counts 2 "one['library'] == 'openmpi_han' and one['version'].startswith('Open MPI ')"
check "and Gloo" counts 2 "one['library'] == 'gloo' and one['version'].startswith('Gloo ')"
check "with right results" holds "one['verified'] and one['median_us'] > 0"
check "on hosts" holds "one['hosts'] == 2 and one['nodes'] == 1"
check "they are compared" counts 2 "one.get('ratio', 0) > 0"
check "nothing says what no machine allows" holds "'limit_us' not in one or one['limit_us'] is None"
check "the table says where" says "alltoall, 2 ranks on 2 made hosts, bytes a block"
check "what Gloo has" bench 0 barrier bcast reduce allreduce scatter gather allgather scan -n 3 --sizes 8,32K \
  --hosts-made 2 --vs gloo
check "is right" holds "one['verified'] and one['median_us'] > 0"
check "what it has not is left out" counts 13 "one['library'] == 'gloo' and one['collective'] != 'scan'"
check "and measured of Muster alone" counts 2 "one['collective'] == 'scan'"
check "its reductions of other types" bench 0 reduce allreduce -n 2 --sizes 64 --hosts-made 2 --vs gloo --type char
check "are right" holds "one['verified']"
check "on one machine" bench 1 barrier -n 2 --vs gloo
check "it is refused" says "--vs: gloo is measured between hosts alone; expected --hosts-made 2 or more"
check "and so is HAN" bench 1 barrier -n 2 --vs openmpi,openmpi_han
check "by name" says "--vs: openmpi_han is measured between hosts alone"
check "more hosts than ranks" bench 1 barrier -n 2 --hosts-made 3
check "are refused" says "--hosts-made: 3 hosts for 2 ranks; expected at most one for each (--ranks)"
check "with nodes" bench 1 barrier -n 4 --hosts-made 2 --nodes 2
check "hosts do not go" says "--hosts-made: does not go with --nodes"

check "Muster in an MPI over hosts" bench 0 alltoall -n 4 --sizes 8 --hosts-made 2 --shim openmpi
check "beside that MPI, also with HAN" fills 3
check "is right" holds "one['verified'] and one['hosts'] == 2"
check "and says who called" counts 1 "one['version'].startswith('Muster in Open MPI ')"

check "a table for hosts" eval 'timeout 60 "$muster" tune barrier --hosts-made --nodes 2 --ppn 1 --rounds 1 \
  --quiet --table "$folder/table.json" >"$out" 2>&1'
check "is a table" grep -q '"rules"' "$folder/table.json"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
