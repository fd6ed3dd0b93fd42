#!/usr/bin/env bash
# Recording a run's arrivals, and `muster arrivals`, as their user sees them.
source tests/support/cases.sh
muster=$1
program=$2
dir=$folder/recorded

# holds CONDITION: true of the JSON, `it`.
holds() {
  python3 -c "
import json, sys
it = json.load(open(sys.argv[1]))
site = {one['call']: one for one in it['sites']}
late = site.get('allreduce(16 x float64, sum)')
sys.exit(0 if $1 else 1)" "$folder/one.json"
}

check "a run is recorded" exits 0 "$muster" run -n 4 --record-arrivals "$dir" "$program"
check "by every rank" [ "$(ls "$dir" | tr '\n' ' ')" = "rank-0 rank-1 rank-2 rank-3 " ]
check "the record is reported" exits 0 "$muster" arrivals "$dir" --json "$folder/one.json" --plot "$folder/one.svg"
check "a line a call site" matches '^allreduce\(16 x float64, sum\): [a-z_]+ +20 +128 B .* rank 3, [0-9]+ %$'
check "those of teams made from others with their ranks" matches '^bcast\(1 x int32, root 0\): .*, ranks 1, 3 +1 +4 B'
check "figures as JSON" holds "it['ranks'] == 4 and it['missing'] == [] and late['calls'] == late['kept'] == 20"
check "the delay is seen" holds "late['worst_case_imbalance_factor']['mean'] * late['message_time_ns'] > 1e6"
check "and who was late" holds "late['last_rank'] == 3 and late['last_share'] > 0.5 and late['waiting_share'] > 0.3"
check "the mean is no more than the most" holds "all(
  one[factor]['mean'] <= one[factor]['most']
  for one in it['sites'] for factor in ('average_case_imbalance_factor', 'worst_case_imbalance_factor'))"
check "the average case is no worse than the worst" holds "all(
  one['average_case_imbalance_factor']['mean'] <= one['worst_case_imbalance_factor']['mean'] for one in it['sites'])"
check "the delays can be replayed" exits 0 "$muster" sim allreduce --machine hdr100 --nodes 1 --ppn 4 --sizes 8 \
  --arrivals "file:$folder/one.json"
check "the picture is an SVG" python3 -c "
import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])" "$folder/one.svg"
check "with the sites" grep -qF "allreduce(16 x float64, sum)" "$folder/one.svg"

check "the environment asks for it, too" exits 0 env MUSTER_ARRIVALS="$dir" "$muster" run -n 2 "$program"
check "an earlier job's records are gone" [ "$(ls "$dir" | tr '\n' ' ')" = "rank-0 rank-1 " ]
check "threads are recorded" exits 0 env MUSTER_ARRIVALS="$dir" "$program" threads
check "all of them" [ "$(ls "$dir" | tr '\n' ' ')" = "rank-0 rank-1 rank-2 " ]
check "and reported" exits 0 "$muster" arrivals "$dir"
check "in the same way" matches '^allreduce\(16 x float64, sum\): [a-z_]+ +20 '
check "a rank alone is recorded" exits 0 env MUSTER_ARRIVALS="$folder/alone" "$program"
check "in a folder made for it" exits 0 "$muster" arrivals "$folder/alone"

check "a rank is killed" exits 137 "$muster" run -n 4 --record-arrivals "$dir" "$program" dies
check "the others have left their records" exits 0 "$muster" arrivals "$dir" --json "$folder/one.json"
check "it is said whose is missing" says "no record of rank 1"
check "figures are of the others" holds "it['missing'] == [1] and late['ranks'] == [0, 2, 3] and late['kept'] == 20"

check "without being asked nothing is recorded" exits 0 "$muster" run -n 2 "$program"
check "nothing at all" [ "$(ls "$folder")" = "$(printf 'alone\none.json\none.svg\nout\nrecorded')" ]

touch "$folder/file"
check "a folder that cannot be made" exits 1 "$muster" run -n 2 --record-arrivals "$folder/file/in" "$program"
check "is said before anything runs" says "cannot write $folder/file/in: Not a directory; expected a folder"
check "to threads, too" exits 1 env MUSTER_ARRIVALS="$folder/file" "$program" threads
check "in the same words" says "expected a folder for records of arrivals (MUSTER_ARRIVALS)"
check "no such record" exits 1 "$muster" arrivals "$folder/nowhere"
check "is said" says "nowhere: No such file or directory"
mkdir "$folder/empty"
check "an empty one" exits 1 "$muster" arrivals "$folder/empty"
check "is, too" says "no rank has left a record; expected what muster run --record-arrivals leaves"
echo nonsense >"$dir/rank-0"
check "a record that is none" exits 1 "$muster" arrivals "$dir"
check "is said with its line" says "rank-0, line 1: expected 'muster arrivals 1'"

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
