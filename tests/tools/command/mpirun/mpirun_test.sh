#!/usr/bin/env bash
# `muster mpirun` with a real launcher: which MPI it finds, what it tells it, and that it becomes it.
#
# usage: mpirun_test.sh MPI MUSTER FOLDER   (FOLDER: the programs')
source tests/support/cases.sh
mpi=$1 muster=$PWD/$2 programs=$PWD/$3
other=$([ "$mpi" = openmpi ] && echo mpich || echo openmpi)
program=$programs/job_program_$mpi
export MUSTER_REPORT=1
unset LD_PRELOAD
# Open MPI names its files by process numbers, which are the same in two sandboxes.
mkdir "$folder/shared"
export OMPI_MCA_orte_tmpdir_base=$folder/shared OMPI_MCA_btl_vader_backing_directory=$folder/shared
starts() {
  timeout 60 "$muster" mpirun "$@" >"$out" 2>&1
}
ends_with() {
  local wanted=$1 status
  shift
  starts "$@"
  status=$?
  [ $status = "$wanted" ]
}
# right RANKS ARGS…: ends with 0, with so many ranks whose calls are all Muster's.
right() {
  local ranks=$1
  shift
  starts "$@" && says "$ranks ranks:" && says "muster: carried out all of"
}
# prints ARGS…: the command alone.
prints() { starts --print "$@" && [ "$(wc -l <"$out")" = 1 ]; }
refuses() { ends_with 1 "$@" && grep -q '^muster: mpirun: ' "$out"; }
# finds_nothing ARGS…: with an empty PATH.
finds_nothing() {
  PATH=$folder/bare "$muster" mpirun "$@" >"$out" 2>&1
  [ $? = 1 ]
}
lacks() { ! says "$1"; }
script() {
  printf '%s\n' "${@:2}" >"$folder/$1"
  chmod +x "$folder/$1"
}

# An `mpirun` for each. The one in PATH is wrong, unless nothing else tells.
for one in openmpi mpich; do
  mkdir "$folder/$one"
  script $one/mpirun '#!/bin/sh' "exec mpirun.$one \"\$@\""
done
plain=$PATH
PATH=$folder/$other:$plain

check "a program" right 2 -n 2 "$program" told
check "its arguments" right 2 -n 2 "$program" told -n 'two words' :x
check "are passed on" says "2 ranks: [-n] [two words] [:x]"
check "more ranks than cores" right 5 -n 5 "$program" told
check "several parts" right 3 -n 2 "$program" told a : -n 1 "$program" told b
check "a library between program and MPI" ends_with 0 -n 2 "$programs/indirect_$mpi/program"
check "a library between program and MPI: by Muster" says "muster: carried out all of"
cp "$program" "$folder/by_name"
PATH=$folder:$PATH check "a program of PATH" right 2 -n 2 by_name told
cd "$folder" || exit 1
check "a program of this folder" right 2 -n 2 ./by_name told
cd "$OLDPWD" || exit 1
check "a program of another folder" right 2 -n 2 -wdir "$folder" ./by_name told

check "its exit status" ends_with 3 -n 2 "$program" status 3
MUSTER_REPORT=0 "$muster" mpirun -n 2 "$program" for-ever >"$out" 2>&1 &
launcher=$!
for _ in $(seq 600); do
  says "2 ranks:" && break
  sleep 0.1
done
check "it becomes the launcher" [ "$(readlink "/proc/$launcher/exe")" = "$(realpath "$(command -v mpirun.$mpi)")" ]
kill -TERM $launcher
(sleep 20 && kill -KILL $launcher) 2>/dev/null &
wait $launcher
check "a signal ends it" [ $? != 137 ]

script shell '#!/bin/sh' "exec $program \"\$@\""
check "a script tells nothing" prints -n 2 "$folder/shell"
check "so it is the mpirun in PATH" says "$folder/$other/mpirun"
check "by hand" right 2 --mpi "$mpi" -n 2 "$folder/shell" told
PATH=$folder/$mpi:$plain check "or of another PATH" right 2 -n 2 "$folder/shell" told
check "a program that starts another" refuses -n 2 /usr/bin/env "$program" told
check "says how to name the MPI" says "--mpi openmpi or --mpi mpich"
check "by hand, too" right 2 --mpi "$mpi" -n 2 /usr/bin/env "$program" told

python=/usr/bin/python3
script sum.py "#!$python" 'import mpi4py.MPI as m' 'm.COMM_WORLD.barrier()' 'print(m.COMM_WORLD.size, "ranks:")'
script env.py '#!/usr/bin/env -S python3 -u' 'pass'
if [ "$mpi" = openmpi ]; then # Debian's mpi4py is for Open MPI
  check "mpi4py" starts -n 2 "$python" -c 'import mpi4py.MPI as m; m.COMM_WORLD.barrier()'
  check "mpi4py: by Muster" says "muster: carried out all of"
  check "a script of Python's" right 2 -n 2 "$folder/sum.py"
