"""Reads one stream of a cell as it comes, so that a snippet never waits for a reader."""

import asyncio
import os

from torl.sandbox.capture import Capture

READ_BYTES = 64 * 1024
FAST_BYTES = 8 * 1024 * 1024  # a snippet that prints more is read with pauses, or it would keep the server busy
PAUSE_S = 0.001
LAST_READS = 64  # more than a pipe can hold, and not for ever, should somebody write after all


class Drain:
    """Keeps the beginning and the end of what ``descriptor`` gives, ``capacity`` bytes; starts at once."""

    def __init__(self, descriptor: int, capacity: int) -> None:
        self.capture = Capture(capacity)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._loop.add_reader(descriptor, self._read)

    def finish(self) -> None:
        """Read what is left when nobody writes any more."""
        self.stop()
        for _ in range(LAST_READS):
            if not self._take():
                return

    def stop(self) -> None:
        """Read no more."""
        self._loop.remove_reader(self._descriptor)
        if self._pause is not None:
            self._pause.cancel()

    def _read(self) -> None:
        if not self._take():
            self._loop.remove_reader(self._descriptor)
        elif self.capture.total > FAST_BYTES:
            self._loop.remove_reader(self._descriptor)
            self._pause = self._loop.call_later(PAUSE_S, self._loop.add_reader, self._descriptor, self._read)

    def _take(self) -> bool:
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return False
        self.capture.feed(data)
        return bool(data)
