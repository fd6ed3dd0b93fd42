# Sourced by the scripts: `root` is the checkout, `bazel` runs there.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# Bazel keeps its output below HOME; where that is of no use, it goes below the checkout.
if [[ ! -d ${HOME:-} || ! -w ${HOME:-} ]]; then
  export HOME=$root/.cache/home
  mkdir -p "$HOME"
fi

# `bazel` uses curses and colours only where somebody is looking.
bazel() {
  local command=$1
  shift
  local look=()
  if [[ -t 2 && -z ${CI:-} ]]; then look=(--color=auto --curses=auto); fi
  (cd "$root" && command bazel "$command" "${look[@]}" "$@" </dev/null)
}
