"""The life of a cell's own process: fences itself in, waits for a snippet, says when it begins, becomes the snippet.

Made ahead of the request, for one snippet. How the snippet ended is told by the maker of cells, whose child this process
is; the snippet has no way to say anything in its place.
"""

import os
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from . import interpreter, wire


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
    counts_processes: bool
    """Whether the kernel's process limit counts the cell's processes alone."""
    preloaded_bytes: int
    """Address space that every process begins with."""


def live(ends: Ends, fence: Fence) -> NoReturn:
    """Fence this process in, wait for a request and become its snippet; ends at once when the server has gone."""
    try:
        folder = fence.close()
        if request := wire.receive(ends.connection):
            _run(request, ends, fence, folder)
    except ConnectionError:
        pass  # the server has gone
    except Exception:  # noqa: BLE001 -- a mistake of ours, for the server's log
        traceback.print_exc()
    finally:
        os._exit(1)


def _run(request: dict[str, Any], ends: Ends, fence: Fence, folder: str) -> None:
    try:
        path = interpreter.prepare(request, ends, fence, folder)
        begun = {"at": time.monotonic(), "cpu": time.process_time()}
        _say(ends.connection, begun, folder if request["fetch_files"] else "")
    except (OSError, ValueError) as error:
        _say(ends.connection, {"error": f"{type(error).__name__}: {error}"}, "")
        return
    ends.connection.close()
    interpreter.run(request["code"], path)


def _say(connection: socket.socket, message: dict[str, Any], folder: str) -> None:
    """Send ``message``, with a descriptor of ``folder``, if any, to fetch files from when all has ended."""
    descriptors = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY)] if folder else []
    socket.send_fds(connection, [wire.framed(message)], descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
