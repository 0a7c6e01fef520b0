"""Makes cells when the server asks for one, and tells it how each one ended."""

import os
import select
import signal
import socket
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial

from . import cell, fences, kernel, wire
from .birth import Anchor, Birthplace, Born
from .interpreter import close_all_but

COMMAND_BYTES = 4096
LIMITS_ONLY = 3
RETRY_S = 0.1  # after the kernel has refused a process or a descriptor
PATIENCE_S = 20.0  # so long it may refuse; the snippets that run are lost with this process


@dataclass(frozen=True, kw_only=True)
class _Living:
    born: Born
    connection: socket.socket
    """The cell's end, for the last word."""


class Maker:
    """The work of the zygote, from its first cell on."""

    def __init__(self, control: socket.socket, settings: fences.Settings, birthplace: Birthplace, scratch: str) -> None:
        self._control = control
        self._settings = settings
        self._birthplace = birthplace
        self._scratch = scratch
        self._count = 0
        self._owed = 0
        self._pause: float | None = None
        self._refused_since: float | None = None
        self._made_one = False
        self._living: dict[int, _Living] = {}
        self._anchors: dict[int, Anchor] = {}
        self._events = select.epoll()
        self._events.register(control, select.EPOLLIN)

    def work(self) -> None:
        """Make cells and watch them until the server has gone."""
        while True:
            for descriptor, _ in self._events.poll(self._pause):
                if descriptor == self._control.fileno():
                    commands = self._control.recv(COMMAND_BYTES)
                    if not commands:
                        self._kill_all()
                        return
                    self._owed += len(commands)
                elif descriptor in self._living:
                    self._ended(descriptor)
                else:
                    self._events.unregister(descriptor)
                    self._birthplace.bury(self._anchors.pop(descriptor))
            if self._owed:
                self._make_or_wait()

    def _make_or_wait(self) -> None:
        """Make one of the cells that are owed; where the kernel refuses, for it may have other users, a little later."""
        try:
            self._make()
        except OSError as error:
            now = time.monotonic()
            self._refused_since = self._refused_since or now
            if not self._made_one or now - self._refused_since > PATIENCE_S:
                self._control.send(f"error {error}".encode())
                sys.exit(1)
            self._pause = RETRY_S
        else:
            self._made_one, self._refused_since = True, None
            self._owed -= 1
            self._pause = 0 if self._owed else None

    def _make(self) -> None:
        self._count += 1
        folder = os.path.join(self._scratch, f"{os.getpid()}-{self._count}")
        with ExitStack() as resources:
            server, own = map(resources.enter_context, socket.socketpair())
            out_read, out_write = _pipe(resources)
            err_read, err_write = _pipe(resources)
            ends = cell.Ends(connection=own, stdout=out_write, stderr=err_write)
            born = self._birthplace.fork(partial(self._live, ends, folder))
            self._watch(born, socket.socket(fileno=own.detach()))
            self._hand_over(born, folder, [server.fileno(), out_read, err_read])

    def _hand_over(self, born: Born, folder: str, ends: list[int]) -> None:
        ending = born.anchor.pidfd if born.anchor else born.pidfd
        try:
            socket.send_fds(self._control, [f"cell {folder}".encode()], [*ends, ending, born.pidfd])
        except ConnectionError:
            pass  # the server has gone, which is noticed where it is read from
        except OSError:
            signal.pidfd_send_signal(born.pidfd, signal.SIGKILL)
            raise

    def _live(self, ends: cell.Ends, folder: str) -> None:
        # What else this process has open are other cells' connections.
        close_all_but(ends.connection.fileno(), ends.stdout, ends.stderr)
        cell.live(ends, fences.fence_of(self._settings, folder))

    def _watch(self, born: Born, connection: socket.socket) -> None:
        self._living[born.pidfd] = _Living(born=born, connection=connection)
        self._events.register(born.pidfd, select.EPOLLIN)
        if born.anchor:
            self._anchors[born.anchor.pidfd] = born.anchor
            self._events.register(born.anchor.pidfd, select.EPOLLIN)

    def _ended(self, pidfd: int) -> None:
        """Take away all that is left of a cell whose process has ended, and say how it did."""
        at = time.monotonic()
        living = self._living.pop(pidfd)
        anchor = living.born.anchor
        # A kernel that ends the anchor ends this process before it.
        killed_from_outside = anchor is not None and kernel.is_ending(anchor.pid)
        if anchor is not None:
            anchor.kill()
        _, status, usage = os.wait4(living.born.pid, 0)
        if self._settings.tier == LIMITS_ONLY:
            self._kill_orphans()
        ending = {
            "return_code": os.waitstatus_to_exitcode(status),
            "killed_from_outside": killed_from_outside,
            "at": at,
            "cpu": usage.ru_utime + usage.ru_stime,
        }
        with suppress(OSError):  # the server has closed it
            living.connection.send(wire.framed(ending), socket.MSG_DONTWAIT)
        living.connection.close()
        self._events.unregister(pidfd)
        os.close(pidfd)

    def _kill_all(self) -> None:
        for living in self._living.values():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(living.born.pidfd, signal.SIGKILL)
            os.waitpid(living.born.pid, 0)
        self._living.clear()
        if self._settings.tier == LIMITS_ONLY:
            self._kill_orphans()

    def _kill_orphans(self) -> None:
        """Whatever a snippet left behind, one generation at a time: its orphans become children of this process."""
        cells = {living.born.pid for living in self._living.values()}
        while orphans := _children() - cells:
            for pid in orphans:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _pipe(resources: ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for descriptor in ends:
        resources.callback(os.close, descriptor)
    return ends


def _children() -> set[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as names:
        return {int(name) for name in names.read().split()}
