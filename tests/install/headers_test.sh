#!/usr/bin/env bash
# Each installed header is whole by itself, and takes in nothing but what is installed with it and the
# standard library; the doors take in theirs. How long the README's example takes to compile.
source tests/install/prefix.sh
example=$PWD/$1

# Includes are as -I says: nothing of ours is left unsaid as a header of the system would.
flags=(-std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include")
# What headers of folders take in of the standard library is read once: tests/layering sees to it that it is named.
find "$prefix/include/muster" -name '*.hpp' -exec grep -hoE '^#include <[a-z_]+>' {} + | sort -u >"$folder/standard.hpp"
check "clang++-19 reads the standard library" does clang++-19 "${flags[@]/-fsyntax-only/-xc++-header}" "$folder/standard.hpp" -o "$folder/standard.pch"
# compile COMPILER HEADER: what it says goes beside the others' output.
compile() {
  local more=()
  [[ $2 != kokkos* ]] || more=(-isystem /usr/include/trilinos)
  [[ $1 != clang* || $2 != */* ]] || more+=(-include-pch "$folder/standard.pch")
  echo "#include <muster/$2>" | "$1" "${flags[@]}" "${more[@]}" -x c++ - >"$folder/$1.${2//\//.}" 2>&1
}
mapfile -t headers < <(cd "$prefix/include/muster" && find . -name '*.hpp' -printf '%P\n' | sort)
check "there are headers" test "${#headers[@]}" -gt 60
jobs=()
for each in "${headers[@]}"; do jobs+=("clang++-19 $each"); done
# g++ reads those that programs ask for, and all that these include.
for each in "${headers[@]}"; do [[ $each == */* ]] || jobs+=("g++ $each"); done
jobs+=("g++ run/pipeline.hpp")
export -f compile
export folder
prefix=$prefix xargs -P 2 -L 1 bash -c "flags=(${flags[*]@Q}); compile \"\$@\"" - < <(printf '%s\n' "${jobs[@]}")
for each in "${jobs[@]}"; do
  read -r compiler header <<<"$each"
  out=$folder/$compiler.${header//\//.}
  # Debian has no KokkosComm.
  if [[ $header == kokkos_comm.hpp ]]; then
    check "$compiler reads <muster/$header>, or is told what it needs" eval '[[ -f $out ]] && { [[ ! -s $out ]] || says "needs KokkosComm"; }'
  else
    check "$compiler reads <muster/$header> alone" test -f "$out" -a ! -s "$out"
  fi
done
out=$folder/out
for compiler in gcc clang-19; do
  for standard in c11 c2x; do
    check "$compiler reads <muster/muster.h> in $standard" eval 'echo "#include <muster/muster.h>" |
      does "$compiler" -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include" -x c -'
  done
  check "and in C++" eval 'echo "#include <muster/muster.h>" |
    does "$compiler" -std=c++20 -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include" -x c++ -'
done

# reads HEADER: all files that it takes in, one a line.
reads() {
  echo "#include <muster/$1>" | clang++-19 "${flags[@]/-fsyntax-only/-M}" -isystem /usr/include/trilinos -x c++ - |
    tr ' ' '\n' | grep ^/ | xargs realpath >"$out"
}
strangers='boost|trilinos|kokkos|infiniband|rdma|hwloc|fmt|nlohmann|liburing|sodium|mpi'
check "muster.hpp" reads muster.hpp
check "takes in some hundred headers" test "$(wc -l <"$out")" -gt 100
sed "s,^$prefix/,," "$out" >"$folder/read"
check "but none of another library" finds_none -iE "/($strangers)" "$folder/read"
check "and of ours what is installed" eval 'grep muster "$folder/read" >"$folder/ours" && finds_none -v "^include/muster/" "$folder/ours"'
for each in "${headers[@]}"; do
  check "$each names what it includes as it is installed" finds_none -n '#include "' "$prefix/include/muster/$each"
done

# Not required of any machine: what it takes depends on it. docs/install.md says what it was.
for compiler in "${both[@]}"; do
  for level in -O0 -O2; do
    TIMEFORMAT="%R s, of which the compiler computed %U s"
    took=$({ time "$compiler" -std=c++20 "$level" -I "$prefix/include" -c "$example" -o "$folder/example.o" >"$out" 2>&1; } 2>&1)
    check "the README's example, $compiler $level" test -s "$folder/example.o"
    echo "compiling the README's example: $compiler $level: $took"
    rm -f "$folder/example.o"
  done
done

echo "cases: $passed passed, $failed failed"
((failed == 0))