fi
mkdir "$folder/mpi4py"
touch "$folder/mpi4py/__init__.py"
cp "$program" "$folder/mpi4py/MPI.abi3.so"
PATH=$(dirname $python):$PATH PYTHONPATH=$folder check "another mpi4py" prints -n 2 "$folder/env.py"
check "another mpi4py: its MPI" says "libmuster_$mpi.so"
mkdir "$folder/none"
script none/mpi4py.py 'raise ImportError'
PYTHONPATH=$folder/none check "no mpi4py" prints -n 2 "$folder/env.py"
check "no mpi4py: the mpirun in PATH" says "$folder/$other/mpirun"

check "few ranks" prints -n 1 "$program"
check "few ranks: nothing is said of cores" lacks bind-to
check "many ranks" prints -n 4000 "$program"
if [ "$mpi" = openmpi ]; then
  check "many ranks: placed" says "--oversubscribe --map-by core --bind-to core:overload-allowed"
  check "many ranks: yield" says "--mca mpi_yield_when_idle 1"
  check "placed by the user" prints -n 4000 --bind-to none --mca mpi_yield_when_idle 0 "$program"
  check "placed by the user: not by Muster" lacks overload-allowed
  check "placed by the user: waits as told" lacks "mpi_yield_when_idle 1"
  OMPI_MCA_mpi_yield_when_idle=0 check "by the environment" prints -n 4000 "$program"
  check "by the environment: waits as told" lacks "mpi_yield_when_idle 1"
  check "root's leave is asked for once" prints --allow-run-as-root -n 1 "$program"
  check "root's leave is asked for once, indeed" [ "$(grep -o allow-run-as-root "$out" | wc -l)" = 1 ]
else
  check "many ranks: placed" says "-bind-to core"
  check "many ranks: yield" says "libmpich_yield.so"
  check "placed by the user" prints -n 4000 -bind-to none "$program"
  check "placed by the user: not by Muster" lacks "-bind-to core"
fi
check "hosts" prints -n 4000 -host here "$program"
check "hosts: nothing is said of cores" lacks bind-to
LD_PRELOAD=libm.so.6 check "what is preloaded" right 2 -n 2 "$program" told
LD_PRELOAD=libm.so.6 check "what is preloaded: shown" prints -n 2 "$program" "it's"
check "what is preloaded comes first" grep -qE "LD_PRELOAD[= ]libm.so.6:/[^ ]*/libmuster_$mpi.so" "$out"
check "what is printed a shell can read" says "'it'\\''s'"

check "no program" refuses -n 2
check "no program: says so" says "no program is named"
check "a program that is not there" refuses -n 2 ./nowhere
check "a program that is not there: says so" says "./nowhere is not there"
check "a folder" refuses -n 2 "$folder"
check "a folder: says so" says "is not a program"
echo text >"$folder/text"
check "a file that may not be run" refuses -n 2 "$folder/text"
check "a file that may not be run: says so" says "may not be run"
chmod +x "$folder/text"
check "a text" refuses -n 2 "$folder/text"
check "a text: says so" says "neither a program nor a script"
check "no MPI" refuses -n 2 /bin/true
check "no MPI: says so" says "/bin/true is linked with neither Open MPI nor MPICH"
check "a static program" refuses -n 2 /sbin/ldconfig
check "a static program: says so" says "is statically linked"
check "parts of different MPIs" refuses -n 1 "$program" : -n 1 "$programs/job_program_$other"
check "parts of different MPIs: says so" says "are linked with different MPIs"
script lost '#!/no/where'
check "a script without interpreter" refuses -n 2 "$folder/lost"
check "a script without interpreter: says so" says "names no interpreter"
check "an MPI that there is not" ends_with 105 --mpi lam -n 2 "$program"
mkdir "$folder/bare"
check "no launcher" finds_nothing -n 2 "$program"
check "no launcher: says so" says "there is no launcher of"
mkdir -p "$folder/installed/bin" "$folder/installed/lib"
cp "$muster" "$folder/installed/bin/muster"
muster=$folder/installed/bin/muster
check "no library" refuses -n 2 "$program"
check "no library: says so" says "the library to preload is not there"
built=$(dirname "$(realpath "$PWD/$2")")/..
cp -L "$built/mpi/libmuster_$mpi.so" "$built/command/bench/libmpich_yield.so" "$folder/installed/lib"
check "an installed library" right 2 -n 2 "$program" told
check "help" ends_with 0 --help
check "help: says what is done" says "mpi_yield_when_idle"

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
