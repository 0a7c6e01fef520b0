"""The first process of a snippet's own namespaces: fences itself in, waits for a snippet, runs it in a child, reports.

Made ahead of the request, for one snippet. As process 1 of its namespace it cannot be ended from inside, and when it
ends the kernel ends everything else in there. Its report says how the snippet ended; the snippet has no way to write
one.
"""

import base64
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import files, memory, wire
from .interpreter import run_snippet

LOOK_S = 0.05  # between looks at the memory of a snippet's processes
NOT_PREPARED = "!the snippet's process ended before it began"
LOOK_SHARE = 0.1  # of the time at most goes into looking


@dataclass(frozen=True, kw_only=True)
class Ends:
    """A cell's ends of its connections to the server."""

    connection: socket.socket
    stdout: int
    stderr: int


@dataclass(frozen=True, kw_only=True)
class Fence:
    """What a tier gives a cell."""

    close: Callable[[], str]
    """Fences the calling process in, for good; returns its working folder."""
    close_child: Callable[[], None]
    """What is left to do in the snippet's own process."""
    kill_all: Callable[[int], None]
    """Ends the snippet's process, whose id it is given, and those that the snippet started."""
    own_processes: bool
    """Whether /proc shows the cell's processes alone, and the kernel's process limit counts them alone."""
    preloaded_bytes: int
    """Address space that every process begins with."""


def live(ends: Ends, fence: Fence) -> None:
    """Run one snippet and report; returns when all is done or the server has gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        folder = fence.close()
        request = wire.receive(ends.connection)
        if request is None:
            return
        report = _run(request, ends, fence, folder)
    except (OSError, ValueError) as error:
        report = {"error": f"{type(error).__name__}: {error}"}
    ends.connection.sendall(wire.framed(report))


def _run(request: dict[str, Any], ends: Ends, fence: Fence, folder: str) -> dict[str, Any]:
    limits = request["limits"]
    begun, to_say = os.pipe()
    child = os.fork()
    if child == 0:
        run_snippet(request, ends, fence, folder, to_say)
    os.close(to_say)
    with open(begun, encoding="utf-8", errors="replace") as says:
        said = says.read() or NOT_PREPARED
    begin = time.monotonic() if said.startswith("!") else float(said)
    ending = _follow(
        child,
        ends.connection.fileno(),
        begin + request["timeout"],
        limits["memory"] if fence.own_processes else None,
    )
    seconds = time.monotonic() - begin
    status, usage = _end(child, fence)
    if said.startswith("!"):
        return {"error": said[1:]}
    return {
        "ending": ending,
        "return_code": os.waitstatus_to_exitcode(status),
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "files": {
            path: base64.b64encode(content).decode()
            for path, content in files.fetch(folder, request["fetch_files"]).items()
        },
    }


def _follow(child: int, server: int, deadline: float, memory_limit: int | None) -> str:
    """How the child ended: ``finished`` by itself, ``timed_out``, ``memory``, or ``abandoned`` by the server."""
    watched = select.poll()
    descriptor = os.pidfd_open(child)
    watched.register(descriptor, select.POLLIN)
    watched.register(server, select.POLLRDHUP)
    pause = LOOK_S
    try:
        while (left := deadline - time.monotonic()) > 0:
            if ready := watched.poll(1000 * min(left, pause)):
                return "finished" if (descriptor, select.POLLIN) in ready else "abandoned"
            looked = time.monotonic()
            if memory_limit is not None and memory.used_by_several(deadline) > memory_limit:
                return "memory"
            pause = max(LOOK_S, (time.monotonic() - looked) / LOOK_SHARE)
        return "timed_out"
    finally:
        os.close(descriptor)


def _end(child: int, fence: Fence) -> tuple[int, Any]:
    """End and collect everything; returns status and resource usage of ``child``."""
    fence.kill_all(child)
    _, status, usage = os.wait4(child, 0)
    while True:
        fence.kill_all(child)  # where there is no namespace, orphans turn up one generation at a time
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return status, usage
