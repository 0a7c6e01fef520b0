"""The system calls that Python has no function for."""

import ctypes
import os
import platform
import signal
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_PIDFD = 0x00001000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
BPF_INSTRUCTION_BYTES = 8
CAPABILITY_VERSION = 0x20080522

CLONE_NUMBER = {"x86_64": 56, "aarch64": 220}
KILL_TKILL_TGKILL_NUMBERS = {"x86_64": (62, 200, 234), "aarch64": (129, 130, 131)}
PIDFD_SEND_SIGNAL_NUMBER = 424
BPF_INSTRUCTION = struct.Struct("=HBBI")
BPF_LOAD_WORD, BPF_JUMP_IF_EQUAL, BPF_RETURN = 0x20, 0x15, 0x06
SECCOMP_ALLOW, SECCOMP_EPERM = 0x7FFF0000, 0x00050001
CALL_NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16  # struct seccomp_data, little-endian

libc = ctypes.CDLL(None, use_errno=True)
# Keeps the interpreter's lock, which the child of a bare clone could not take back.
_locked = ctypes.PyDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def fork_into(namespaces: int) -> tuple[int, int]:
    """Fork into new ``namespaces`` (clone flags); returns (process id, pidfd) to the parent and (0, -1) to the child.

    The calling process must have one thread. Python's hooks for a fork do not run, which a child has no need of that
    does little more than ``os.fork``; they touch, and so copy, many pages.

    Raises:
        OSError: the kernel refuses.
    """
    number = CLONE_NUMBER[platform.machine()]
    pidfd = ctypes.c_int(-1)
    flags = ctypes.c_ulong(namespaces | CLONE_PIDFD | signal.SIGCHLD)
    pid = _locked.syscall(ctypes.c_long(number), flags, None, ctypes.byref(pidfd), None, None)
    if pid == 0:
        return 0, -1
    refused = ctypes.get_errno()
    if pid < 0:
        raise OSError(refused, f"a process in its own namespaces: {os.strerror(refused)}")
    return pid, pidfd.value


def mount(kind: str, target: str, flags: int, options: str = "") -> None:
    """Mount a file system without a device."""
    result = libc.mount(kind.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())
    _checked(result, f"mount {kind} on {target}")


def prctl(option: int, value: int) -> None:
    """Set one property of this process."""
    _checked(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def drop_capabilities() -> None:
    """Give up every right over this process's user namespace."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    _checked(libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def filter_system_calls(program: bytes) -> None:
    """Put this process and what it starts under a seccomp program (an array of BPF instructions)."""
    structure = _Program(len(program) // BPF_INSTRUCTION_BYTES, program)
    _checked(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(structure), 0, 0), "seccomp")


def signal_self_only() -> None:
    """Let this process send signals to itself alone, for where others of the same user are in reach."""
    kill, tkill, tgkill = KILL_TKILL_TGKILL_NUMBERS[platform.machine()]
    instructions = (
        (BPF_LOAD_WORD, 0, 0, CALL_NUMBER_AT),
        (BPF_JUMP_IF_EQUAL, 5, 0, tkill),
        (BPF_JUMP_IF_EQUAL, 4, 0, PIDFD_SEND_SIGNAL_NUMBER),
        (BPF_JUMP_IF_EQUAL, 1, 0, kill),
        (BPF_JUMP_IF_EQUAL, 0, 3, tgkill),
        (BPF_LOAD_WORD, 0, 0, FIRST_ARGUMENT_AT),
        (BPF_JUMP_IF_EQUAL, 1, 0, os.getpid()),
        (BPF_RETURN, 0, 0, SECCOMP_EPERM),
        (BPF_RETURN, 0, 0, SECCOMP_ALLOW),
    )
    filter_system_calls(b"".join(BPF_INSTRUCTION.pack(*instruction) for instruction in instructions))
