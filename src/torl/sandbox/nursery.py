"""Keeps cells ready: starts the process that makes them, takes them from it, starts it again when it dies."""

import asyncio
import logging
import os
import select
import signal
import socket
import subprocess
import tempfile
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from torl.errors import SandboxError
from torl.sandbox.folders import remove_later, remove_surely
from torl.sandbox.isolation import Isolation

START_TIMEOUT_S = 60.0  # the packages are loaded in this time; about a second on an idle machine
RESTART_AFTER_S = 5.0  # a maker that did not come up is tried again so much later
LOG_TAIL_BYTES = 2000
DESCRIPTORS = 5
MESSAGE_BYTES = 4096

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The server's side of a prepared, isolated process that waits for one snippet."""

    connection: socket.socket
    """Takes one request; tells when its snippet begins and how it ended."""
    stdout: int
    stderr: int
    root: int
    """A pidfd; with this process everything in the cell ends."""
    process: int
    """A pidfd; the process that becomes the snippet."""
    folder: str
    """The working folder where it is one of the machine's; empty otherwise."""

    @property
    def usable(self) -> bool:
        """Whether it can take a snippet."""
        return not (_has_ended(self.root) or _has_ended(self.process))

    def kill(self) -> None:
        """End everything in it."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.root, signal.SIGKILL)

    def close(self) -> None:
        """Give back what the cell holds; ends what still runs in it."""
        self.kill()
        self.connection.close()
        for descriptor in (self.stdout, self.stderr, self.root, self.process):
            os.close(descriptor)
        if self.folder:
            remove_later(self.folder)


def _has_ended(pidfd: int) -> bool:
    watched = select.poll()
    watched.register(pidfd, select.POLLIN)
    return bool(watched.poll(0))


class Nursery:
    """Cells of one isolation, ``size`` of them ready at any time; belongs to one event loop."""

    def __init__(self, isolation: Isolation, size: int) -> None:
        self.isolation = isolation
        self.restarts = 0
        """How often the maker of cells died and was started again."""
        self._size = size
        self._ready: deque[Cell] = deque()
        self._waiting: deque[asyncio.Future[Cell]] = deque()
        self._resources = ExitStack()
        self._scratch = "" if isolation.folders_in_memory else tempfile.mkdtemp(prefix="torl-sandbox-")
        if self._scratch:
            self._resources.callback(remove_surely, self._scratch)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._log = self._resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 -- closed with the rest
        self._to_ask = 0
        self._came_up = False
        self._problem = ""
        self._closed = False

    async def start(self) -> None:
        """Start the maker and wait for the first cell.

        Raises:
            SandboxError: there is none; the message has the reason.
        """
        if self.isolation.as_root and self._scratch:
            os.chmod(self._scratch, 0o777)  # for the user that the maker becomes
        try:
            self._start()
            async with asyncio.timeout(START_TIMEOUT_S):
                cell = await self._next()
        except TimeoutError as error:
            raise SandboxError(f"no cell was ready within {START_TIMEOUT_S:.0f} s") from error
        self._ready.append(cell)

    async def take(self) -> Cell:
        """The next cell, which the caller closes; another one is made in its place.

        Raises:
            SandboxError: cells cannot be made.
        """
        if self._problem:
            raise SandboxError(self._problem)
        while self._ready:
            self._ask(1)
            cell = self._ready.popleft()
            if cell.usable:
                return cell
            cell.close()
        self._ask(1)
        return await self._next()

    def close(self) -> None:
        """End the maker and every cell."""
        self._closed = True
        self._stop()
        for future in self._waiting:
            if not future.done():
                future.set_exception(SandboxError("the sandbox is shutting down"))
        while self._ready:
            self._ready.popleft().close()
        self._resources.close()

    async def _next(self) -> Cell:
        """The next cell that is made."""
        future: asyncio.Future[Cell] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                future.result().close()  # it came in the moment of giving up
            raise

    def _ask(self, count: int) -> None:
        self._to_ask += count
        if self._control is not None and self._to_ask:
            # A maker that is behind is asked again when it is heard of; its end is noticed where it is read from.
            with suppress(OSError):
                self._control.send(b"+" * self._to_ask)
                self._to_ask = 0

    def _start(self) -> None:
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError as error:
            raise SandboxError(f"the maker of cells cannot be started: {error}") from error
        with theirs:
            command = self.isolation.command(theirs.fileno(), self._scratch)
            try:
                self._process = subprocess.Popen(
                    command.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._log,
                    env=command.environment,
                    cwd="/",
                    user=command.user,
                    group=command.user,
                    extra_groups=None if command.user is None else [],
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise SandboxError(f"{command.argv[0]} cannot be started: {error}") from error
        ours.setblocking(False)
        self._control = ours
        self._came_up = False
        self._to_ask = 0
        self._ask(self._size + len(self._waiting))
        asyncio.get_running_loop().add_reader(ours, self._read)

    def _stop(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _read(self) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, DESCRIPTORS)
        except BlockingIOError:
            return
        except ConnectionError:
            message, descriptors = b"", []
        kind, _, text = message.decode("utf-8", "replace").partition(" ")
        match kind:
            case "ready":
                self._came_up, self._problem = True, ""
            case "cell":
                self._put(descriptors, text)
                self._ask(0)
            case "error":
                self._came_up, self._problem = False, text
            case _:
                self._maker_ended()

    def _put(self, descriptors: list[int], folder: str) -> None:
        if len(descriptors) != DESCRIPTORS:
            logger.warning("a cell was lost: this process may not have more open files")
            for descriptor in descriptors:
                os.close(descriptor)
            asyncio.get_running_loop().call_later(RESTART_AFTER_S, self._ask, 1)
            return
        connection, stdout, stderr, root, process = descriptors
        for descriptor in descriptors:
            os.set_blocking(descriptor, False)
        cell = Cell(
            connection=socket.socket(fileno=connection),
            stdout=stdout,
            stderr=stderr,
            root=root,
            process=process,
            folder=folder if self._scratch else "",
        )
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(cell)
                return
        if len(self._ready) < self._size:
            self._ready.append(cell)
        else:
            cell.close()  # whoever it was made for has gone

    def _maker_ended(self) -> None:
        code = self._process.wait() if self._process is not None else None
        self._stop()
        if self._closed:
            return
        logger.warning("the maker of cells ended (exit code %s) and is started again", code)
        self.restarts += 1
        while self._ready:
            self._ready.popleft().close()
        if self._came_up:
            self._start_again()
        else:
            self._fail(self._problem or self._log_tail() or f"the maker of cells ended at its start (exit code {code})")
            asyncio.get_running_loop().call_later(RESTART_AFTER_S, self._start_again)

    def _start_again(self) -> None:
        if self._closed:
            return
        try:
            self._start()
        except SandboxError as error:
            self._fail(str(error))
            asyncio.get_running_loop().call_later(RESTART_AFTER_S, self._start_again)

    def _fail(self, problem: str) -> None:
        self._problem = problem
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(SandboxError(problem))

    def _log_tail(self) -> str:
        self._log.seek(0)
        return self._log.read()[-LOG_TAIL_BYTES:].decode("utf-8", "replace").strip()
