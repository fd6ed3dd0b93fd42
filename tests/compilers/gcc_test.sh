#!/usr/bin/env bash
# Every file of the engine and of its fabrics is also free of errors and warnings for g++.
source tests/support/cases.sh

mkdir "$folder/muster"
for each in engine/*/; do ln -s "$PWD/$each" "$folder/muster/$(basename "$each")"; done

# compile SOURCE: what g++ says goes beside the other files' output.
compile() {
  g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I. -I"$folder" \
    -isystem /usr/include/trilinos "$1" \
    >"$folder/${1//\//.}" 2>&1
}
export -f compile
export folder

mapfile -t sources < <(find -L engine transports -name '*.cpp' | sort)
printf '%s\n' "${sources[@]#./}" | xargs -P 2 -I{} bash -c 'compile {}'
for each in "${sources[@]#./}"; do
  out=$folder/${each//\//.}
  check "$each" test ! -s "$out"
done
check "there are sources" test "${#sources[@]}" -gt 50

echo "cases: $passed passed, $failed failed"
((failed == 0))
