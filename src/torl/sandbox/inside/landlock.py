"""Landlock: the files that this process and what it starts may reach, for ordinary users and without namespaces."""

import ctypes
import os
from collections.abc import Iterable

from .kernel import libc

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
RIGHTS_BY_VERSION = {
    1: 13,
    2: 14,
    3: 15,
    5: 16,
}  # how many of the file rights a kernel knows, from the given version on
NETWORK_SINCE, TCP = 4, 0b11
SCOPES_SINCE, ABSTRACT_SOCKETS_AND_SIGNALS = 6, 0b11
O_PATH = os.O_PATH | os.O_CLOEXEC


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Version of the kernel's Landlock; 0 where it has none."""
    return max(0, libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG))


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Allow reading and executing below ``readable``, everything below ``writable``, and nothing else.

    Raises:
        OSError: the kernel has no Landlock, or refuses.
    """
    has = version()
    every = (1 << max(count for since, count in RIGHTS_BY_VERSION.items() if since <= max(has, 1))) - 1
    rules = _Ruleset(
        every, TCP if has >= NETWORK_SINCE else 0, ABSTRACT_SOCKETS_AND_SIGNALS if has >= SCOPES_SINCE else 0
    )
    ruleset = _call(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), 0)
    for path in readable:
        _allow(ruleset, path, EXECUTE | READ_FILE | READ_DIR)
    for path in writable:
        _allow(ruleset, path, every)
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    folder = os.open(path, O_PATH)
    if not os.path.isdir(path):
        rights &= EXECUTE | READ_FILE | WRITE_FILE
    try:
        beneath = _Beneath(rights, folder)
        _call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(beneath), 0)
    finally:
        os.close(folder)


def _call(number: int, *arguments: object) -> int:
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock: {os.strerror(ctypes.get_errno())}")
    return result
