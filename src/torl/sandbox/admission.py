"""Who runs next: a bounded queue in front of a fixed number of places, shared fairly between clients.

Clients take turns, however many requests each of them has waiting, and one client alone can fill only a part of the
queue.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


class Refused(Exception):
    """A request that does not get a place now; ``status`` is that of its HTTP reply."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(kw_only=True)
class FairQueue:
    """Gives out ``places``; belongs to one event loop."""

    places: int
    limit: int
    """Requests that may wait, of all clients together."""
    client_limit: int
    """Requests that one client may have waiting."""
    longest_wait_s: float
    """After this time a waiting request is refused."""
    _free: int = field(init=False)
    _turns: OrderedDict[str, deque[asyncio.Future[None]]] = field(init=False, default_factory=OrderedDict)
    """What each client has waiting; the first client is the next."""

    def __post_init__(self) -> None:
        self._free = self.places

    @property
    def waiting(self) -> int:
        """Requests that wait for a place."""
        return sum(map(len, self._turns.values()))

    @property
    def busy(self) -> int:
        """Places that are taken."""
        return self.places - self._free

    @asynccontextmanager
    async def place(self, client: str) -> AsyncIterator[float]:
        """Hold a place for the length of the block; yields the seconds that it was waited for.

        Raises:
            Refused: the queue is full, the client has its share of it, or the wait was too long.
        """
        asked = time.monotonic()
        if self._free:
            self._free -= 1
        else:
            await self._wait(client)
        try:
            yield time.monotonic() - asked
        finally:
            self._pass_on()

    async def _wait(self, client: str) -> None:
        self._require_room(client)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turns.setdefault(client, deque()).append(turn)
        try:
            async with asyncio.timeout(self.longest_wait_s):
                await turn
        except BaseException as error:
            self._leave(client, turn)
            if isinstance(error, TimeoutError):
                raise Refused(503, f"no place became free within {self.longest_wait_s:g} s") from error
            raise

    def _require_room(self, client: str) -> None:
        if self.waiting >= self.limit:
            raise Refused(503, f"{self.waiting} snippets are waiting and the queue takes {self.limit}")
        own = len(self._turns.get(client, ()))
        if own >= self.client_limit:
            raise Refused(429, f"this client has {own} snippets waiting and may have {self.client_limit}")

    def _leave(self, client: str, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            self._pass_on()  # the place came in the moment of leaving
            return
        turns = self._turns.get(client)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._turns[client]

    def _pass_on(self) -> None:
        """Give a free place to the next client in turn."""
        while self._turns:
            client, turns = self._turns.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._turns[client] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
