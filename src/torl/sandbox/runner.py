"""Runs one snippet in a fresh process and collects what it printed, whatever the snippet does.

The time-out counts from the first instruction of the snippet, not from the start of the process; output is drained to
the end and kept up to a limit; a time-out ends the whole namespace and keeps the output so far.

Differs from ToRL: an endless printer, a crash of the interpreter or a process left behind is an ordinary outcome here.
"""

import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from torl.sandbox.isolation import SNIPPET_NAME, Isolation, Job
from torl.sandbox.scratch import fetch
from torl.sandbox.snippet import RunResult, RunStatus, Snippet
from torl.sandbox.watch import Watch, kill_group


class Runner:
    """Runs snippets in the calling thread; several threads may use one runner, each with its own worker number."""

    def __init__(self, isolation: Isolation) -> None:
        self.isolation = isolation
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def run(self, snippet: Snippet, *, worker: int) -> RunResult:
        """Run ``snippet`` to its end or its time-out. Never raises for what the snippet does."""
        if snippet.limits.run_timeout_s <= 0:
            return RunResult(status=RunStatus.TIME_LIMIT)
        try:
            with ExitStack() as resources:
                return self._run(snippet, worker, resources)
        except OSError as error:
            return RunResult(status=RunStatus.ERROR, error=f"the snippet's process could not be started: {error}")

    def close(self) -> None:
        """End every snippet that is running; no further one starts."""
        with self._lock:
            self._closed = True
            for process in self._running:
                kill_group(process)

    def _run(self, snippet: Snippet, worker: int, resources: ExitStack) -> RunResult:
        scratch = self._scratch(snippet, resources)
        contents = {**snippet.files, SNIPPET_NAME: snippet.code.encode("utf-8", "surrogatepass")}
        files = [(path, resources.enter_context(_memory_file(data))) for path, data in contents.items()]
        stdin = resources.enter_context(_memory_file(snippet.stdin.encode("utf-8", "surrogatepass")))
        ours, theirs = socket.socketpair()
        resources.enter_context(ours)
        with theirs:
            job = Job(limits=snippet.limits, files=files, report_fd=theirs.fileno(), worker=worker, scratch=scratch)
            process = self._start(job, stdin)
        try:
            result = Watch(process, ours.fileno(), snippet.limits).until_end()
        finally:
            self._end(process)
        if scratch is not None:
            result.files = fetch(scratch, snippet.fetch_files)
        return result

    def _scratch(self, snippet: Snippet, resources: ExitStack) -> Path | None:
        if not (self.isolation.needs_scratch or snippet.fetch_files):
            return None
        private = resources.enter_context(
            tempfile.TemporaryDirectory(prefix="torl-snippet-", ignore_cleanup_errors=True)
        )
        folder = Path(private, "work")
        folder.mkdir()
        folder.chmod(0o777)  # the snippet may run under another user id; the folder around it stays private
        return folder

    def _start(self, job: Job, stdin: int) -> subprocess.Popen[bytes]:
        command = self.isolation.command(job)
        with self._lock:
            if self._closed:
                raise OSError("the sandbox is shutting down")
            process = subprocess.Popen(
                command.argv,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=command.cwd,
                env=command.environment,
                pass_fds=[job.report_fd, *(descriptor for _, descriptor in job.files)],
                start_new_session=True,
            )
            self._running.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        kill_group(process)
        process.wait()
        process.stdout.close()
        process.stderr.close()
        with self._lock:
            self._running.discard(process)


@contextmanager
def _memory_file(data: bytes) -> Iterator[int]:
    descriptor = os.memfd_create("torl")
    try:
        with open(descriptor, "wb", closefd=False) as out:
            out.write(data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
