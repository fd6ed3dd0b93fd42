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
# finds_none GREP-ARGUMENT…: true if grep finds nothing in files that are there.
finds_none() {
  grep "$@" >"$folder/found" 2>&1
  [ $? = 1 ] || { cp "$folder/found" "$out" && false; }
}

if ! install_to "$prefix"; then
  echo "cases: 0 passed, 1 failed"
  exit 1
fi
