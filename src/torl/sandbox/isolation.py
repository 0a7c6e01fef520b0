"""What fences a snippet in on this machine: the tiers, and how the process is started that makes cells of a tier.

Inside the namespaces of tier 1 a snippet has the interpreter and its packages (read-only), an empty folder of its own,
its own processes, and nothing else: no home, no data, no environment, no network. Works for an ordinary user through
user namespaces; a server that runs as root gives up root for its snippets.
"""

import base64
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from torl.errors import SandboxError
from torl.sandbox import seccomp
from torl.sandbox.limits import Limits

INSIDE = Path(__file__).with_name("inside")
INSIDE_AT = "/opt/torl"
PACKAGES_INSIDE = "/opt/packages"
WORK_INSIDE = "/tmp"
PACKAGES = ("numpy", "sympy", "mpmath")
SNIPPET_USER = 60600  # of a range that distributions leave unassigned; for servers that run as root
INTERPRETER_FLAGS = ("-I", "-S", "-B", "-X", "utf8")
BOOT = "import sys; sys.path.insert(0, {folder!r}); from inside.zygote import start; start()"

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
SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class IsolationKind(StrEnum):
    """What stands between a snippet and the machine."""

    NAMESPACES = "namespaces"
    """Tier 1. Own processes, files, network and user: nothing of the machine but the interpreter is in reach."""
    LANDLOCK = "landlock"
    """Tier 2. Files of the machine cannot be read or written, there is no network and no second process; names and
    sizes of files and the number of processes can be seen."""
    LIMITS_ONLY = "limits only"
    """Tier 3. Memory, time and file size are bounded; files, network and other processes of the user are in reach."""

    @property
    def tier(self) -> int:
        """Its number, 1 the strongest."""
        return 1 + list(IsolationKind).index(self)


@dataclass(frozen=True, kw_only=True)
class Command:
    """A process to start."""

    argv: list[str]
    environment: dict[str, str]
    user: int | None
    """The user to start it as; None is the caller."""


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


@dataclass(frozen=True, kw_only=True)
class Isolation:
    """One way to fence snippets in."""

    kind: IsolationKind
    bwrap: str = ""
    """bubblewrap, for tier 1."""
    as_root: bool = False
    """Whether the server is root, which its snippets then are not."""

    @property
    def folders_in_memory(self) -> bool:
        """Whether working folders are the cells' own, and not on the machine's disk."""
        return self.kind is IsolationKind.NAMESPACES

    def command(self, control: int, scratch: str) -> Command:
        """The command that starts the maker of cells.

        ``control`` is its socket, a descriptor that it inherits; ``scratch`` the folder for the working folders of
        tiers 2 and 3.

        Raises:
            SandboxError: libseccomp or a package is missing.
        """
        if self.kind is IsolationKind.NAMESPACES:
            packages = [f"{PACKAGES_INSIDE}/{index}" for index in range(len(self._packages))]
            settings = self._settings(scratch, user=SNIPPET_USER if self.as_root else 0)
            argv = [*self._fence, *self._interpreter(INSIDE_AT), str(control), json.dumps(settings), *packages]
            return Command(argv=argv, environment={}, user=None)
        settings = self._settings(scratch, user=0)
        argv = [*self._interpreter(str(INSIDE.parent)), str(control), json.dumps(settings), *self._packages]
        user = SNIPPET_USER if self.as_root and self.kind is IsolationKind.LANDLOCK else None
        return Command(argv=argv, environment=ENVIRONMENT, user=user)

    def _settings(self, scratch: str, user: int) -> dict[str, Any]:
        """What ``inside.zygote`` is told."""
        unfenced = self.kind is IsolationKind.LIMITS_ONLY
        own = self.kind is IsolationKind.NAMESPACES
        readable = [*SYSTEM_FOLDERS, os.path.realpath(sys.base_prefix), *self._packages, str(INSIDE), *DEVICES]
        return {
            "tier": self.kind.tier,
            "user": user,
            "seccomp": "" if unfenced else base64.b64encode(seccomp.program(own_namespaces=own)).decode(),
            "disk_bytes": Limits.disk_mb << 20,
            "scratch": scratch,
            "readable": [path for path in readable if os.path.exists(path)],
            "writable": [path for path in DEVICES if os.path.exists(path)],
        }

    def _interpreter(self, folder: str) -> list[str]:
        return [base_interpreter(), *INTERPRETER_FLAGS, "-c", BOOT.format(folder=folder)]

    @cached_property
    def _packages(self) -> list[str]:
        return package_folders()

    @property
    def _fence(self) -> list[str]:
        """bubblewrap's arguments: the root that all cells share."""
        fence = [self.bwrap, "--die-with-parent", "--new-session", "--clearenv"]
        if self.as_root:
            fence += ["--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
            fence += ["--cap-drop", "ALL"]
            for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN"):  # until the maker gives up root
                fence += ["--cap-add", capability]
        else:
            fence += ["--unshare-all"]
        for name, value in ENVIRONMENT.items():
            fence += ["--setenv", name, value]
        fence += _system_folders()
        fence += _read_only(os.path.realpath(sys.base_prefix))
        fence += [*_open_folder("/opt"), *_open_folder(PACKAGES_INSIDE), *_open_folder(INSIDE_AT)]
        for index, folder in enumerate(self._packages):
            fence += ["--ro-bind", folder, f"{PACKAGES_INSIDE}/{index}"]
        fence += ["--ro-bind", str(INSIDE), f"{INSIDE_AT}/inside"]
        # Cells put folders of their own over these.
        fence += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", *_open_folder(WORK_INSIDE)]
        return [*fence, "--remount-ro", "/", "--chdir", "/", "--"]


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


def _read_only(prefix: str) -> Sequence[str]:
    """Bind the interpreter at its own path; nothing to do where /usr already holds it."""
    if Path(prefix).is_relative_to("/usr"):
        return []
    arguments: list[str] = []
    for parent in reversed(Path(prefix).parents[:-1]):
        arguments += _open_folder(str(parent))
    return [*arguments, "--ro-bind", prefix, prefix]
