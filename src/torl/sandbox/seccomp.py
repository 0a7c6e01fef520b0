"""The system calls that a snippet may not make, as a program for the kernel, made once by libseccomp.

A list of what is forbidden, not of what is allowed: numerical packages must keep working. What the list guards: further
namespaces and mounts, other processes of the same user, the network and every kind of shared memory (so that snippets
that run at the same time cannot meet), and parts of the kernel that no snippet needs and that were its weak spots. What
came after the newest call known here does not exist for a snippet.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torl.errors import SandboxError

LIBRARY = "libseccomp.so.2"
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
EQUAL, NOT_EQUAL, MASKED_EQUAL = 4, 1, 7  # enum scmp_compare
UNKNOWN_CALL = -1
NEWEST_CALL = 462  # mseal, Linux 6.10

FORBIDDEN = (
    # namespaces, mounts, roots
    *("unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen"),
    *("fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at"),
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp"),
    *("move_pages", "migrate_pages", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
    # shared memory and message queues; memory that no limit counts
    *("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop", "semtimedop_time64"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "memfd_create", "memfd_secret"),
    *("add_key", "request_key", "keyctl"),
    # the network; a pair of connected sockets is left, which asyncio needs
    *("bind", "connect", "listen", "accept", "accept4"),
    # parts of the kernel
    *("bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "personality"),
    *("fanotify_init", "fanotify_mark", "modify_ldt", "iopl", "ioperm", "lookup_dcookie", "vmsplice", "nfsservctl"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "uselib", "_sysctl", "ustat"),
    # the machine
    *("reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "settimeofday", "clock_settime"),
    *("clock_settime64", "adjtimex", "clock_adjtime", "clock_adjtime64", "stime", "sethostname", "setdomainname"),
    *("vhangup", "mknod", "mknodat", "create_module", "get_kernel_syms", "query_module", "sysfs"),
)
# In these the process may only name itself; where user ids are shared they would reach the user's other processes.
SELF_ONLY = ("prlimit64", "sched_setaffinity")
OTHERS_SETTINGS = ("setpriority", "sched_setparam", "sched_setscheduler", "sched_setattr", "ioprio_set")
# Where the files are the machine's own: what Landlock does not cover.
FILE_SETTINGS = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "truncate", "truncate64"),
    *("utime", "utimes", "utimensat", "utimensat_time64", "futimesat", "inotify_add_watch"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
)
NEW_NAMESPACE_FLAGS = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
CLONE_PARENT = 0x8000
CLONE_THREAD = 0x10000
AF_UNIX, SOCK_DGRAM, SOCK_RAW, SOCKET_TYPE_MASK = 1, 2, 3, 0xF
F_SETOWN, F_SETOWN_EX, F_SETSIG = 8, 15, 10
FIOSETOWN, SIOCSPGRP, TIOCSTI = 0x8901, 0x8902, 0x5412
PR_SET_PTRACER = 0x59616D61
BPF_INSTRUCTION = struct.Struct("=HBBI")
LOAD_WORD, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x35, 0x06


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One call that fails with an error number, where its argument compares so."""

    call: str
    error: int = errno.EPERM
    argument: int | None = None
    """Number of the argument; None forbids the call whatever its arguments."""
    operation: int = EQUAL
    first: int = 0
    """The value; for MASKED_EQUAL the mask."""
    second: int = 0
    """For MASKED_EQUAL the value under the mask."""


