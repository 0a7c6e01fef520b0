"""Processes that share memory: what they do to themselves is not done to the one that started them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.available import need_namespaces
from torl.sandbox.isolation import INSIDE

BEGIN = f"import os, sys; sys.path.insert(0, {str(INSIDE.parent)!r})\nfrom inside import birth, kernel\n"


def output_of(code: str) -> str:
    """What a process with one thread prints, which runs ``code``."""
    done = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_call_in_another_process_changes_this_ones_memory_and_not_its_namespaces() -> None:
    need_namespaces()
    code = (
        "namespace, seen = os.readlink('/proc/self/ns/user'), []\n"
        "def function():\n"
        "    kernel._checked(kernel.libc.unshare(kernel.CLONE_NEWUSER), 'unshare')\n"
        "    seen.append((os.getpid() != me, os.readlink('/proc/self/ns/user') != namespace))\n"
        "me = os.getpid()\n"
        "kernel.call_in_another_process(function, kernel.Stack(1 << 20))\n"
        "print(seen, os.getpid() == me, os.readlink('/proc/self/ns/user') == namespace)\n"
    )
    assert output_of(code) == "[(True, True)] True True\n"


@pytest.mark.parametrize("error", ["OSError", "KeyboardInterrupt"])
def test_what_it_raises_is_raised_here(error: str) -> None:
    code = (
        f"def function(): raise {error}('words')\n"
        "try:\n    kernel.call_in_another_process(function, kernel.Stack(1 << 20))\n"
        f"except {error} as error: print(error)\n"
    )
    assert output_of(code) == "words\n"


def test_a_stack_that_is_too_small_is_a_crash_and_not_someone_elses_memory() -> None:
    code = "stack = kernel.Stack(1 << 16)\nimport ctypes\nctypes.memset(stack.top.value - (1 << 16), 1, 1)\n"
    done = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, timeout=60)
    assert done.returncode == -11


def test_a_hundred_cells_in_turn_need_no_more_memory_than_three() -> None:
    need_namespaces()
    code = (
        "place = birth.Birthplace(kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID)\n"
        "def one():\n"
        "    born = place.fork(lambda: os._exit(7))\n"
        "    status = os.waitstatus_to_exitcode(os.waitpid(born.pid, 0)[1])\n"
        "    born.anchor.kill(); os.close(born.pidfd)\n"
        "    place.bury(born.anchor)\n"
        "    return status\n"
        "def mappings(): return len(open('/proc/self/maps').readlines())\n"
        "one(); one(); before, files = mappings(), len(os.listdir('/proc/self/fd'))\n"
        "assert all(one() == 7 for _ in range(100))\n"
        "print(mappings() - before, len(os.listdir('/proc/self/fd')) - files)\n"
    )
    assert output_of(code) == "0 0\n"


def test_the_child_is_number_two_and_ends_with_the_anchor(tmp_path: Path) -> None:
    need_namespaces()
    code = (
        "import time\n"
        "read, write = os.pipe()\n"
        "def live():\n    os.write(write, str(os.getpid()).encode())\n    time.sleep(60)\n"
        "born = birth.Birthplace(kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID).fork(live)\n"
        "number = os.read(read, 9).decode()\n"
        "born.anchor.kill()\n"
        "print(number, os.waitstatus_to_exitcode(os.waitpid(born.pid, 0)[1]))\n"
    )
    assert output_of(code) == "2 -9\n"


def test_a_birth_that_the_kernel_refuses_is_an_error_and_leaves_nothing() -> None:
    need_namespaces()
    code = (
        "place = birth.Birthplace(kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID)\n"
        "def refuse(*_): raise BlockingIOError(11, 'no process is left')\n"
        "fork, pidfd_open = os.fork, os.pidfd_open\n"
        "def attempt():\n"
        "    try: place.fork(lambda: os._exit(0))\n"
        "    except OSError as error: return error.strerror\n"
        "def state():\n"
        "    children = open(f'/proc/self/task/{os.getpid()}/children').read()\n"
        "    return len(os.listdir('/proc/self/fd')), children, len(place._free_stacks)\n"
        "os.fork = refuse\n"
        "attempt(); before = state()\n"
        "print(attempt(), state() == before)\n"
        "os.fork, os.pidfd_open = fork, refuse\n"
        "print(attempt(), state() == before)\n"
    )
    assert output_of(code) == "no process is left True\n" * 2


def test_a_process_that_is_killed_in_a_call_ends_the_one_whose_memory_it_shared() -> None:
    code = "kernel.call_in_another_process(lambda: os.kill(os.getpid(), 9), kernel.Stack(1 << 20))\nprint('went on')\n"
    done = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, timeout=60)
    assert (done.returncode != 0, done.stdout) == (True, "")
