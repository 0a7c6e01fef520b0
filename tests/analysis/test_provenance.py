"""What made the results is recorded as far as the machine tells."""

import subprocess
from pathlib import Path

import pytest

from torl.analysis import provenance


def test_document_has_versions_machine_and_the_hash_of_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}")
    found = provenance.collect(config, tmp_path)
    assert found["config_sha256"] == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert found["packages"]["numpy"]
    assert found["machine"]["cores"] >= 1
    assert found["git"] is None


def test_revision_and_uncommitted_changes_of_a_checkout(tmp_path: Path) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", *identity, "-C", tmp_path, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
    clean = provenance.git_revision(tmp_path)
    (tmp_path / "new").write_text("")
    assert len(clean["revision"]) == 40
    assert (clean["dirty"], provenance.git_revision(tmp_path)["dirty"]) == (False, True)


def test_a_package_that_is_not_installed_has_no_version() -> None:
    assert provenance.installed_version("no-such-package-at-all") is None


def test_machine_that_tells_nothing_gives_none(tmp_path: Path) -> None:
    assert provenance.memory_gib(tmp_path / "none") is None
    assert provenance.os_name(tmp_path / "none")


def test_memory_and_processor_are_read_from_their_files(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal:       24641712 kB\nMemFree: 1 kB\n")
    (tmp_path / "cpuinfo").write_text("processor : 0\nmodel name\t: Fast CPU\nmodel name : Other\n")
    assert provenance.memory_gib(tmp_path / "meminfo") == 23.5
    assert provenance.cpu_model(tmp_path / "cpuinfo") == "Fast CPU"


def test_gpus_are_those_that_nvidia_smi_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nprintf 'GPU A\\nGPU B\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert provenance.gpu_names() == ["GPU A", "GPU B"]


def test_a_broken_nvidia_smi_means_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert provenance.gpu_names() == []
