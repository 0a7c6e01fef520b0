"""What is said over a cell's connection: by its process when the snippet begins, by the maker of cells when it ended."""

import asyncio
import json
import os
import socket
from collections.abc import Sequence
from typing import Any

from torl.sandbox.inside import files
from torl.sandbox.inside.wire import LENGTH

READ_BYTES = 4096
LARGEST_WORD_BYTES = 64 * 1024


async def readable(descriptor: int) -> None:
    """Wait until there is something to read."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    loop.add_reader(descriptor, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(descriptor)


class Words:
    """The words over ``connection`` in turn, and the snippet's folder, which the first one may bring along."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._data = bytearray()
        self._folders: list[int] = []

    async def next(self) -> dict[str, Any] | None:
        """The next word; None at the end. None is lost when waiting for it is given up.

        Raises:
            ValueError: there is one that cannot be read.
            OSError: the connection is broken.
        """
        while not self._complete():
            if not await self._receive():
                return None
        end = LENGTH.size + LENGTH.unpack_from(self._data)[0]
        word = json.loads(self._data[LENGTH.size : end])
        del self._data[:end]
        if not isinstance(word, dict):
            raise ValueError(f"a word is {word!r}")
        return word

    def fetched(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Files of the folder, to be asked for when nothing runs in it any more."""
        return files.fetch(self._folders[0], paths) if self._folders else {}

    def close(self) -> None:
        """Give back the folder."""
        while self._folders:
            os.close(self._folders.pop())

    def _complete(self) -> bool:
        if len(self._data) < LENGTH.size:
            return False
        length = LENGTH.unpack_from(self._data)[0]
        if length > LARGEST_WORD_BYTES:
            raise ValueError(f"a word of {length} bytes")
        return len(self._data) >= LENGTH.size + length

    async def _receive(self) -> bool:
        while True:
            try:
                data, folders, _, _ = socket.recv_fds(self._connection, READ_BYTES, 1)
            except BlockingIOError:
                await readable(self._connection.fileno())
                continue
            self._data += data
            self._folders += folders
            return bool(data)
