"""Starts a sandbox beside a job and takes it away again, whatever happens to the job."""

import logging
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import torl
from torl.errors import SandboxError
from torl.sandbox.addresses import resolve
from torl.sandbox.isolation import IsolationKind

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
LOG_TAIL_CHARACTERS = 2000

logger = logging.getLogger(__name__)


@contextmanager
def running_sandbox(
    *,
    workers: int | None = None,
    allow_unsafe: bool = False,
    log_path: Path | str | None = None,
    options: Sequence[str] = (),
) -> Iterator[str]:
    """Run a sandbox on a free port of the loopback and yield its address once it has run a snippet.

    ``workers`` defaults to the number of cores; ``log_path`` takes the server's log, which is dropped otherwise;
    ``options`` are further ones of ``python -m torl.sandbox serve``. The server is started afresh with an environment
    of its own, never forked from the caller, and ends with the block or with the caller's process, killed or not.

    Raises:
        SandboxError: it did not come up, or did not live to the end of the block; the message has the reason.
    """
    with _started([*_options(workers, allow_unsafe), *options], log_path) as sandbox:
        yield sandbox.urls[0]
        sandbox.require_alive()


@dataclass(frozen=True, kw_only=True)
class Sandboxes:
    """The sandboxes of a job."""

    urls: list[str]
    """Their addresses."""
    process: subprocess.Popen[str] | None = None
    """The one that the job started itself."""

    def require_alive(self) -> None:
        """Look whether the sandbox that the job started still runs.

        Raises:
            SandboxError: it has ended.
        """
        if self.process is not None and self.process.poll() is not None:
            raise SandboxError(
                f"the sandbox of this job ended before the job (exit code {self.process.returncode}), so that calls fail that "
                "have nothing wrong; look at the machine's memory and the sandbox's log, then start the job again: it resumes."
            )


@contextmanager
def _started(options: Sequence[str], log_path: Path | str | None) -> Iterator[Sandboxes]:
    with ExitStack() as resources:
        log = resources.enter_context(_log_file(log_path))
        process = _start(options, log)
        resources.callback(_stop, process)
        yield Sandboxes(urls=[_ready_address(process, log)], process=process)


@contextmanager
def sandboxes(
    url: str | Sequence[str] | None,
    *,
    workers: int | None = None,
    allow_unsafe: bool = False,
    log_path: Path | str | None = None,
) -> Iterator[Sandboxes]:
    """Yield the configured sandboxes, or one started for the length of the block when there are none.

    Raises:
        SandboxError: no sandbox came up, none is announced in a configured folder, or the one started did not live to the
            end of the block.
    """
    if url:
        yield Sandboxes(urls=resolve(url, patience_s=START_TIMEOUT_S))
        return
    with _started(_options(workers, allow_unsafe), log_path) as started:
        yield started
        started.require_alive()


def _options(workers: int | None, allow_unsafe: bool) -> list[str]:
    return [*(["--workers", str(workers)] if workers else []), *(["--allow-unsafe"] if allow_unsafe else [])]


def _start(options: Sequence[str], log: TextIO) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "torl.sandbox", "serve", "--port", "0", "--until-stdin-closes", *options]
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": str(Path(torl.__file__).parents[1]),
        "LANG": "C.UTF-8",
    }
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=environment,
        cwd="/",
        start_new_session=True,  # Ctrl-C reaches the job first, which still needs its sandbox to finish
    )


def _log_file(path: Path | str | None) -> TextIO:
    return tempfile.TemporaryFile("w+") if path is None else Path(path).open("w+", encoding="utf-8")


def _ready_address(process: subprocess.Popen[str], log: TextIO) -> str:
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        line = process.stdout.readline() if selector.select(START_TIMEOUT_S) else ""
    if line.startswith("ready: "):
        if IsolationKind.LIMITS_ONLY in line:
            logger.warning("the sandbox does NOT isolate: snippets can read your files, use the network, see processes")
        elif IsolationKind.LANDLOCK in line:
            logger.warning("no user namespaces here: the sandbox isolates by Landlock; snippets see names of files")
        return line.split()[1]
    log.seek(0)
    raise SandboxError(f"the sandbox did not start: {log.read()[-LOG_TAIL_CHARACTERS:].strip() or 'it said nothing'}")


def _stop(process: subprocess.Popen[str]) -> None:
    process.stdin.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()  # its snippets are bound to its life and end with it
        process.wait()
    process.stdout.close()
