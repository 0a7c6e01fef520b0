"""Only the verl that is patched is accepted."""

import importlib.metadata
import subprocess
import sys

import pytest

from torl.errors import TrainerError
from torl.training.version import require_verl


def test_the_installed_verl_fits() -> None:
    require_verl()


def test_another_version_is_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "0.9.2")
    with pytest.raises(TrainerError, match=r"verl is 0\.9\.2.*pip install verl==0\.9\.1"):
        require_verl()


def test_the_program_that_launches_imports_no_verl() -> None:
    code = "import sys, torl.training.launch; sys.exit('verl' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
