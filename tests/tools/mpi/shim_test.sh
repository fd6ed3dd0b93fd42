#!/usr/bin/env bash
# MPI programs with the shim preloaded: right, silent, and nothing left behind.
#
# usage: shim_test.sh MPI PART FOLDER SHIM YIELD PROFILER   (FOLDER: the programs', YIELD: libmpich_yield.so)
source tests/support/cases.sh
mpi=$1 part=$2 programs=$PWD/$3 shim=$PWD/$4 yield=$PWD/$5 profiler=$PWD/$6
limit=${LIMIT:-60}
# Under ASan, where all takes several times as long, less of both.
most=16   # ranks
lengths=2 # with which `operations` makes each call
status=0
env=() # VARIABLE=VALUE, for the ranks
always=() # the same, unless `env` says otherwise of the variable
with=$shim # preloaded; empty without the shim
as=()
hosts= # made of this machine, and the ranks of each, as launchers name them; empty: none
# Open MPI names its files by process numbers, which are the same in two sandboxes.
shared=$folder/shared
mkdir -m 777 "$shared"
chmod 755 "$folder"
# The MPIs end without giving back all of their memory, ASan keeps what was given back from being used again, where a
# program looks whether its memory grows, UCX replaces the same functions as ASan, and a list of all PCI devices' names,
# which grows by one name at a time, is copied each time: five seconds a process.
if [ -n "${ASAN_OPTIONS-}" ]; then
  export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0:quarantine_size_mb=4 UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none
  export HWLOC_COMPONENTS=-pci
  most=8 lengths=1
fi

