#!/usr/bin/env bash
# MPI programs with the shim preloaded: right, silent, and nothing left behind.
#
# usage: shim_test.sh MPI PART FOLDER SHIM YIELD   (FOLDER: the programs', YIELD: libmpich_yield.so)
source tests/support/cases.sh
mpi=$1 part=$2 programs=$PWD/$3 shim=$PWD/$4 yield=$PWD/$5
limit=${LIMIT:-60}
status=0
env=() # VARIABLE=VALUE, for the ranks
with=$shim # preloaded; empty without the shim
as=()

# start RANKS COMMAND…: all that it prints goes to $out.
start() {
  local ranks=$1 command=() one
  shift
  if [ "$mpi" = openmpi ]; then
    command=(mpirun.openmpi --oversubscribe -np "$ranks" --map-by core --bind-to core:overload-allowed
      --mca mpi_yield_when_idle 1)
    [ "$(id -u)" = 0 ] && [ ${#as[@]} = 0 ] && command+=(--allow-run-as-root)
    for one in "${env[@]}" ${with:+"LD_PRELOAD=$with"}; do command+=(-x "$one"); done
  else
    command=(mpirun.mpich -n "$ranks" -bind-to core)
    for one in "${env[@]}" "LD_PRELOAD=${with:+$with:}$yield"; do command+=(-genv "${one%%=*}" "${one#*=}"); done
  fi
  "${as[@]}" timeout --kill-after=5 "$limit" "${command[@]}" "$@" >"$out" 2>&1
  status=$?
}
program() { echo "$programs/$1_program_$mpi"; }
# right RANKS NAME ARGS…: ends with status 0 and prints nothing.
right() {
  local ranks=$1 name=$2
  shift 2
  start "$ranks" "$(program "$name")" "$@"
  [ "$status" = 0 ] && [ ! -s "$out" ]
}
fails() {
  start "$@"
  [ "$status" != 0 ] && [ "$status" != 124 ] && [ "$status" != 137 ]
}
reports() {
  start "$@"
  [ "$status" = 0 ] && ! grep -qv '^muster:' "$out"
}
# took NAME: all such calls; took_none: of nothing any.
took() { grep -E "^muster: $1 +[1-9]" "$out" | grep -qv 'MPI ('; }
took_none() { says 'took no calls' || ! grep -E '^muster: [a-z_]+ +[0-9]' "$out" | grep -qv 'MPI ('; }
took_only() {
  local taken
  taken=$(grep -E '^muster: [a-z_]+ +[0-9]' "$out" | grep -v 'MPI (' | awk '{ print $2 }' | sort)
  [ "$taken" = "$(printf '%s\n' "$@" | sort)" ]
}
matches() { grep -qE -- "$1" "$out"; }
names() { [ -r "/dev/shm" ] && ls /dev/shm; grep -o '@.*muster.*' /proc/net/unix; }

each() {
  local name=$1 ranks
  shift
  for ranks in "$@"; do
    # What one rank calls is left to the MPI, and with one seed alone: they have faults of their own, MPICH with others.
    check "$name, $ranks ranks" right "$ranks" "$name" $([ "$ranks" != 1 ] || echo alone 1)
  done
}

case $part in
  alone) # the programs themselves are right: they are so without the shim
    with=
    for name in collectives communicators requests threads; do
      check "$name, without the shim" right 3 "$name" alone 1
    done
    if [ "$mpi" = openmpi ]; then # Debian's MPICH does not look at arguments
      check "errors, without the shim" right 3 errors alone 1
    fi
    check "fortran, without the shim" right 3 fortran
    ;;
  collectives) each collectives 1 2 3 5 8 16 ;;
  requests) each requests 1 2 3 5 8 16 ;;
  communicators) each communicators 1 2 3 5 8 16 ;;
  threads) each threads 1 2 3 8 ;;
  progress)
    env=(MUSTER_PROGRESS=thread)
    for name in collectives requests threads; do check "$name, a progress thread" right 3 "$name" thread; done
    env=(MUSTER_PROGRESS=auto)
    check "requests, perhaps a progress thread" right 2 requests
    ;;
  errors)
    each errors 2 3 8
    check "by default an error ends the job" fails 3 "$(program errors)" fatal
    check "by default an error ends the job: says so" matches 'MPI_Bcast'
    ;;
  fortran)
    each fortran 1 3 8
    env=(MUSTER_REPORT=1)
    check "fortran: report" reports 3 "$(program fortran)"
    for call in alltoall ialltoall allreduce bcast barrier; do
      check "fortran: $call was taken" took "$call"
    done
    ;;
  settings)
    env=(MUSTER_ENABLE=none)
    check "nothing enabled" right 3 fortran
    env=(MUSTER_ENABLE=none MUSTER_REPORT=1)
    check "nothing enabled: report" reports 3 "$(program fortran)"
    check "nothing enabled: nothing taken" took_none
    env=(MUSTER_ENABLE=alltoall,ialltoall MUSTER_REPORT=1)
    check "two enabled: report" reports 3 "$(program fortran)"
    check "two enabled: taken, and no other" took_only alltoall ialltoall
    for bad in MUSTER_ENABLE=alltoal MUSTER_PROGRESS=sometimes MUSTER_PROGRESS=thread:core=x; do
      env=("$bad")
      check "$bad is refused" fails 2 "$(program requests)"
      check "$bad is refused: says so" matches "muster: ${bad%%=*}: .*expected"
    done
    ;;
  leftovers)
    before=$(names)
    check "a normal end" right 3 leaving
    check "MPI_Abort" fails 3 "$(program leaving)" abort
    start 3 "$(program leaving)" killed
    check "a killed rank ends the job" [ "$status" != 0 ]
    check "a killed rank ends the job, soon" [ "$status" != 124 ]
    # MPICH's and Open MPI's own files are theirs.
    after=$(names)
    diff <(echo "$before" | grep muster) <(echo "$after" | grep muster) >"$out"
    check "nothing is left" [ ! -s "$out" ]
    ;;
  user)
    if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
      cp "$(program collectives)" "$(program requests)" "$shim" "$yield" "$folder" && chmod 755 "$folder"/*
      mkdir -m 777 "$folder/home"
      chmod 755 "$folder"
      programs=$folder with=$folder/$(basename "$shim") yield=$folder/$(basename "$yield")
      as=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$folder/home" TMPDIR=/tmp)
      cd "$folder/home"
      check "collectives, as an ordinary user" right 3 collectives
      check "requests, as an ordinary user" right 3 requests
    else
      check "as whoever runs this" right 3 collectives
    fi
    ;;
esac

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
