"""Keeps the head and the tail of a stream, however long the stream is."""

from collections import deque


class Capture:
    """Takes bytes without limit and keeps at most ``capacity`` of them: half from the head, half from the tail."""

    def __init__(self, capacity: int) -> None:
        self._head_room = capacity // 2
        self._tail_room = capacity - self._head_room
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0
        """Bytes seen."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        if len(self._head) < self._head_room:
            taken = self._head_room - len(self._head)
            self._head += data[:taken]
            data = data[taken:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_room:
            self._tail_size -= len(self._tail.popleft())

    @property
    def left_out(self) -> int:
        """Bytes that were seen and not kept."""
        return max(0, self.total - self._head_room - self._tail_room)

    def text(self) -> str:
        """What was kept, as text: undecodable bytes replaced, a line in the gap says how many bytes are missing."""
        tail = b"".join(self._tail)[-self._tail_room :]
        gap = f"\n[{self.left_out} bytes left out]\n".encode() if self.left_out else b""
        return (bytes(self._head) + gap + tail).decode("utf-8", "replace")
