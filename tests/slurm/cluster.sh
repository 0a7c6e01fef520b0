#!/usr/bin/env bash
# A SLURM cluster of one node on this machine, with two pretended GPUs: `cluster.sh start`, `cluster.sh stop`.
# Needs Debian and root. State lies in TORL_SLURM_DIR; nothing is left running after `stop`.
set -euo pipefail
state=${TORL_SLURM_DIR:-/tmp/torl-slurm}
host=$(hostname -s)

install_packages() {
  command -v slurmctld >/dev/null && command -v munged >/dev/null && return
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge >/dev/null
}

start_munge() {
  munge -n 2>/dev/null | unmunge >/dev/null 2>&1 && return
  mkdir -p /run/munge
  chown munge: /run/munge /var/log/munge /var/lib/munge /etc/munge /etc/munge/munge.key
  chmod 0755 /run/munge
  setpriv --reuid=munge --regid=munge --clear-groups /usr/sbin/munged
  timeout 10 bash -c 'until munge -n 2>/dev/null | unmunge >/dev/null 2>&1; do sleep 0.2; done'
  ln -sfn /run/munge/munged.pid "$state/munged.pid"
}

write_config() {
  mkdir -p "$state"/{state,spool,log,gpu} /etc/slurm
  # a device that every process may open: SLURM only wants the files to exist
  for i in 0 1; do [ -e "$state/gpu/$i" ] || mknod "$state/gpu/$i" c 1 3; done
  local memory
  memory=$(awk '/MemTotal/ {print int($2 / 1024) - 512}' /proc/meminfo)
  cat > "$state/slurm.conf" <<CONF
ClusterName=torl
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$state/state
SlurmdSpoolDir=$state/spool
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
SlurmctldLogFile=$state/log/slurmctld.log
SlurmdLogFile=$state/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=1,bf_interval=1
GresTypes=gpu
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=300
KillWait=15
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=$state/log/jobcomp.txt
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=$memory Gres=gpu:pretended:2 State=UNKNOWN
PartitionName=everything Nodes=$host Default=YES MaxTime=60 DefaultTime=10 State=UP
CONF
  printf 'NodeName=%s Name=gpu Type=pretended File=%s/gpu/[0-1]\n' "$host" "$state" > "$state/gres.conf"
  printf 'ConstrainCores=no\nConstrainRAMSpace=no\n' > "$state/cgroup.conf"
  # where srun looks inside a job, whose environment has no SLURM_CONF
  for file in slurm.conf gres.conf cgroup.conf; do ln -sfn "$state/$file" "/etc/slurm/$file"; done
}

start() {
  install_packages
  scontrol ping 2>/dev/null | grep -q UP && return
  mkdir -p "$state"
  start_munge
  write_config
  /usr/sbin/slurmctld -c
  /usr/sbin/slurmd
  timeout 20 bash -c 'until sinfo -h -o %t 2>/dev/null | grep -qx idle; do sleep 0.2; done'
  sinfo -h -o '%P %t %c CPUs %m MB %G'
}

stop() {
  for daemon in slurmd slurmctld munged; do
    if [ -f "$state/$daemon.pid" ]; then kill "$(cat "$state/$daemon.pid")" 2>/dev/null || true; fi
  done
  rm -f "$state/munged.pid" # only this script's own is stopped
}

"$1"
