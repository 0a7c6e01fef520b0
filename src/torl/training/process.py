"""A training process that can be asked to stop, and that leaves nothing running behind it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from torl.killable import end_with_owner

POLL_S = 0.5
PATIENCE_S = 10.0  # between SIGTERM and SIGKILL


def run_stoppable(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    log: Path,
    stop_request: Path,
    progress: Callable[[], None],
    seconds: float | None = None,
) -> int:
    """Run ``command`` to its end, output to ``log``; returns its exit code.

    The first SIGINT or SIGTERM, or the end of ``seconds``, creates the file ``stop_request``, which the process is to look for; a
    second signal ends it. It gets a session of its own, so that Ctrl-C reaches the caller alone and everything it started can be
    ended together; it ends with the caller, however that ends. What ``progress`` raises ends it too.
    """
    deadline = time.monotonic() + seconds if seconds is not None else float("inf")
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            start_new_session=True,
            preexec_fn=end_with_owner,
        )
        with _signals_become_requests(stop_request, process):
            try:
                while process.poll() is None:
                    progress()
                    if time.monotonic() > deadline and not stop_request.exists():
                        stop_request.touch()
                        sys.stderr.write("the time of this job is nearly over: stopping after this step\n")
                    time.sleep(POLL_S)
                progress()
                return process.returncode
            finally:
                end_group(process)


@contextmanager
def _signals_become_requests(stop_request: Path, process: subprocess.Popen[bytes]) -> Iterator[None]:
    def request(number: int, frame: FrameType | None) -> None:
        if stop_request.exists():
            sys.stderr.write("stopping at once\n")
            os.killpg(process.pid, signal.SIGKILL)
        stop_request.touch()
        sys.stderr.write("stopping after this step; once more to stop at once\n")

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End the process and everything in its session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            process.poll()
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                return
            time.sleep(0.1)
