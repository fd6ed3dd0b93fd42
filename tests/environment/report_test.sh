#!/usr/bin/env bash
# A variable that nobody reads is said once: by a command, by rank 0 of a job, and under the MPIs.
#
# usage: report_test.sh MUSTER EXAMPLE FOLDER   (FOLDER: the MPI programs')
source tests/support/cases.sh
muster=$1 example=$2 programs=$PWD/$3
unset MUSTER_JOB
mkdir "$folder/shared"
export OMPI_MCA_orte_tmpdir_base=$folder/shared OMPI_MCA_btl_vader_backing_directory=$folder/shared

# said TIMES COMMAND…: it ends well and says so often what it has to.
said() {
  local times=$1
  shift
  timeout 60 "$@" >"$out" 2>&1 || return 1
  [ "$(grep -c 'MUSTER_REPROT (MUSTER_REPORT?)' "$out")" = "$times" ]
}

export MUSTER_REPROT=1
check "by a command" said 1 "$muster" info --environment
check "by muster run, for its ranks" said 1 "$muster" run -n 3 "$example"
check "by muster run, for one rank" said 1 "$muster" run -n 1 "$example"
check "by muster run, for what is no rank" said 1 "$muster" run -n 2 /bin/true
check "by a program alone" said 1 "$example"
for mpi in openmpi mpich; do
  program=$programs/job_program_$mpi
  check "by rank 0 under $mpi" said 1 "$muster" mpirun -n 3 "$program" told
  MUSTER_ENABLE=none check "by rank 0 under $mpi, of which nothing is taken" said 1 "$muster" mpirun -n 3 "$program" told
done
unset MUSTER_REPROT
check "nothing else is said" said 0 "$muster" run -n 3 "$example"
check "nothing at all" eval '! grep -q "nobody reads" "$out"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