def rules(*, own_namespaces: bool) -> Iterator[Rule]:
    """Every rule. Without ``own_namespaces`` a snippet may start threads only, and change no property of a file."""
    for call in (*FORBIDDEN, *OTHERS_SETTINGS):
        yield Rule(call=call)
    for flag in NEW_NAMESPACE_FLAGS:
        yield Rule(call="clone", argument=0, operation=MASKED_EQUAL, first=flag, second=flag)
    # The maker of cells, which waits for its own children only, would have one it does not know: the namespaces never end.
    yield Rule(call="clone", argument=0, operation=MASKED_EQUAL, first=CLONE_PARENT, second=CLONE_PARENT)
    # Its flags are in memory, which a filter cannot read; the C library goes back to clone.
    yield Rule(call="clone3", error=errno.ENOSYS)
    if not own_namespaces:
        yield Rule(call="clone", argument=0, operation=MASKED_EQUAL, first=CLONE_THREAD, second=0)
        yield from (Rule(call=call) for call in ("fork", "vfork", *FILE_SETTINGS))
    yield from (Rule(call=call, argument=0, operation=NOT_EQUAL) for call in SELF_ONLY)
    yield Rule(call="socket", error=errno.EACCES)
    yield Rule(call="socketpair", argument=0, operation=NOT_EQUAL, first=AF_UNIX)
    for kind in (SOCK_DGRAM, SOCK_RAW):
        # Such a socket of a pair can get a name without bind, and then be written to by others.
        yield Rule(call="socketpair", argument=1, operation=MASKED_EQUAL, first=SOCKET_TYPE_MASK, second=kind)
    yield from (Rule(call="fcntl", argument=1, first=command) for command in (F_SETOWN, F_SETOWN_EX, F_SETSIG))
    yield from (Rule(call="ioctl", argument=1, first=command) for command in (FIOSETOWN, SIOCSPGRP, TIOCSTI))
    yield Rule(call="prctl", argument=0, first=PR_SET_PTRACER)


def program(*, own_namespaces: bool) -> bytes:
    """The BPF instructions for this machine that a snippet runs under.

    Raises:
        SandboxError: libseccomp is not installed, or cannot do it.
    """
    return _newer_calls_do_not_exist() + compiled(rules(own_namespaces=own_namespaces))


def compiled(these: Iterable[Rule]) -> bytes:
    """The BPF instructions that forbid what ``these`` rules say and allow the rest.

    Raises:
        SandboxError: libseccomp is not installed, or cannot do it.
    """
    library = _library()
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ALLOW)))
    try:
        for rule in these:
            _add(library, context, rule)
        return _exported(library, context)
    finally:
        library.seccomp_release(context)


def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise SandboxError(
            f"{LIBRARY} is not installed; install it (`apt install libseccomp2`, or libseccomp of your distribution)."
        ) from error
    library.seccomp_init.restype = ctypes.c_void_p
    return library


def _add(library: ctypes.CDLL, context: ctypes.c_void_p, rule: Rule) -> None:
    number = library.seccomp_syscall_resolve_name(rule.call.encode())
    if number == UNKNOWN_CALL:
        return  # of another architecture, or newer than the library and then cut off below
    comparisons = (_Comparison * 1)()
    if rule.argument is not None:
        comparisons[0] = _Comparison(rule.argument, rule.operation, rule.first, rule.second)
    count = 0 if rule.argument is None else 1
    action = ctypes.c_uint32(ERRNO | rule.error)
    result = library.seccomp_rule_add_array(context, action, number, ctypes.c_uint(count), comparisons)
    if result < 0:
        raise SandboxError(f"libseccomp refuses the rule {rule}: {os.strerror(-result)}; update it.")


def _exported(library: ctypes.CDLL, context: ctypes.c_void_p) -> bytes:
    # In memory: a full disk must not keep the sandbox from starting.
    with open(os.memfd_create("seccomp"), "w+b") as out:
        result = library.seccomp_export_bpf(context, out.fileno())
        if result < 0:
            raise SandboxError(f"libseccomp cannot write its program: {os.strerror(-result)}; update it.")
        out.seek(0)
        return out.read()


def _newer_calls_do_not_exist() -> bytes:
    """Instructions to stand before a program: calls numbered above the newest one fail as on an older kernel."""
    instructions = (
        (LOAD_WORD, 0, 0, 0),  # the number of the call
        (JUMP_IF_AT_LEAST, 0, 1, NEWEST_CALL + 1),
        (RETURN, 0, 0, ERRNO | errno.ENOSYS),
    )
    return b"".join(BPF_INSTRUCTION.pack(*instruction) for instruction in instructions)
