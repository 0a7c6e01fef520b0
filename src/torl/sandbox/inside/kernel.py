"""The system calls that Python has no function for."""

import ctypes
import mmap
import os
import platform
import signal
import struct
from collections.abc import Callable

CLONE_VM = 0x00000100
CLONE_FILES = 0x00000400
CLONE_VFORK = 0x00004000
CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
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
PF_EXITING = 0x4  # of the flags in /proc/PID/stat

KILL_TKILL_TGKILL_NUMBERS = {"x86_64": (62, 200, 234), "aarch64": (129, 130, 131)}
PIDFD_SEND_SIGNAL_NUMBER = 424
BPF_INSTRUCTION = struct.Struct("=HBBI")
BPF_LOAD_WORD, BPF_JUMP_IF_EQUAL, BPF_RETURN = 0x20, 0x15, 0x06
SECCOMP_ALLOW, SECCOMP_EPERM = 0x7FFF0000, 0x00050001
CALL_NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16  # struct seccomp_data, little-endian

libc = ctypes.CDLL(None, use_errno=True)
# Keeps the interpreter's lock, which a process that shares this one's memory could not take back.
_locked = ctypes.PyDLL(None, use_errno=True)
_Callback = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


class Stack:
    """Memory for the stack of a process that shares the caller's memory. The lowest page is out of bounds."""

    def __init__(self, size: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_STACK
        self._memory = mmap.mmap(-1, size, flags=flags)
        bottom = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        _checked(libc.mprotect(ctypes.c_void_p(bottom), ctypes.c_size_t(mmap.PAGESIZE), 0), "mprotect")
        self.top = ctypes.c_void_p(bottom + size)


def start_paused(namespaces: int, stack: Stack) -> tuple[int, int]:
    """Start a process in new ``namespaces`` (clone flags) that waits for its death and does nothing else.

    It shares the caller's memory and descriptors, so it costs next to nothing. Returns its process id and a pidfd.

    Raises:
        OSError: the kernel refuses.
    """
    pidfd = ctypes.c_int(-1)
    flags = CLONE_VM | CLONE_FILES | CLONE_PIDFD | signal.SIGCHLD | namespaces
    pid = _locked.clone(_locked.pause, stack.top, flags, None, ctypes.byref(pidfd))
    return _checked(pid, "a process in its own namespaces"), pidfd.value


def call_in_another_process(function: Callable[[], None], stack: Stack) -> None:
    """Call ``function`` as if here, memory and descriptors being the same, but in a process of its own, which ends with
    the call: what it does to its namespaces is not done to the caller's. The caller must have one thread.

    Raises:
        OSError: the kernel refuses; or what ``function`` raises.
    """
    raised: list[BaseException] = []

    def call(_: object) -> int:
        try:
            function()
        except BaseException as error:  # noqa: BLE001 -- raised below, on the caller's own stack
            raised.append(error)
        return 0

    # With CLONE_VFORK the caller stands still until the other process has ended.
    flags = CLONE_VM | CLONE_FILES | CLONE_VFORK | signal.SIGCHLD
    pid = _checked(_locked.clone(_Callback(call), stack.top, flags, None), "a process beside this one")
    if os.waitpid(pid, 0)[1]:
        os._exit(1)  # killed in the middle of the call: this memory, which it shared, is not to be relied on
    if raised:
        raise raised[0]


def enter_namespaces(pidfd: int, namespaces: int) -> None:
    """Enter ``namespaces`` of a process that shares this one's memory; into that of processes go only the children."""
    prctl(PR_SET_DUMPABLE, 1)  # whoever may not read a process may not enter its namespaces
    try:
        _checked(_locked.setns(pidfd, namespaces), "entering namespaces")
    finally:
        prctl(PR_SET_DUMPABLE, 0)


def is_ending(pid: int) -> bool:
    """Whether a child of this process is on its way out, or out and not collected."""
    with open(f"/proc/{pid}/stat", "rb") as line:
        return bool(int(line.read().rpartition(b")")[2].split()[6]) & PF_EXITING)


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
