#!/usr/bin/env bash
# logged.sh LOG COMMAND...: run COMMAND; what it says is shown and kept in LOG.
# Signals are for COMMAND alone: a `tee` or a shell that dies first would take its output, and so its life.
set -o pipefail
log=$1
shift
trap : INT TERM
"$@" 2>&1 | (trap '' INT TERM; exec tee "$log")
