"""The script that starts a sandbox on each node of an allocation, with the batch system's part played by a fake."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.sandbox.conftest import run_at
from torl.sandbox.addresses import announced_in
from torl.sandbox.isolation import Isolation
from torl.sandbox.launcher import sandboxes

SCRIPT = Path(__file__).resolve().parents[2] / "slurm" / "sandboxes.sh"
FAKE_SRUN = '#!/bin/sh\nshift 2  # --ntasks-per-node 1\n"$@" & "$@" & trap "kill $(jobs -p)" TERM; wait; wait\n'


def test_each_node_s_server_is_in_the_folder_with_its_token_and_gone_with_the_job(
    isolation: Isolation, tmp_path: Path
) -> None:
    srun, folder = tmp_path / "srun", tmp_path / "addresses of this run"
    srun.write_text(FAKE_SRUN)
    srun.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": sys.executable}
    job = subprocess.Popen([SCRIPT, folder], env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        while len(announced_in(folder, patience_s=60)) < 2:
            time.sleep(0.05)
        with sandboxes(f"folder:{folder}") as used:
            assert len(used.urls) == 2
            assert all("@" in url for url in used.urls)
            assert [run_at(url, "print(6 * 7)").stdout for url in used.urls] == ["42\n", "42\n"]
    finally:
        os.killpg(job.pid, signal.SIGTERM)
        job.wait(30)
    deadline = time.monotonic() + 20
    while list(folder.glob("*.address")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(folder.glob("*.address")) == []
