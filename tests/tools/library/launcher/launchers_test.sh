#!/usr/bin/env bash
# Programs without MPI under the launchers that people have: Open MPI's mpirun, Hydra, Slurm.
#
# usage: launchers_test.sh HOSTS WITH_SLURM RANK_PROGRAM SWEEP_PROGRAM PMI_PROGRAM \
#        PROGRAM_WITH_OPENMPI PROGRAM_WITH_MPICH
source tests/support/cases.sh
hosts=$PWD/$1 with_slurm=$PWD/$2 program=$PWD/$3 sweep=$PWD/$4 pmi_program=$PWD/$5
beside_openmpi=$PWD/$6 beside_hydra=$PWD/$7
unset MUSTER_JOB
shared=$folder/shared
mkdir "$shared"
printf 'a secret of this test, long enough' >"$folder/key"
chmod 600 "$folder/key"

# ends STATUS COMMAND…
ends() {
  local expected=$1 status=0
  shift
  timeout --kill-after=5 60 "$@" >"$out" 2>&1 || status=$?
  [ "$status" = "$expected" ] || { echo "status $status" >>"$out" && return 1; }
}
# fails COMMAND…: with whatever status, but in time.
fails() {
  local status=0
  timeout --kill-after=5 60 "$@" >"$out" 2>&1 || status=$?
  [ "$status" != 0 ] && [ "$status" != 124 ] || { echo "status $status" >>"$out" && return 1; }
}
openmpi=(mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca orte_tmpdir_base "$shared")
hydra=(mpiexec.hydra)

# ---- on one machine

for launcher in openmpi hydra; do
  declare -n command=$launcher
  for ranks in 1 2 5; do
    check "$launcher starts $ranks ranks" ends 0 "${command[@]}" -n "$ranks" "$sweep"
  done
  check "ranks of $launcher are ranks of one job" eval 'ends 0 "${command[@]}" -n 3 "$program" where &&
    says "rank 0 node 0" && says "rank 1 node 0" && says "rank 2 node 0"'
  beside=beside_$launcher
  check "beside the MPI of $launcher" eval 'ends 0 "${command[@]}" -n 3 "${!beside}" &&
    says "rank 0 of 3: the same by both" && says "rank 2 of 3: the same by both"'
done
# Hydra goes on when a rank ends; the others must see it.
check "a rank that ends is noticed" eval '! ends 0 "${hydra[@]}" -n 3 "$program" exits &&
  says "rank 0 soon" && says "rank 2 soon" && says "rank 1 (process" && says "ended without leaving the job"'
check "a rank that leaves without a word is noticed" eval 'ends 0 "${hydra[@]}" -n 4 "$program" leaves &&
  says "rank 0 soon" && says "rank 2 soon" && says "rank 3 soon"'
# Open MPI ends the others once a rank has ended, the stopped one included.
check "a rank that is stopped is noticed" eval 'fails env MUSTER_TIMEOUT=1 "${openmpi[@]}" -n 3 "$program" stops &&
  matches "^rank [02] soon: .*rank 1 .process [0-9]+. has been stopped for 1 s"'
for version in 1 2; do
  check "PMI-$version" eval 'ends 0 "${hydra[@]}" -n 3 "$pmi_program" "$version" &&
    says "rank 0 of 3 heard hello" && says "rank 2 of 3 heard hello"'
done
check "a launcher without PMIx's answer" eval 'fails env PMIX_RANK=0 PMIX_NAMESPACE=none "$program" where &&
  says "speaks PMIx, but does not answer"'
check "Slurm without a key" eval 'fails env SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NODELIST=n[1-2] \
  SLURM_JOB_ID=1 SLURM_STEP_ID=0 "$program" where && says "MUSTER_KEY_FILE is not set: srun"'
check "a batch script's own process is alone" eval 'ends 0 env SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_ID=1 \
  "$program" where && says "rank 0 node 0"'

# Open MPI ends all itself, once a rank has ended; its ranks see it before.
check "a rank that ends under Open MPI ends the job" eval 'fails "${openmpi[@]}" -n 3 "$program" killed'

# ---- on two

both_nodes() { says "rank 0 node 0" && says "rank 1 node 0" && says "rank 2 node 1" && says "rank 3 node 1"; }
# Each asks for the remote shell in a way of its own.
cat >"$folder/shell" <<TEXT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1
shift
exec "$hosts" --shell "\$host" sh -c "\$*"
TEXT
chmod +x "$folder/shell"
check "Open MPI on two hosts" eval 'ends 0 "$hosts" 2 "${openmpi[@]}" --mca plm_rsh_agent "$folder/shell" \
  --mca oob_tcp_if_include 10.77.0.0/24 --host h0:2,h1:2 -n 4 "$program" where && both_nodes'
check "Hydra on two hosts" eval 'ends 0 "$hosts" 2 "${hydra[@]}" -launcher ssh -launcher-exec "$folder/shell" \
  -iface rail0 -hosts h0:2,h1:2 -n 4 "$program" where && both_nodes'

# In Slurm's folder, for names of sockets have an end.
export slurm=$(mktemp -d /tmp/slurm.XXXXXX) program sweep
trap 'rm -rf "$folder" "$slurm"' EXIT
under_slurm() {
  timeout --kill-after=5 30 "$with_slurm" "$hosts" "$slurm" bash -c "$1" >"$out" 2>&1 && return
  tail -n 3 "$slurm"/*.out >>"$out"
  return 1
}
check "srun --mpi=pmi2" eval 'under_slurm "srun --mpi=pmi2 -N 2 -n 4 $program where &&
  srun --mpi=pmi2 -N 2 -n 3 $sweep" && both_nodes'
check "srun with a key" eval 'under_slurm "MUSTER_KEY_FILE=$folder/key srun -N 2 -n 4 $program where &&
  MUSTER_KEY_FILE=$folder/key srun -N 2 -n 3 $sweep" && both_nodes'
# Ranks 0 and 1 are on one host. srun lets the others go on.
lost_rank_1() {
  [ "$(grep -cE "^rank [023] .*rank 1 .*(ended without leaving the job|its connection ended)" "$out")" = 3 ]
}
check "a rank that ends under srun --mpi=pmi2" eval 'under_slurm "srun --mpi=pmi2 -N 2 -n 4 $program exits; [ \$? = 7 ]" &&
  lost_rank_1'
check "a rank that ends under srun" eval 'under_slurm \
  "MUSTER_KEY_FILE=$folder/key srun -N 2 -n 4 $program exits; [ \$? = 7 ]" && lost_rank_1'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
