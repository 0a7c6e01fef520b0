"""How a snippet's process is fenced in: namespaces by bubblewrap, or, only when asked for, resource limits alone.

Inside the namespaces a snippet has the interpreter and its packages (read-only), an empty folder of its own, its own
processes, and nothing else: no home, no data, no environment, no network. Works for an ordinary user through a user
namespace; root needs none and gives each worker a user id of its own instead, since the kernel exempts root from the
process limit.
"""

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from torl.errors import SandboxError
from torl.sandbox.limits import Limits

BOOT = Path(__file__).with_name("boot.py")
BOOT_INSIDE = "/opt/torl-boot.py"
PACKAGES_INSIDE = "/opt/packages"
WORK_INSIDE = "/tmp"
SNIPPET_NAME = "snippet.py"
PACKAGES = ("numpy", "sympy", "mpmath")
FIRST_WORKER_USER = 60600  # a range that distributions leave unassigned
WORKER_USERS = 96
SHARED_MEMORY_BYTES = 16 * 1024 * 1024
INTERPRETER_FLAGS = (
    "-I",
    "-S",
    "-B",
    "-u",
    "-X",
    "utf8",
)  # -u: what a timed-out snippet printed is not lost in a buffer

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": WORK_INSIDE,
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    # One thread: a thread pool per snippet would fight for the cores and eat the memory limit.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class IsolationKind(StrEnum):
    """What stands between a snippet and the machine."""

    NAMESPACES = "namespaces"
    """Own processes, files, network and user: nothing of the machine but the interpreter is in reach."""
    LIMITS_ONLY = "limits only"
    """Memory, time and file size are bounded; files, network and other processes of the user are in reach."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What the isolation needs to know of one snippet to build its command."""

    limits: Limits
    files: Sequence[tuple[str, int]]
    """Path relative to the working folder, and an open file descriptor with the content."""
    report_fd: int
    """A socket on which the boot script says that it is ready and waits for leave to begin: one byte each way."""
    worker: int
    scratch: Path | None
    """A host folder to use as the working folder; None where a private one in memory will do."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A process to start."""

    argv: list[str]
    cwd: str | None
    environment: dict[str, str]


