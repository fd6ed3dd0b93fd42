# For shell tests to source: counts cases, and gives them a folder that goes when they end. What a
# case's command prints belongs into "$out"; it is shown where the case fails.
set -uo pipefail

passed=0
failed=0
folder=$(mktemp -d)
out=$folder/out
trap 'rm -rf "$folder"' EXIT

# Where HOME cannot be written matplotlib would look for its fonts again for each picture.
export MPLCONFIGDIR=${TEST_TMPDIR:-/tmp}/matplotlib

# check NAME CONDITION…: one case.
check() {
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    sed 's/^/  | /' "$out"
  fi
}
# exits STATUS COMMAND…: output to $out; true if it exits with STATUS.
exits() {
  local wanted=$1
  shift
  timeout 60 "$@" >"$out" 2>&1
  [ $? = "$wanted" ]
}
# matches PATTERN: what was printed has a line like it.
matches() { grep -qE -- "$1" "$out"; }
# says TEXT: what was printed has it.
says() { grep -qF -- "$1" "$out"; }
