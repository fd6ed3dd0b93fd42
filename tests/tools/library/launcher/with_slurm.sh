#!/usr/bin/env bash
# A real Slurm on two made hosts, for one command: a controller here, a node daemon on each host, and
# munge between them.
#
# usage: with_slurm.sh HOSTS FOLDER COMMAND [ARG...]
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
hosts=$1 folder=$2
shift 2

if [[ ! ${INSIDE_MADE_HOSTS-} ]]; then
  INSIDE_MADE_HOSTS=1 exec "$hosts" 2 "$0" "$hosts" "$folder" "$@"
fi

# A controller that ended while a job did would leave that to the next one, which would wait for it.
rm -rf "$folder"/state "$folder"/spool.h0 "$folder"/spool.h1
mkdir -p "$folder"/state "$folder"/spool.h0 "$folder"/spool.h1
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<TEXT
ClusterName=made
SlurmctldHost=$(hostname -s)(10.77.0.254)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=h[0-1] NodeAddr=10.77.0.[1-2] CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
TEXT
# No task is put into a control group; the daemon only wants to know of which kind they would be.
printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s/cgroup\n' "$folder" >"$folder/cgroup.conf"

daemons=()
# Whoever comes next has the same ports and files. The last one first: each needs those before it to end.
end_daemons() {
  for ((i = ${#daemons[@]}; i-- > 0; )); do
    kill "${daemons[i]}" 2>/dev/null || true
    wait "${daemons[i]}" || true
  done
}
trap end_daemons EXIT
head -c 128 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
munged --force --foreground --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
  --pid-file="$folder/munge.pid" --seed-file="$folder/munge.seed" --log-file="$folder/munge.log" \
  >"$folder/munged.out" 2>&1 &
daemons+=($!)
for ((tries = 0; tries < 100; ++tries)); do
  if [[ -S $folder/munge.socket ]]; then break; fi
  sleep 0.1
done
slurmctld -D >"$folder/slurmctld.out" 2>&1 &
daemons+=($!)
for host in h0 h1; do
  "$hosts" --shell "$host" slurmd -D -N "$host" >"$folder/slurmd.$host.out" 2>&1 &
  daemons+=($!)
done
for ((tries = 0; tries < 200; ++tries)); do
  if [[ $(sinfo -h -o %T 2>/dev/null) == idle ]]; then break; fi
  sleep 0.1
done
"$@"
