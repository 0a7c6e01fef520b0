#!/usr/bin/env bash
# Start the cluster, run the tests that need it, stop it.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/slurm/cluster.sh start
trap 'tests/slurm/cluster.sh stop' EXIT
TORL_SLURM=1 .venv/bin/python -m pytest tests/slurm -m slow
