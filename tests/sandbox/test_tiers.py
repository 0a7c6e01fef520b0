"""Which tier a machine gets, and what it is told when it gets none."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.sandbox.available import need_landlock, need_namespaces
from tests.sandbox.denied import denied
from tests.sandbox.servers import NOBODY, ordinary_environment, ordinary_python
from torl.errors import SandboxError
from torl.sandbox import seccomp
from torl.sandbox.isolation import Isolation, IsolationKind

PROJECT = Path(__file__).resolve().parents[2]


def start(*options: str, deny: str = "") -> subprocess.CompletedProcess[str]:
    """Start a server as an ordinary user, with some system calls denied; it ends at once, having said what it is."""
    python, user = ordinary_python()
    command = [*python, "-m", "torl.sandbox", "serve", "--port", "0", "--until-stdin-closes", *options]
    if deny:
        command = [*python, *denied(deny)[1:], *command]
    environment = ordinary_environment()
    environment["PYTHONPATH"] = str(PROJECT) + os.pathsep + environment["PYTHONPATH"]
    return subprocess.run(
        command,
        env=environment,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_where_namespaces_work_an_ordinary_user_gets_tier_1() -> None:
    need_namespaces()
    assert "isolation: namespaces (tier 1)" in start().stdout


def test_where_namespaces_are_forbidden_it_is_tier_2_and_says_so() -> None:
    need_landlock()
    assert "isolation: landlock (tier 2)" in start(deny="namespaces").stdout
    refused = start("--tier", "1", deny="namespaces")
    assert refused.returncode == 1
    assert "tier 1 (namespaces):" in refused.stderr


def test_where_nothing_works_each_tier_says_why_and_tier_3_must_be_asked_for() -> None:
    nothing = "namespaces,landlock_create_ruleset"
    refused = start(deny=nothing)
    assert refused.returncode == 1
    assert "tier 1 (namespaces):" in refused.stderr
    assert "tier 2 (landlock): the kernel has no Landlock, or a filter forbids it" in refused.stderr
    assert "--allow-unsafe" in refused.stderr
    accepted = start("--allow-unsafe", deny=nothing)
    assert "isolation: limits only (tier 3)" in accepted.stdout
    assert "WITHOUT isolation" in accepted.stderr


def test_without_libseccomp_the_message_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "LIBRARY", "libseccomp-is-not-here.so.2")
    with pytest.raises(SandboxError, match="apt install libseccomp2"):
        Isolation(kind=IsolationKind.LANDLOCK).command(3, "/tmp")


def test_tiers_are_numbered_from_the_strongest() -> None:
    assert [(kind, kind.tier) for kind in IsolationKind] == [("namespaces", 1), ("landlock", 2), ("limits only", 3)]


def test_the_program_is_the_kernel_s_own_kind_of_instructions() -> None:
    for own_namespaces in (True, False):
        program = seccomp.program(own_namespaces=own_namespaces)
        assert len(program) % 8 == 0
        assert len(program) // 8 < 4096  # the kernel's limit


def test_root_gives_up_root_for_its_snippets() -> None:
    if os.geteuid() != 0:
        pytest.skip("not root")
    command = Isolation(kind=IsolationKind.LANDLOCK, as_root=True).command(3, "/tmp")
    assert command.user not in (None, 0, NOBODY)
