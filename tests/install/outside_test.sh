#!/usr/bin/env bash
# Programs outside the checkout, which clang and g++ compile against one installed Muster: found by CMake
# and by pkg-config, shared and static, of parts that both compilers have made, and where the doors'
# libraries are missing.
source tests/install/prefix.sh
page=$PWD/$1 example=$PWD/$2

mkdir -p "$folder/project/tests/install"
cp -L tests/install/outside/CMakeLists.txt "$folder/project"
cp -rL tests/examples tests/guide tests/own_algorithm "$folder/project/tests"
cp -rL tests/install/outside "$folder/project/tests/install"
mv "$prefix" "$folder/moved"
prefix=$folder/moved
cd "$folder/project" || exit 1

# runs PROGRAM [OPTION…]: as 4 ranks.
runs() { does timeout 30 "$prefix/bin/muster" run -n 4 "${@:2}" "$1"; }
right() { runs "$@" && says "4 ranks, right"; }

doors=asio
if [[ -f $prefix/include/muster/kokkos.hpp ]]; then doors+=";kokkos"; fi
# configures BUILD OPTION…: by CMake.
configures() { does cmake -S . -B "$@" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror"; }

for compiler in "${both[@]}"; do
  build=by-$compiler
  check "CMake finds Muster, $compiler" configures "$build" -DCMAKE_CXX_COMPILER="$compiler" -DDOORS="$doors"
  check "and builds" does cmake --build "$build" -j 2
  check "a program" right "$build/program"
  check "with the engine's thread" eval 'MUSTER_PROGRESS=thread right "$build/program"'
  check "on made-up nodes" right "$build/program" --nodes 2
  check "needs the library by its version" eval 'does readelf -dW "$build/program" && grep -qE "NEEDED.*libmuster\.so\.[0-9]" "$out"'
  check "the same, linked statically" right "$build/program_static"
  check "needs no library of Muster" eval 'does readelf -dW "$build/program_static" && ! says libmuster'
  check "the guide's fragments" runs "$build/snippets"
  for door in ${doors//;/ }; do check "$door" runs "$build/$door"; done
  check "an algorithm" does "$prefix/bin/muster" bench allgather -n 2 --sizes 8 --vs none --rounds 1 --sample-ms 2 --quiet \
    --plot plot.svg --catalog "$build/libinvited.so" --algorithms invited,auto
done

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
check "pkg-config knows the version" eval 'does pkg-config --modversion muster && [ "$(cat "$out")" = "$(sed -n "s/^Version: //p" "$prefix/lib/pkgconfig/muster.pc")" ]'
# What one compiler made goes into programs with what the other made.
for compiler in "${both[@]}"; do
  for each in program half; do
    # shellcheck disable=SC2046
    check "pkg-config compiles, $compiler" does "$compiler" -std=c++20 -O2 -I. $(pkg-config --cflags muster) \
      -c tests/install/outside/$each.cpp -o $each.$compiler.o
  done
done
for one in "${both[@]}"; do
  for other in "${both[@]}"; do
    # shellcheck disable=SC2046
    check "$one links its part with that of $other" does "$one" program.$one.o half.$other.o $(pkg-config --libs muster) \
      -Wl,--no-undefined -Wl,-rpath,"$prefix/lib" -o mixed
    check "which run together" right ./mixed
  done
done
# shellcheck disable=SC2046
check "and statically" does g++ program.g++.o half.clang++-19.o $(pkg-config --libs-only-L muster) -l:libmuster.a \
  $(pkg-config --static --libs muster | sed 's/-lmuster//') -o mixed
check "run, too" right ./mixed
for door in ${doors//;/ }; do
  check "pkg-config knows the door to $door" does pkg-config --exact-version="$(pkg-config --modversion muster)" "muster-$door"
  # shellcheck disable=SC2046
  check "and its sources" does ls "$prefix/include/muster/$door.hpp" $(pkg-config --variable=sources "muster-$door")
done
# As docs/own-algorithm.md says: of headers alone. The other was linked with the library.
# shellcheck disable=SC2046
check "an algorithm of headers alone" does clang++-19 -std=c++20 -O2 -fPIC -shared $(pkg-config --cflags muster) \
  tests/own_algorithm/chain.cpp -o chain.so
for algorithm in chain.so by-g++/libinvited.so; do
  check "$algorithm is checked" does "$prefix/bin/muster" check --catalog $algorithm
  check "and is right" says "1 algorithm: all right"
done

# Programs in C, by both, without a compiler for C++.
for compiler in clang-19 gcc; do
  for each in sum event_loop; do
    # shellcheck disable=SC2046
    check "$compiler -std=c11 compiles $each.c" does "$compiler" -std=c11 -D_DEFAULT_SOURCE -pedantic -Wall -Wextra -Werror \
      $(pkg-config --cflags muster) "tests/examples/c/$each.c" $(pkg-config --libs muster) -Wl,-rpath,"$prefix/lib" -o $each
  done
  check "which runs" eval 'runs ./sum && says "4 ranks, sum 6"'
  check "and serves" eval 'runs ./event_loop && says "4 ranks, sum 6, many ticks"'
  mkdir "c-$compiler"
  cp tests/examples/c/sum.c "c-$compiler"
  awk '/^```cmake/ {on += 1; next} /^```/ {on += on % 2} on == 3' "$page" >"c-$compiler/CMakeLists.txt"
  check "CMake finds Muster for C, $compiler" does cmake -S "c-$compiler" -B "c-$compiler/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler"
  check "and builds" does cmake --build "c-$compiler/build"
  check "what runs" eval 'runs "c-$compiler/build/sum" && says "4 ranks, sum 6"'
done

# finds WANTED…: whether CMake does, of a version and components.
mkdir asks
cat >asks/CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(asks NONE)
separate_arguments(WANTED)
find_package(muster ${WANTED} REQUIRED)
TEXT
finds() { rm -rf asks/build && does cmake -S asks -B asks/build -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="$*"; }
for version in "" 0.1 0.1.0 "0.1.0 EXACT"; do check "version '$version' is found" finds "$version"; done
for version in 0.0 0.1.1 0.2 1; do check "version $version is not" eval '! finds "$version" && says "considered but not accepted"'; done
check "a component that there is not is refused" eval '! finds COMPONENTS nosuch'
check "by name" says "there is no component 'nosuch'; expected asio or kokkos"
check "unless it is optional" finds OPTIONAL_COMPONENTS nosuch

# without COMMAND…: where neither Boost nor Kokkos is installed.
without() {
  does unshare $userspace --mount bash -c '
    for each in /usr/include/boost /usr/include/trilinos /usr/lib/x86_64-linux-gnu/cmake; do
      [[ ! -d $each ]] || mount -t tmpfs none "$each" || exit 1
    done
    exec "$@"' - "$@"
}
# The README's example, in the project that the page shows.
mkdir shown
awk '/^```cmake/ {on += 1; next} /^```/ {on += on % 2} on == 1' "$page" >shown/CMakeLists.txt
cp -L "$example" shown/program.cpp
userspace=$( ((EUID == 0)) || echo --map-root-user)
skipped=0
if without true; then
  check "Boost can be hidden" without test ! -e /usr/include/boost/asio.hpp
  for compiler in "${both[@]}"; do
    build=bare-$compiler
    check "without Boost and Kokkos CMake finds Muster, $compiler" without cmake -S shown -B "$build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler"
    check "and builds" without cmake --build "$build"
    check "what runs" eval 'runs "$build/program" && says "4 ranks, sum 6"'
    echo '#include <muster/asio.hpp>' >door.cpp
    check "<muster/asio.hpp> is refused" eval '! without "$compiler" -std=c++20 -fsyntax-only -I "$prefix/include" door.cpp'
    check "with what it needs" says '<muster/asio.hpp> needs Boost.Asio'
    check "in few words" test "$(grep -c " error: " "$out")" -le 2
  done
  for door in asio kokkos; do
    check "CMake refuses $door" eval '! without cmake -S . -B "refused-$door" -DCMAKE_PREFIX_PATH="$prefix" -DDOORS="$door"'
    check "and says why" eval 'tr -s " \n" " " <"$out" >flat && grep -qE "component .$door. needs|this Muster has no <muster/$door.hpp>" flat'
  done
else
  skipped=17
fi

echo "cases: $passed passed, $failed failed, $skipped skipped"
((failed == 0))
