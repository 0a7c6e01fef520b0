"""Makes the calling process a fresh interpreter for one snippet: limits, streams, seeds, ``__main__``; then its end.

Everything is as for a script run by ``python -u``, but for what is preloaded and that the interpreter does not take
itself down at the end, which would cost more than most snippets.
"""

import atexit
import builtins
import io
import os
import resource
import signal
import sys
import threading
import types
from typing import Any, NoReturn

from . import files

SNIPPET_NAME = "snippet.py"
HIGHEST_DESCRIPTOR = 1 << 20  # no process may have more by default
MEMORY_TO_REPORT_IN = 64 * 1024 * 1024  # a snippet at its memory limit must still be able to print its traceback


def prepare(request: dict[str, Any], ends: Any, fence: Any, folder: str) -> str:
    """Make the calling process ready for the snippet of ``request``, with the streams of ``ends``, in ``folder``; of
    other descriptors it keeps only the connection of ``ends``. Returns the path of the code.

    Raises:
        OSError, ValueError: something cannot be made ready.
    """
    files.store(folder, request["files"])
    path = os.path.join(folder, SNIPPET_NAME)
    with open(path, "wb") as out:
        out.write(request["code"].encode("utf-8", "surrogatepass"))
    _connect(request["stdin"], ends, folder)
    _become_new(folder)
    limits = request["limits"]
    _take_limits(limits, fence.preloaded_bytes, limits["processes"] if fence.counts_processes else 0)
    return path


def run(code: str, path: str) -> NoReturn:
    """Run ``code`` and end as an interpreter does."""
    status = 1
    try:
        status = _run_as_main(code, path)
        status = _shut_down(status)
    finally:
        os._exit(status)


def close_all_but(*kept: int) -> None:
    """Close every descriptor above the standard ones that is not in ``kept``."""
    begin = 3
    for descriptor in sorted(kept):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, HIGHEST_DESCRIPTOR)


def _connect(stdin: str, ends: Any, folder: str) -> None:
    """Make the three standard streams new ones and close everything else but the connection."""
    source = os.open("/dev/null", os.O_RDONLY) if not stdin else _file_with(stdin, folder)
    os.dup2(source, 0)
    os.dup2(ends.stdout, 1)
    os.dup2(ends.stderr, 2)
    close_all_but(ends.connection.fileno())
    utf8 = {"encoding": "utf-8", "errors": "surrogateescape"}
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(open(0, "rb", closefd=False), **utf8)  # noqa: SIM115
    # Unbuffered, so that what a timed-out snippet printed is not lost.
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True, **utf8)
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(
        io.FileIO(2, "w", closefd=False), write_through=True, encoding="utf-8", errors="backslashreplace"
    )


def _file_with(text: str, folder: str) -> int:
    descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    with open(descriptor, "wb", closefd=False) as out:
        out.write(text.encode("utf-8", "surrogatepass"))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _become_new(folder: str) -> None:
    sys.path[0] = folder  # in place of the folder of this package
    # ``random`` has taken a new seed at the fork.
    if numpy := sys.modules.get("numpy"):
        # With a number: left to find one itself, numpy takes longer.
        numpy.random.seed(int.from_bytes(os.urandom(4)))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python has it


def _take_limits(limits: dict[str, int], preloaded: int, processes: int) -> None:
    memory = preloaded + limits["memory"]
    kinds = {
        resource.RLIMIT_AS: (memory, memory + MEMORY_TO_REPORT_IN),
        resource.RLIMIT_CPU: (limits["cpu"], limits["cpu"] + 1),
        resource.RLIMIT_FSIZE: (limits["file_size"],) * 2,
        resource.RLIMIT_NOFILE: (limits["open_files"],) * 2,
        # With 0 the machine's handler of core dumps, where it has one, is started all the same.
        resource.RLIMIT_CORE: (1, 1),
    }
    if processes:
        kinds[resource.RLIMIT_NPROC] = (processes, processes)
    for kind, values in kinds.items():
        resource.setrlimit(kind, values)


def _run_as_main(code: str, path: str) -> int:
    """Run ``code`` as a script; returns the exit code, having printed what Python prints."""
    module = types.ModuleType("__main__")
    module.__file__, module.__builtins__ = path, builtins
    sys.modules["__main__"] = module
    sys.argv = [path]
    try:
        exec(compile(code, path, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as leaving:
        return _exit_code(leaving.code)
    except BaseException as error:  # noqa: BLE001 -- whatever the snippet raised is reported as Python would
        if isinstance(error, MemoryError):
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        # The first frame is this file's; the model must see its own only.
        error = error.with_traceback(error.__traceback__.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


def _shut_down(status: int) -> int:
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # the snippet closed or replaced it
    return status
