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
# Open MPI names its files by process numbers, which are the same in two sandboxes.
shared=$folder/shared
mkdir -m 777 "$shared"
chmod 755 "$folder"
# The MPIs end without giving back all of their memory, ASan keeps what was given back from being used again, where a
# program looks whether its memory grows, and UCX replaces the same functions as ASan.
if [ -n "${ASAN_OPTIONS-}" ]; then
  export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0:quarantine_size_mb=4 UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none
fi

# start RANKS COMMAND…: all that it prints goes to $out.
start() {
  local ranks=$1 command=() one
  shift
  if [ "$mpi" = openmpi ]; then
    command=(mpirun.openmpi --oversubscribe -np "$ranks" --map-by core --bind-to core:overload-allowed
      --mca mpi_yield_when_idle 1 --mca orte_tmpdir_base "$shared" --mca btl_vader_backing_directory "$shared")
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
  [ "$status" = 0 ] && [ -s "$out" ] && ! grep -qv '^muster:' "$out"
}
# took NAME: all such calls; took_none: of nothing any.
left='MPI ([0-9]+ )?\('
took() { grep -E "^muster: $1 +[1-9]" "$out" | grep -qvE "$left"; }
took_none() { says 'took no calls'; }
took_only() {
  local taken
  taken=$(grep -E '^muster: [a-z_]+ +[0-9]' "$out" | grep -vE "$left" | awk '{ print $2 }' | sort)
  [ "$taken" = "$(printf '%s\n' "$@" | sort)" ]
}
# left_only REASON…: some calls were, for these reasons and no other.
left_only() {
  local reasons
  reasons=$(grep -oE "$left[^)]*\)" "$out" | sed 's/.*(//; s/)$//' | sort -u)
  [ "$reasons" = "$(printf '%s\n' "$@" | sort)" ]
}
# by_muster RANKS NAME CALL ARGS…: reports, and all of CALL was taken: `right` would be right of the MPI alone.
by_muster() {
  local ranks=$1 name=$2 call=$3 before=("${env[@]}") answer=0
  shift 3
  env+=(MUSTER_REPORT=1)
  reports "$ranks" "$(program "$name")" "$@" && took "$call" || answer=1
  env=("${before[@]}")
  return $answer
}
matches() { grep -qE -- "$1" "$out"; }
# What a job might leave: files, sockets, processes.
traces() {
  ls /dev/shm "$shared" "$PWD"
  grep -o '@.*muster.*' /proc/net/unix
  pgrep -f "$(program leaving)"
}

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
    for name in collectives communicators remembered requests threads; do
      check "$name, without the shim" right 3 "$name" alone 1
    done
    if [ "$mpi" = openmpi ]; then # Debian's MPICH does not look at arguments
      check "errors, without the shim" right 3 errors alone 1
    fi
    check "fortran, without the shim" right 3 fortran
    ;;
  collectives)
    each collectives 1 2 3 5 8 16
    check "collectives, by Muster" by_muster 16 collectives alltoall
    ;;
  remembered)
    each remembered 1 2 3 8 16
    check "remembered, by Muster" by_muster 8 remembered alltoall
    ;;
  requests)
    each requests 1 2 3 5 8 16
    check "requests, by Muster" by_muster 16 requests ialltoall
    ;;
  communicators)
    each communicators 1 2 3 5 8 16
    env=(MUSTER_REPORT=1)
    check "communicators: report" reports 8 "$(program communicators)"
    check "communicators: what is left to the MPI" left_only 'one rank' intercommunicator
    ;;
  threads)
    each threads 1 2 3 8
    check "threads, by Muster" by_muster 8 threads allreduce
    check "threads, nonblocking, by Muster" by_muster 8 threads ialltoall
    if [ "$mpi" = mpich ]; then
      check "threads: what only the MPI combines is left to it" \
        matches "^muster: iallreduce .*the MPI's operation in its progress"
    else
      check "threads: what only the MPI combines is taken, too" took iallreduce
    fi
    for name in requests communicators errors; do
      check "$name, perhaps many threads" right 3 "$name" multiple
    done
    check "requests, perhaps many threads, by Muster" by_muster 8 requests ialltoall multiple
    check "requests, perhaps many threads: persistent, by Muster" took alltoall_init
    ;;
  progress)
    env=(MUSTER_PROGRESS=thread)
    for name in collectives remembered requests threads; do check "$name, a progress thread" right 3 "$name" thread; done
    check "communicators, a progress thread, perhaps many threads" right 3 communicators thread multiple
    check "a progress thread, many in the MPI: all is taken" by_muster 3 threads allreduce
    env=(MUSTER_PROGRESS=thread MUSTER_REPORT=1)
    check "a progress thread, one thread in the MPI: report" reports 3 "$(program collectives)" thread
    check "a progress thread, one thread in the MPI: what only that combines is left to it" \
      matches "^muster: allreduce .*the MPI's operation in a thread"
    env=(MUSTER_PROGRESS=auto)
    check "requests, perhaps a progress thread" right 2 requests
    ;;
  errors)
    each errors 2 3 8
    check "by default an error ends the job" fails 3 "$(program errors)" fatal
    check "by default an error ends the job: says so" matches '^muster: MPI_Bcast: root is 1000; expected 0 to 2'
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
    before=$(traces)
    check "a normal end" right 3 leaving
    check "MPI_Abort" fails 3 "$(program leaving)" abort
    start 3 "$(program leaving)" killed
    check "a killed rank ends the job" [ "$status" != 0 ]
    check "a killed rank ends the job, soon" [ "$status" != 124 ]
    # What the MPIs leave is theirs.
    diff <(echo "$before") <(traces) | grep -vE 'vader|ompi|mpich' | grep '^>' >"$out"
    check "nothing is left" [ ! -s "$out" ]
    ;;
  user)
    if [ "$(id -u)" = 0 ]; then
      cp "$(program collectives)" "$(program requests)" "$shim" "$yield" "$folder" && chmod 755 "$folder"/*.so \
        "$folder"/*_program_*
      mkdir -m 777 "$folder/home"
      programs=$folder with=$folder/$(basename "$shim") yield=$folder/$(basename "$yield")
      as=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$folder/home" TMPDIR=/tmp)
      cd "$folder/home"
      check "collectives, as an ordinary user" right 3 collectives
      check "requests, as an ordinary user" right 3 requests
      check "as an ordinary user, by Muster" by_muster 3 collectives alltoall
    else
      check "as whoever runs this" right 3 collectives
    fi
    ;;
esac

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
