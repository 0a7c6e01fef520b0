#!/usr/bin/env bash
# One sandbox on each node of this allocation, for training on several nodes; addresses and token in FOLDER, which all
# nodes share:
#
#   sbatch --nodes 2 --ntasks-per-node 1 --cpus-per-task 32 slurm/sandboxes.sh FOLDER
#   snakemake --profile slurm all --config 'overrides={sandbox: {url: "folder:FOLDER"}}'
set -eu
folder=$(realpath -m "$1")
mkdir -p "$folder"
token=$folder/token
[ -s "$token" ] || (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$token")
exec srun --ntasks-per-node 1 "${PYTHON:-.venv/bin/python}" -m torl.sandbox serve --host 0.0.0.0 --port 0 \
  --workers "${SLURM_CPUS_PER_TASK:-2}" --token-file "$token" --announce "$folder"
