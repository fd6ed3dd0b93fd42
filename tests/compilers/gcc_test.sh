#!/usr/bin/env bash
# Every file of the engine and of its fabrics is also free of errors and warnings for g++.
source tests/support/cases.sh

mkdir "$folder/muster"
for each in engine/*/; do ln -s "$PWD/$each" "$folder/muster/$(basename "$each")"; done

# What they take in of the standard library is read once: tests/layering sees to it that each names it.
find -L engine transports -name '*.[ch]pp' -exec grep -hoE '^#include <[a-z_]+>' {} + | sort -u >"$folder/standard.hpp"
flags=(-std=c++20 -Wall -Wextra -Werror)
check "g++ reads the standard library" g++ "${flags[@]}" -x c++-header "$folder/standard.hpp" -o "$folder/standard.hpp.gch"

# compile SOURCE: what g++ says goes beside the other files' output.
compile() {
  g++ "$@" -fsyntax-only -I. -I"$folder" -include "$folder/standard.hpp" -isystem /usr/include/trilinos \
    >"$folder/${1//\//.}" 2>&1
}
export -f compile
export folder

mapfile -t sources < <(find -L engine transports -name '*.cpp' | sort)
printf '%s\n' "${sources[@]#./}" | xargs -P 2 -I{} bash -c 'compile "$@"' - {} "${flags[@]}"
for each in "${sources[@]#./}"; do
  out=$folder/${each//\//.}
  check "$each" test ! -s "$out"
done
check "there are sources" test "${#sources[@]}" -gt 50

echo "cases: $passed passed, $failed failed"
((failed == 0))
