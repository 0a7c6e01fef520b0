"""Whether this machine can isolate at all, asked of bubblewrap itself: a broken sandbox of ours must fail, not skip."""

import shutil
import subprocess

import pytest

from torl.sandbox.inside import landlock


def need_namespaces() -> None:
    """Skip the test where bubblewrap is missing or may not make namespaces."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        pytest.skip("bubblewrap (bwrap) is not installed")
    probe = [bwrap, "--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--unshare-net", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"bubblewrap may not make namespaces here: {done.stderr.strip()}")


def need_landlock() -> None:
    """Skip the test where the kernel has no Landlock."""
    if not landlock.version():
        pytest.skip("this kernel has no Landlock: tier 2 cannot run here")
