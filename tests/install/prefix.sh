# For the tests here to source: Muster in a folder of its own, `prefix`, as programs outside the
# checkout find it. What Bazel has built is in the current folder.
source tests/support/cases.sh
unset MUSTER_JOB
checkout=$(dirname "$(readlink -f WORKSPACE)")
prefix=$folder/here
both=(clang++-19 g++)

# install_to FOLDER [OPTION…]: as tools/install does once all is built.
install_to() { python3 -B "$checkout/tools/packaging/lay_out.py" "$checkout" . "$@"; }

# does COMMAND…: true if it succeeds; what it prints goes to "$out".
does() { timeout 100 "$@" >"$out" 2>&1; }
# fails COMMAND…: the contrary.
fails() { ! does "$@"; }

if ! install_to "$prefix"; then
  echo "cases: 0 passed, 1 failed"
  exit 1
fi