def base_interpreter() -> str:
    """The interpreter itself and not a virtual environment's link to it: the environment stays outside the sandbox."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def package_folders() -> list[str]:
    """The folders that hold the packages snippets may import."""
    specs = [importlib.util.find_spec(name) for name in PACKAGES]
    missing = [name for name, spec in zip(PACKAGES, specs, strict=True) if spec is None]
    if missing:
        raise SandboxError(
            f"the sandbox lacks {', '.join(missing)}; install the packages of envs/ into this environment."
        )
    return list(dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in specs if spec and spec.origin))


def boot_arguments(job: Job, *, snippet: str, user: int, packages: Sequence[str]) -> list[str]:
    """Arguments of boot.py, in its order."""
    limits = job.limits
    numbers = (
        limits.memory_mb << 20,
        int(limits.run_timeout_s) + 1,
        limits.disk_mb << 20,
        limits.open_files,
        limits.processes,
        user,
    )
    return [snippet, str(job.report_fd), *map(str, numbers), *packages]


@dataclass(frozen=True)
class Namespaces:
    """Snippets under bubblewrap."""

    bwrap: str
    as_root: bool
    kind = IsolationKind.NAMESPACES
    needs_scratch = False

    def user(self, worker: int) -> int:
        """The user id that a snippet of ``worker`` runs under; 0 keeps the caller's, mapped into a user namespace."""
        return FIRST_WORKER_USER + worker % WORKER_USERS if self.as_root else 0

    def command(self, job: Job) -> Command:
        """The command that runs a job inside its own namespaces."""
        argv = [
            *self._fence,
            *self._work_folder(job),
            "--remount-ro",
            "/",
            "--chdir",
            WORK_INSIDE,
            "--",
            *self._interpreter,
        ]
        packages = [f"{PACKAGES_INSIDE}/{index}" for index in range(len(self._packages))]
        snippet = f"{WORK_INSIDE}/{SNIPPET_NAME}"
        argv += boot_arguments(job, snippet=snippet, user=self.user(job.worker), packages=packages)
        return Command(argv=argv, cwd=None, environment={})

    @cached_property
    def _packages(self) -> list[str]:
        return package_folders()

    @cached_property
    def _interpreter(self) -> list[str]:
        return [base_interpreter(), *INTERPRETER_FLAGS, BOOT_INSIDE]

    @cached_property
    def _fence(self) -> list[str]:
        """The arguments that are the same for every snippet."""
        fence = [self.bwrap, "--die-with-parent", "--new-session", "--clearenv"]
        if self.as_root:
            fence += ["--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
            fence += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            fence += ["--unshare-all"]
        for name, value in ENVIRONMENT.items():
            fence += ["--setenv", name, value]
        fence += _system_folders()
        fence += _read_only(os.path.realpath(sys.base_prefix))
        fence += [*_open_folder("/opt"), *_open_folder(PACKAGES_INSIDE)]
        for index, folder in enumerate(self._packages):
            fence += ["--ro-bind", folder, f"{PACKAGES_INSIDE}/{index}"]
        fence += ["--ro-bind", str(BOOT), BOOT_INSIDE]
        # Read-only, since the kernel lets root, even in a user namespace without rights, write the settings of the
        # machine.
        fence += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
        fence += ["--perms", "1777", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
        return fence

    @staticmethod
    def _work_folder(job: Job) -> list[str]:
        if job.scratch is None:
            folder = ["--perms", "1777", "--size", str(job.limits.disk_mb << 20), "--tmpfs", WORK_INSIDE]
        else:
            folder = ["--bind", str(job.scratch), WORK_INSIDE]
        for parent in dict.fromkeys(str(up) for path, _ in job.files for up in reversed(Path(path).parents[:-1])):
            folder += ["--perms", "0777", "--dir", f"{WORK_INSIDE}/{parent}"]
        for path, descriptor in job.files:
            folder += ["--perms", "0666", "--file", str(descriptor), f"{WORK_INSIDE}/{path}"]
        return folder


def _system_folders() -> list[str]:
    arguments = ["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    for name in ("lib", "lib64", "bin"):
        folder = Path("/", name)
        if folder.is_symlink():
            arguments += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            arguments += ["--ro-bind", str(folder), str(folder)]
    return arguments


def _open_folder(path: str) -> list[str]:
    # Left to itself, bubblewrap gives the folders above a private source a private mode and shuts the snippet's user
    # out.
    return ["--perms", "0755", "--dir", path]


def _read_only(prefix: str) -> list[str]:
    """Bind the interpreter at its own path; nothing to do where /usr already holds it."""
    if Path(prefix).is_relative_to("/usr"):
        return []
    arguments = []
    for parent in reversed(Path(prefix).parents[:-1]):
        arguments += _open_folder(str(parent))
    return [*arguments, "--ro-bind", prefix, prefix]


@dataclass(frozen=True)
class LimitsOnly:
    """Snippets as plain processes of the same user, bounded by resource limits."""

    kind = IsolationKind.LIMITS_ONLY
    needs_scratch = True

    def user(self, worker: int) -> int:
        """The user id that a snippet runs under: always the caller's."""
        return 0

    def command(self, job: Job) -> Command:
        """The command that runs a job in its scratch folder."""
        for path, descriptor in job.files:
            target = job.scratch / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(descriptor, "rb", closefd=False) as content:
                target.write_bytes(content.read())
        argv = [base_interpreter(), *INTERPRETER_FLAGS, str(BOOT)]
        # Without a user namespace the process limit would count every process of the user, the trainer's included.
        job = replace(job, limits=replace(job.limits, processes=0))
        argv += boot_arguments(job, snippet=str(job.scratch / SNIPPET_NAME), user=0, packages=package_folders())
        return Command(argv=argv, cwd=str(job.scratch), environment={**ENVIRONMENT, "HOME": str(job.scratch)})


Isolation = Namespaces | LimitsOnly
