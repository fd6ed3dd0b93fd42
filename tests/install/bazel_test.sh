#!/usr/bin/env bash
# A workspace outside the checkout, in which Bazel finds an installed Muster, and one in which it finds
# the checkout.
source tests/install/prefix.sh

export HOME=$folder
# builds BUILD-OPTION…: in the current folder, by a server of the test's own, which goes with it.
builds() {
  does bazel --output_user_root="$folder/cache" --max_idle_secs=5 --host_jvm_args=-Xmx512m build --color=no --curses=no \
    --incompatible_strict_action_env --cxxopt=-std=c++20 --spawn_strategy=local --jobs=2 "$@"
}
# opens FOLDER REPOSITORY: a workspace with Muster in it. What Bazel would download is replaced as in ours.
opens() {
  mkdir "$1"
  cp "$checkout/tools/bazel/offline.bzl" "$1"
  mkdir -p "$1/tests/guide" "$1/tests/install"
  cp -rL tests/install/outside "$1/tests/install"
  cp -L tests/guide/asio.cpp tests/guide/require.hpp "$1/tests/guide"
  cp tests/install/bazel/outside.BUILD "$1/BUILD"
  cat >"$1/WORKSPACE" <<TEXT
workspace(name = "outside")
load("//:offline.bzl", "offline_repository")
[offline_repository(name = name) for name in ["rules_cc", "rules_java", "remote_coverage_tools"]]
$2
TEXT
}
right() { does timeout 30 "$prefix/bin/muster" run -n 4 "$1" && says "4 ranks, right"; }

opens "$folder/installed" "new_local_repository(name = 'muster', path = '$prefix', build_file = '$prefix/share/muster/muster.BUILD')"
opens "$folder/sources" "local_repository(name = 'muster', path = '$checkout')
load('@muster//tools/bazel:system.bzl', 'system_libraries')
system_libraries()"

programs=(program program_static asio)
if [[ -f $prefix/include/muster/kokkos.hpp ]]; then
  programs+=(kokkos)
  cp -L tests/guide/kokkos.cpp "$folder/installed/tests/guide"
  # Debian's headers of Kokkos are not where a compiler looks.
  sed '/name = "asio"/,$s/asio/kokkos/; 1,/^$/d; /deps/i\    copts = ["-isystem/usr/include/trilinos"],' \
    tests/install/bazel/outside.BUILD >>"$folder/installed/BUILD"
fi
cd "$folder/installed" || exit 1
for compiler in clang-19 gcc; do
  check "Bazel builds with an installed Muster, $compiler" builds --repo_env=CC=$compiler "${programs[@]/#/\/\/:}"
  check "a program" right bazel-bin/program
  check "of the shared library" eval 'does ldd bazel-bin/program && says libmuster.so'
  check "linked statically" right bazel-bin/program_static
  check "of the static one" eval 'does ldd bazel-bin/program_static && ! says libmuster.so'
  for door in "${programs[@]:2}"; do
    check "with $door" does timeout 30 "$prefix/bin/muster" run -n 4 "bazel-bin/$door"
  done
done

# All of Muster would be compiled: what Bazel would do says that it can be.
cd "$folder/sources" || exit 1
sed -i '/muster_static/d' BUILD
check "Bazel would build with the checkout" builds --repo_env=CC=clang-19 --nobuild //:program //:asio

echo "cases: $passed passed, $failed failed"
((failed == 0))
