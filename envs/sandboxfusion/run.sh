#!/usr/bin/env bash
# Runs SandboxFusion with a clean environment and ends when it runs no snippet any more, so that the container is started
# again: one snippet can kill or freeze its server, and /v1/ping answers all the same.
set -u
PORT=${PORT:-8080}
CHECK_EVERY_S=${CHECK_EVERY_S:-30}
workers=$(( ($(nproc) + 1) / 2 ))

# isolation: none. The container is the wall; `lite` needs root and shows the host's files.
env -i HOME=/nowhere PATH=/usr/local/bin:/usr/bin:/bin SANDBOX_CONFIG=local OMP_NUM_THREADS=1 \
  uvicorn sandbox.server.server:app --host 0.0.0.0 --port "$PORT" --workers "$workers" &
server=$!
trap 'kill $server' TERM INT

check='
import json, sys, urllib.request
body = json.dumps({"code": "print(6 * 7)", "language": "python"}).encode()
request = urllib.request.Request(sys.argv[1], body, {"Content-Type": "application/json"})
sys.exit(json.load(urllib.request.urlopen(request, timeout=30))["run_result"]["stdout"] != "42\n")
'
failures=0
while kill -0 $server 2>/dev/null; do
  sleep "$CHECK_EVERY_S" &
  wait $!
  if python -c "$check" "http://127.0.0.1:$PORT/run_code" 2>/dev/null; then failures=0; else failures=$((failures + 1)); fi
  if [ $failures -ge 3 ]; then
    echo "no snippet ran in three checks: the server is broken" >&2
    kill -9 $server
    exit 1
  fi
done
wait $server
