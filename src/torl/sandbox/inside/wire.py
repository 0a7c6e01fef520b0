"""Messages between the server and the processes inside: JSON behind its length in four bytes, over a stream socket."""

import json
import socket
import struct
from typing import Any

LENGTH = struct.Struct("!I")


def framed(message: dict[str, Any]) -> bytes:
    """``message`` as bytes to send."""
    body = json.dumps(message).encode()
    return LENGTH.pack(len(body)) + body


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """The next message; None when the other side has closed."""
    head = _exactly(connection, LENGTH.size)
    body = _exactly(connection, LENGTH.unpack(head)[0]) if head is not None else None
    return None if body is None else json.loads(body)


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