# launch ARGS…: of the MPI's launcher; all that it prints goes to $out. Open MPI's stops now and then when the job is
# ending and all ranks have gone, or crashes and leaves its ranks; then the job is run again.
launch() {
  launch_once "$@"
  [ "$status" != 139 ] || pkill -KILL -f "^$programs/"
  [ "$status" -lt 124 ] || [ -s "$folder/living" ] || launch_once "$@"
  [ "$status" -lt 124 ] || sed 's/^/after the time, still there: /' "$folder/living" >>"$out"
}
launch_once() {
  local command=(mpirun.mpich) places=(-bind-to core) network=10.77.0.0/24
  [ -z "$hosts" ] || places=(-bind-to none -hosts "$hosts" -launcher ssh -launcher-exec "$folder/rsh" -iface rail0
    -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0)
  if [ "$mpi" = openmpi ]; then
    command=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1
      --mca orte_tmpdir_base "$shared" --mca btl_vader_backing_directory "$shared")
    [ "$(id -u)" = 0 ] && [ ${#as[@]} = 0 ] && command+=(--allow-run-as-root)
    places=(--map-by core --bind-to core:overload-allowed)
    [ -z "$hosts" ] || places=(--bind-to none --host "$hosts" --mca plm_rsh_agent "$folder/rsh" --mca pml ob1
      --mca btl self,vader,tcp --mca oob_tcp_if_include "$network" --mca btl_tcp_if_include "$network")
  fi
  command+=("${places[@]}")
  [ -z "$hosts" ] || command=(tools/hosts "$(tr , '\n' <<<"$hosts" | wc -l)" "${command[@]}")
  : >"$folder/living"
  "${as[@]}" timeout --kill-after=5 "$limit" "${command[@]}" "$@" >"$out" 2>&1 &
  local job=$!
  sleep "$((limit - 1))" &
  local timer=$!
  wait -n "$job" "$timer"
  if kill -0 "$job" 2>/dev/null; then note_living; fi
  { kill "$timer" && wait "$timer"; } 2>/dev/null
  wait "$job"
  status=$?
  # Which of two processes is the first to do so is of no matter.
  [ -z "$hosts" ] || sed -i '/plm:rsh: Warning: setpgid/d' "$out"
}
# Ranks, and what each waits for.
note_living() {
  local rank
  for rank in $(pgrep -f "^$programs/"); do
    echo "$(tr '\0' ' ' <"/proc/$rank/cmdline") ($(cat "/proc/$rank/wchan"))"
  done >"$folder/living" 2>/dev/null
}
# start RANKS COMMAND…
start() {
  local ranks=$1 variables=() one env=("${env[@]}")
  shift
  for one in "${always[@]}"; do [[ " ${env[*]}" = *" ${one%%=*}="* ]] || env+=("$one"); done
  if [ "$mpi" = openmpi ]; then
    for one in "${env[@]}" ${with:+"LD_PRELOAD=$with"}; do variables+=(-x "$one"); done
  else
    for one in "${env[@]}" "LD_PRELOAD=${with:+$with:}$yield"; do variables+=(-genv "${one%%=*}" "${one#*=}"); done
  fi
  launch -n "$ranks" "${variables[@]}" "$@"
}
# start_parts PART…: a program of several parts, each RANKS, or RANKS+ where it has the shim, or RANKS- where it has one
# of another version.
start_parts() {
  local all=() one preloaded
  for one in "$@"; do
    preloaded=
    [ "$one" = "${one%+}" ] || preloaded=$shim
    [ "$one" = "${one%-}" ] || preloaded=$folder/other_version.so
    [ "$mpi" = openmpi ] || preloaded=${preloaded:+$preloaded:}$yield
    [ ${#all[@]} = 0 ] || all+=(:)
    all+=(-n "${one%[+-]}" env "${env[@]}" ${preloaded:+"LD_PRELOAD=$preloaded"} "$(program parts)")
  done
  launch "${all[@]}"
}
# start_with_odd SCRIPT: a program of three parts of one rank, of which the last one's process runs SCRIPT before.
start_with_odd() {
  local preloaded=$shim
  [ "$mpi" = openmpi ] || preloaded=$shim:$yield
  local one=(env "${env[@]}" "LD_PRELOAD=$preloaded" "$(program parts)")
  launch -n 2 "${one[@]}" : -n 1 bash -c "$1; exec \"\$@\"" - "${one[@]}"
}
right_parts() {
  start_parts "$@"
  [ "$status" = 0 ] && [ ! -s "$out" ]
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
profiled() { grep '^profiler:' "$out" | sort; }
# says_only LINE…: its output is these lines alone, in any order.
says_only() { [ "$status" = 0 ] && [ "$(sort "$out")" = "$(printf '%s\n' "$@" | sort)" ]; }
# A table that leaves calls to the MPI, nonblocking ones of most collectives, too; not some short ones, so that both are
# mixed. Programs then find the MPI's faults, too, but for `alone 1`.
leaving=MUSTER_TABLE=$PWD/tests/tools/mpi/left_to_mpi.json
# What a job might leave: files, sockets, processes.
traces() {
  ls /dev/shm "$shared" "$PWD"
  grep -o '@.*muster.*' /proc/net/unix
  pgrep -f "$(program leaving)"
}

# With one number of ranks a program runs for its report instead, which is as strict but for that. Of a list every other
# number is the other MPI's: how many ranks there are concerns the library, which is the same for both.
each() {
  local name=$1 ranks number=0 own
  own=$([ "$mpi" = openmpi ] && echo 0 || echo 1)
  shift
  for ranks in "$@"; do
    ((ranks <= most && number++ % 2 == own)) || continue
    # What one rank calls is left to the MPI, and with one seed alone: they have faults of their own, MPICH with others.
    check "$name, $ranks ranks" right "$ranks" "$name" $([ "$ranks" != 1 ] || echo alone 1)
  done
}

case $part in
  alone) # the programs themselves are right: they are so without the shim
    with=
    names=(collectives communicators layouts operations remembered requests threads)
    # MPICH 4.0 confuses persistent operations of which many are active, and neighbours' blocks.
    [ "$mpi" = mpich ] || names+=(neighbors persistent)
    for name in "${names[@]}"; do
      check "$name, without the shim" right 3 "$name" alone 1
    done
    if [ "$mpi" = openmpi ]; then # Debian's MPICH does not look at arguments
      check "errors, without the shim" right 3 errors alone 1
    fi
    check "fortran, without the shim" right 3 fortran
    for name in children late; do check "$name, without the shim" right 2 "$name" alone 1; done
    check "late, in a static object's destructor, without the shim" right 3 late static
    check "parts, without the shim" right_parts 2 2
    [ "$mpi" = mpich ] || check "spawning, without the shim" right 2 spawning
    ;;
  children)
    each children 1 2 8
    check "children, by Muster" by_muster 3 children ialltoall
    check "children, perhaps many threads" right 3 children multiple
    env=(MUSTER_PROGRESS=thread)
    check "children, a progress thread" right 3 children thread
    ;;
  late)
    for way in atexit static; do
      check "late, $way" right 3 late "$way"
      check "late, $way, a wrong call" right 3 late "$way" wrong
      check "late, $way, by Muster" by_muster 3 late ialltoall "$way"
      env=(MUSTER_PROGRESS=thread)
      check "late, $way, a progress thread" right 3 late "$way" thread
      env=()
    done
    ;;
  parts)
    check "all parts have the library" right_parts 2+ 3+
    for parts in '2+ 2' '2 2+' '1 1+' '3+ 1 4+' '1 5+ 1 1+' '1+ 7'; do
      check "parts without the library: $parts" right_parts $parts
    done
    env=(MUSTER_REPORT=1)
    start_parts 2+ 3+
    check "all parts have the library: by Muster" took allgather
    version=$(grep -aoP 'muster-\K[0-9.]+(?=\x00)' "$shim" | head -n 1)
    # lacks RANK VERSION: what is said where a rank has no library of that version.
    lacks() { echo "muster: all calls go to the MPI: rank $1 has no library of Muster $2; expected it on all ranks"; }
    start_parts 2+ 2
    check "a part lacks it: one rank says which" says_only "$(lacks 2 "$version")"
    start_parts 1 3+
    check "the first part lacks it: one rank says so" says_only "$(lacks 0 "$version")"
    other=${version%?}$(((${version: -1} + 1) % 10))
    sed "s/\([mM]uster[- ]\)${version//./\\.}/\1$other/g" "$shim" >"$folder/other_version.so"
    start_parts 2+ 2-
    check "a part has another version: one rank of each says so" \
      says_only "$(lacks 2 "$version")" "$(lacks 0 "$other")"
    # The memory of each rank is as large as that.
    start_with_odd 'ulimit -v 1000000'
    check "ranks that cannot share memory: the program is right" [ "$status" = 0 ]
    check "ranks that cannot share memory: one rank says so" eval \
      '[ "$(grep -c "all calls go to" "$out")" = 1 ] && matches "^muster: on .* all calls go to the MPI: .*rank 2: .*shared memory"'
    env=()
    if [ "$mpi" = openmpi ]; then # MPICH refuses to start processes here, also alone
      check "processes that start others" right 2 spawning
      check "processes that start others: by Muster" by_muster 2 spawning bcast
    fi
    OMPI_MCA_orte_tmpdir_base=$shared LD_PRELOAD=$shim timeout "$limit" "$(program parts)" >"$out" 2>&1
    status=$?
    check "without a launcher" [ "$status" = 0 ]
    check "without a launcher: says nothing" [ ! -s "$out" ]
    ;;
  profiler)
    for name in profiled fortran; do
      env=() with=$profiler
      start 3 "$(program "$name")" 1
      check "$name: a profiler alone" [ "$status" = 0 ]
      profiled >"$folder/expected"
      # Open MPI's Fortran functions call none that it could wrap.
      [ "$name" = fortran ] || check "$name: a profiler sees calls" [ -s "$folder/expected" ]
      for with in "$profiler:$shim" "$shim:$profiler"; do
        order=$([ "$with" = "$profiler:$shim" ] && echo before || echo after)
        env=()
        start 3 "$(program "$name")" 1
        check "$name: a profiler loaded $order the shim" [ "$status" = 0 ]
        check "$name: a profiler loaded $order the shim sees the same calls" \
          [ "$(profiled)" = "$(cat "$folder/expected")" ]
        env=(MUSTER_REPORT=1)
        start 3 "$(program "$name")" 1
        check "$name: a profiler loaded $order the shim: by Muster" took alltoall
      done
    done
    ;;
  library)
    nm -D --defined-only "$shim" | awk '$3 ~ /^P?MPIX?_/ { print $1, $3 }' >"$folder/names"
    sed 's/.* //' "$folder/names" | grep -v '^P' | sort >"$folder/called"
    sed 's/.* //' "$folder/names" | sed -n 's/^P//p' | sort >"$folder/beneath"
    cat "$folder/names" >"$out"
    check "every function has both of its names" cmp -s "$folder/called" "$folder/beneath"
    check "no two names are one function" [ -z "$(cut -d' ' -f1 "$folder/names" | sort | uniq -d)" ]
    nm -D --undefined-only "$shim" >"$out"
    check "nothing is destroyed when the process ends" [ -z "$(grep -E '__cxa_(thread_)?atexit' "$out")" ]
    ;;
  collectives)
    each collectives 1 2 3 5 8
    check "collectives, by Muster" by_muster "$most" collectives alltoall
    ;;
  neighbors)
    [ "$mpi" = mpich ] || each neighbors 1 # whose calls are left to the MPI
    each neighbors 2 3 4 8 12 16
    env=(MUSTER_REPORT=1)
    check "neighbors, 6 ranks: report" reports 6 "$(program neighbors)"
    for name in neighbor_allgather ineighbor_allgatherv neighbor_alltoall ineighbor_alltoallv neighbor_alltoallw \
      neighbor_alltoall_init; do
      check "neighbors: $name, by Muster" took "$name"
    done
    check "neighbors: what is left to the MPI" left_only 'no topology' 'ranks without neighbors'
    env=()
    check "neighbors, perhaps many threads" right 4 neighbors multiple
    env=(MUSTER_PROGRESS=thread)
    check "neighbors, a progress thread" right 3 neighbors
    ;;
  operations)
    check "operations" right 2 operations
    check "operations, perhaps many threads" right 2 operations multiple
    env=(MUSTER_REPORT=1)
    check "operations: report" reports 3 "$(program operations)"
    check "operations: what the MPI refuses is left to it, and nothing else" \
      left_only operation 'operation on such elements'
    check "operations, perhaps many threads: report" reports 2 "$(program operations)" accepted multiple
    if [ "$mpi" = mpich ]; then
      check "operations, perhaps many threads: what only the MPI combines is left to it" \
        left_only "the MPI's operation in its progress"
      check "operations, perhaps many threads: that is one type, a call of each length of 4 operations by 2 ranks" \
        matches "^muster: iallreduce .*MPI $((lengths * 4 * 2)) \("
    else
      check "operations, perhaps many threads: nothing is left to the MPI" left_only
    fi
    ;;
  layouts)
    each layouts 2 8
    env=(MUSTER_REPORT=1)
    check "layouts: report" reports 3 "$(program layouts)"
    check "layouts: nothing is left to the MPI" left_only
    ;;
  remembered)
    each remembered 1 2 3 16
    check "remembered, by Muster" by_muster 8 remembered alltoall
    ;;
  requests)
    each requests 2 1 3 5 8
    check "requests, by Muster" by_muster "$most" requests ialltoall
    ;;
  persistent)
    each persistent 2 1 3 5 16
    check "persistent, perhaps many threads" right 3 persistent multiple
    check "persistent, by Muster" by_muster 8 persistent alltoallw_init
    # Thousands of teams, which take a minute without a sanitizer.
    if [ -z "${ASAN_OPTIONS-}" ]; then
      check "persistent, as many as there can be" right 2 persistent most
      env=(MUSTER_REPORT=1)
      check "persistent, more than there is memory for: report" reports 2 "$(program persistent)" memory
      check "persistent, more than there is memory for: a communicator meanwhile is left to the MPI, and none after" \
        matches '^muster: allreduce .*MPI 2 \(no memory for another team\)'
    fi
    env=(MUSTER_PROGRESS=thread)
    check "persistent, a progress thread" right 3 persistent thread
    ;;
  communicators)
    each communicators 1 2 3 5 16
    env=(MUSTER_REPORT=1)
    check "communicators: report" reports 8 "$(program communicators)"
    check "communicators: what is left to the MPI" left_only 'one rank' intercommunicator 'being freed'
    ;;
  nothing)
    each nothing 1 2 3
    check "nothing, by Muster" by_muster 8 nothing alltoall
    check "nothing, begun and waited for, by Muster" took iallgather
    env=(MUSTER_PROGRESS=thread)
    check "nothing, a progress thread" right 3 nothing
    ;;
  threads)
    each threads 1 2 3
    check "threads, by Muster" by_muster 8 threads allreduce
    check "threads, nonblocking, by Muster" took ialltoall
    if [ "$mpi" = mpich ]; then
      check "threads: what only the MPI combines is left to it" \
        matches "^muster: iallreduce .*the MPI's operation in its progress"
    else
      check "threads: what only the MPI combines is taken, too" took iallreduce
    fi
    for name in requests communicators errors; do
      check "$name, perhaps many threads" right 3 "$name" multiple
    done
    # What it may not read before a request is seen to complete is not there.
    with=$shim:$programs/late_results_$mpi.so
    check "requests, perhaps many threads, buffers that the MPI fills late" right 3 requests multiple
    with=$shim
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
    check "a team that one rank cannot make" right 3 scarce
    ;;
  accelerators)
    for driver in libcuda.so.1 libamdhip64.so; do
      for late in '' late; do
        with=$shim
        args=("driver=$programs/$driver" $late)
        check "accelerator, $driver $late" right 2 accelerator "${args[@]}"
        check "collectives, $driver $late" right 3 collectives "${args[@]}"
        check "accelerator, $driver $late, by Muster" by_muster 3 accelerator alltoall "${args[@]}"
        check "a refused copy ends the job, $driver $late" fails 3 "$(program accelerator)" fatal "${args[@]}"
        check "a refused copy ends the job, $driver $late: says so" \
          matches '^muster: MPI_Allreduce: sendbuf is .*Memcpy.*code 700'
      done
    done
    args=("driver=$programs/libamdhip64.so")
    env=(STAND_IN_ROCM=5)
    check "accelerator, an older ROCm" right 3 accelerator "${args[@]}"
    env=()
    args=("driver=$programs/libcuda.so.1")
    check "collectives, an accelerator, 8 ranks" right 8 collectives "${args[@]}"
    check "accelerator, perhaps many threads" right 3 accelerator multiple "${args[@]}"
    env=(MUSTER_PROGRESS=thread)
    check "accelerator, a progress thread" right 3 accelerator "${args[@]}"
    env=()
    # That memory is none that the CPU can use.
    with=
    check "accelerator, without the shim" fails 3 "$(program accelerator)" "${args[@]}"
    check "accelerator, without the shim: faults" says 'ended by signal 11'
    ;;
  fortran)
    check "fortran, 1 rank" right 1 fortran alone 1
    check "fortran, 8 ranks" right 8 fortran
    env=(MUSTER_REPORT=1)
    check "fortran: report" reports 3 "$(program fortran)"
    for call in alltoall ialltoall allreduce bcast barrier neighbor_alltoall ineighbor_allgather; do
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
    env=("$leaving")
    check "nothing to move, calls left to the MPI by a table" right 3 nothing alone 1
    env+=(MUSTER_REPORT=1)
    for name in remembered requests threads layouts fortran collectives; do
      check "$name, calls left to the MPI by a table: report" reports 3 "$(program "$name")" alone 1
      check "$name, calls left to the MPI by a table: some are" matches 'MPI .*\(as selected\)'
    done
    check "calls left to the MPI by a table: nonblocking ones" matches '^muster: ialltoall +[0-9].*MPI .*\(as selected\)'
    check "calls of two lengths, one left to the MPI, end the job" fails 2 "$(program errors)" lengths
    check "calls of two lengths, one left to the MPI: says so" matches '^muster: .*operation .* is bcast\('
    env=(MUSTER_ALLTOALL=mpi MUSTER_ALLTOALLV=mpi MUSTER_NEIGHBOR_ALLTOALL=mpi)
    for name in collectives requests; do check "$name, calls left to the MPI by hand" right 3 "$name" alone 1; done
    env+=(MUSTER_REPORT=1)
    check "calls left to the MPI by hand: report" reports 3 "$(program collectives)" alone 1
    for call in alltoall ialltoall alltoallv alltoallw; do # but for blocking ones that move nothing
      check "calls left to the MPI by hand: $call" matches "^muster: $call +[0-9]+ .*MPI ([0-9]+ )?\(as selected\)"
    done
    env=(MUSTER_ALLGATHER=mpi) # with which teams of persistent calls are made
    check "collectives, allgathers left to the MPI by hand" right 3 collectives alone 1
    for bad in MUSTER_ENABLE=alltoal MUSTER_PROGRESS=sometimes MUSTER_PROGRESS=thread:core=x MUSTER_NET=pigeon; do
      env=("$bad")
      check "$bad is refused" fails 2 "$(program requests)"
      check "$bad is refused: says so" matches "muster: ${bad%%=*}: .*expected"
    done
    env=()
    for other in MUSTER_ENABLE=bcast MUSTER_PROGRESS=thread MUSTER_NET=tcp MUSTER_REPORT=1 MUSTER_ALLTOALL=mpi; do
      start_with_odd "export $other"
      check "$other on one rank alone is refused" eval '[ "$status" != 0 ] && [ "$status" != 124 ]'
      check "$other on one rank alone is refused: says so" \
        matches '^muster: rank 2 has other values of MUSTER_ENABLE, MUSTER_NET, .* than rank 0'
    done
    ;;
  hosts)
    printf '#!/bin/sh\nexec %s --rsh "$@"\n' "$PWD/tools/hosts" >"$folder/rsh"
    chmod +x "$folder/rsh"
    # Muster's algorithms alone: the MPI has faults of its own.
    python3 - >"$folder/own.json" <<'PYTHON'
