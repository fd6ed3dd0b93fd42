#!/usr/bin/env bash
# Pictures as the user of `muster plot` and of `--plot` sees them, and where they cannot be drawn.
source tests/support/cases.sh
muster=$1

sim=(sim barrier alltoall --machine colony --nodes 2 --ppn 2 --sizes 8,64 --quiet)
check "a command draws" exits 0 "$muster" "${sim[@]}" --json "$folder/one.json" --plot "$folder/drawn.svg"
check "and says where" says "plot: $folder/drawn.svg"
check "its JSON is drawn again" exits 0 "$muster" plot "$folder/one.json"
check "alike" cmp "$folder/drawn.svg" "$folder/one.svg"
check "as an image" exits 0 "$muster" plot "$folder/one.json" -o "$folder/one.png"
check "of that kind" grep -qF PNG "$folder/one.png"
check "as a page" exits 0 "$muster" plot "$folder/one.json" -o "$folder/one.html"
check "of that kind" grep -qF "<!doctype html>" "$folder/one.html"

echo '{"rules": 3' >"$folder/broken.json"
check "what is no JSON" exits 1 "$muster" plot "$folder/broken.json"
check "is named" says "muster plot: $folder/broken.json: "
check "no file" exits 105 "$muster" plot "$folder/nowhere.json"
check "is named, too" says "nowhere.json"

mkdir -p "$folder/without/matplotlib"
echo 'raise ImportError' >"$folder/without/matplotlib/__init__.py"
rm "$folder/one.json"
check "without matplotlib the rest is done" \
  exits 0 env PYTHONPATH="$folder/without" "$muster" "${sim[@]}" --json "$folder/one.json" --plot "$folder/none.svg"
check "JSON is written" test -s "$folder/one.json"
check "it is said what to install" says "muster: no picture without matplotlib; install python3-matplotlib"
check "in one line" [ "$(grep -c "install" "$out")" = 1 ]
check "a picture alone fails" exits 1 env PYTHONPATH="$folder/without" "$muster" plot "$folder/one.json"

cp -L "$muster" "$folder/muster"
check "without the script, too" exits 0 "$folder/muster" "${sim[@]}" --plot "$folder/none.svg"
check "one reads what to install" says "install python3 and python3-matplotlib"
check "nothing is drawn" test ! -e "$folder/none.svg"

echo "cases: $passed passed, $failed failed"
[ $failed = 0 ]