import json
table = json.load(open("tools/library/tables/mpi.json"))
table["rules"] = [rule for rule in table["rules"] if not rule["algorithm"].startswith("mpi")]
print(json.dumps(table))
PYTHON
    always=("MUSTER_TABLE=$folder/own.json")
    names=(collectives communicators layouts operations remembered requests threads nothing neighbors persistent fortran)
    # MPICH's ranks take minutes over TCP where they share cores. Of two ranks on two hosts that both are root, neither
    # learns of it before the next call, which has no roots to name: `errors` asks for more.
    hosts=h0:1,h1:1 ranks=2
    [ "$mpi" = mpich ] || hosts=h0:2,h1:1 ranks=3 names+=(errors)
    for name in "${names[@]}"; do check "$name, $hosts" right $ranks "$name"; done
    check "over hosts: by Muster" by_muster $ranks collectives alltoall
    check "over hosts, nonblocking: by Muster" by_muster $ranks requests ialltoall
    env=(MUSTER_REPORT=1 MUSTER_NET=leave)
    check "calls between hosts left to the MPI: report" reports $ranks "$(program collectives)" alone 1
    check "calls between hosts left to the MPI: why" says 'ranks on several machines'
    env=("$leaving")
    for name in collectives remembered requests; do
      check "$name, $hosts, calls left to the MPI by a table" right $ranks "$name" alone 1
    done
    check "over hosts: calls of two lengths, one left to the MPI, end the job" fails $ranks "$(program errors)" lengths
    check "over hosts: calls of two lengths, one left to the MPI: says so" matches '^muster: .*operation .* is bcast\('
    all_hosts=$hosts hosts=h0:1,h1:1 always=() env=(MUSTER_REPORT=1)
    check "a rank a host, by the table that comes with Muster: report" reports 2 "$(program collectives)" alone 1
    check "a rank a host, by the table that comes with Muster: some calls are left" matches 'MPI .*\(as selected\)'
    hosts=$all_hosts always=("MUSTER_TABLE=$folder/own.json")
    env=(MUSTER_REPORT=1)
    check "over hosts: a rank that cannot begin: report" reports $ranks "$(program scarce)" begin
    check "over hosts: a rank that cannot begin: why" says 'all calls go to the MPI'
    env=(MUSTER_NET=tcp)
    check "over hosts, by Muster's own TCP" right $ranks collectives
    check "over hosts, by Muster's own TCP, nonblocking" by_muster $ranks requests ialltoall
    check "over hosts, by Muster's own TCP: MPI_Abort" fails $ranks "$(program leaving)" abort
    env=(MUSTER_PROGRESS=thread)
    for name in collectives communicators requests persistent; do
      [ "$mpi" = mpich ] || check "$name, $hosts, a progress thread" right $ranks "$name" thread multiple
    done
    [ "$mpi" = mpich ] || check "threads, $hosts, a progress thread" by_muster $ranks threads allreduce
    env=()
    check "over hosts: MPI_Abort" fails $ranks "$(program leaving)" abort
    start $ranks "$(program leaving)" killed
    check "over hosts: a killed rank ends the job" [ "$status" != 0 ]
    check "over hosts: a killed rank ends the job, soon" [ "$status" != 124 ]
    if [ "$mpi" = openmpi ]; then
      for hosts in h0:2,h1:2 h0:1,h1:1,h2:1,h3:1; do
        for name in collectives requests persistent; do check "$name, $hosts" right 4 "$name"; done
      done
      check "over hosts: parts without the library" right_parts 2+ 2
      check "over hosts: parts without the library, first" right_parts 1 3+
      limit=150
      for hosts in h0:4,h1:4,h2:4,h3:4 h0:5,h1:1,h2:3; do
        ranks=$(tr , '\n' <<<"$hosts" | awk -F: '{ all += $2 } END { print all }')
        check "collectives, $hosts, by Muster" by_muster "$ranks" collectives alltoall
        check "requests, $hosts, by Muster" by_muster "$ranks" requests ialltoall
      done
    fi
    ;;
  leftovers)
    before=$(traces)
    check "a normal end" right 3 leaving
    check "MPI_Abort" fails 3 "$(program leaving)" abort
    start 3 "$(program leaving)" killed
    check "a killed rank ends the job" [ "$status" != 0 ]
    check "a killed rank ends the job, soon" [ "$status" != 124 ]
    env=(MUSTER_TIMEOUT=1)
    start 3 "$(program leaving)" stopped
    check "a stopped rank ends the job" [ "$status" != 0 ]
    check "a stopped rank ends the job, soon" [ "$status" != 124 ]
    check "a stopped rank is named" grep -q "rank 2 (process [0-9]*) has been stopped for 1 s" "$out"
    env=()
    if [ "$mpi" = openmpi ]; then # once is enough: it takes its time
      limit=20 start 3 "$(program leaving)" stopped
      check "otherwise it is waited for" eval '[ "$status" = 124 ] && ! says "has been stopped"'
    fi
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
