"""The folder of one training run: checkpoints, trajectories, metrics, attempts.

It is never an output of a rule, so that a retry finds it. ``done.json`` elsewhere says that a run has finished.
"""

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from torl.errors import TrainerError
from torl.files import read_json, read_jsonl, write_jsonl
from torl.training.weights import copy_model

STOPPED = 85
"""Exit code of a run that stopped on request, its state saved."""

STEP_FILE = re.compile(r"step_(\d+)")


class RunDir:
    """Paths of a run and what may be asked of them."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).resolve()
        self.checkpoints = self.root / "checkpoints"
        self.trajectories = self.root / "trajectories"
        self.attempts = self.root / "attempts"
        self.metrics = self.root / "metrics.jsonl"
        self.stop_request = self.root / "stop"
        self.failure = self.root / "failure"

    @classmethod
    def named_by(cls, done: Path) -> "RunDir":
        """The run that a ``done.json`` tells of; its path there counts from the file's own folder.

        Raises:
            TrainerError: it is not there.
        """
        run = cls(done.parent / read_json(done)["run_dir"])
        if not run.root.is_dir():
            raise TrainerError(
                f"{done} tells of the run {run.root}, which is not there; move it back, or delete the file to train again."
            )
        return run

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process.

        Raises:
            TrainerError: another process holds it.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("a+") as handle:
            _lock(handle, self.root)
            try:
                yield
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)

    def forget_requests(self) -> None:
        """Remove what an earlier attempt was told or has noted."""
        self.stop_request.unlink(missing_ok=True)
        self.failure.unlink(missing_ok=True)

    def note_failure(self, error: Exception) -> None:
        """Leave a note that makes the trainer stop before it updates the policy."""
        self.failure.write_text(f"{type(error).__name__}: {error}", encoding="utf-8")

    def latest_step(self) -> int:
        """Step of the last complete checkpoint, 0 without one."""
        tracker = self.checkpoints / "latest_checkpointed_iteration.txt"
        return int(tracker.read_text()) if tracker.exists() else 0

    def checkpoint(self, step: int) -> Path:
        """Folder of the checkpoint after ``step``."""
        return self.checkpoints / f"global_step_{step}"

    def weights(self, step: int) -> Path:
        """The policy after ``step`` updates as a Hugging Face folder, for the steps that are evaluated."""
        return self.root / "weights" / f"step_{step}"

    def keep_weights(self, step: int) -> None:
        """Keep the weights of a checkpoint whose sharded state may be removed later."""
        copy_model(self.checkpoint(step) / "actor" / "huggingface", self.weights(step))

    def trajectory_file(self, step: int, writer: str) -> Path:
        """Where ``writer`` (a name unique to its process) puts the trajectories of the policy after ``step`` updates."""
        return self.trajectories / f"step_{step:06d}.{writer}.jsonl"

    def new_attempt(self) -> Path:
        """A fresh folder for the log and metrics of one attempt."""
        number = 1 + max((int(path.name) for path in self.attempts.glob("[0-9]*")), default=0)
        folder = self.attempts / f"{number:03d}"
        folder.mkdir(parents=True)
        return folder

    def rewind(self, step: int) -> None:
        """Forget trajectories and metrics of work after checkpoint ``step``: it will be done again."""
        for path in self.trajectories.glob("step_*.jsonl"):
            match = STEP_FILE.match(path.name)
            if match and int(match[1]) >= step:
                path.unlink()
        self.collect_metrics(step)

    def collect_metrics(self, last_step: int) -> None:
        """Merge the metrics of all attempts up to ``last_step`` into ``metrics.jsonl``; a later attempt wins."""
        by_step: dict[int, dict[str, object]] = {}
        for path in sorted(self.attempts.glob("*/metrics.jsonl")):
            for row in _complete_rows(path):
                if isinstance(row["step"], int) and row["step"] <= last_step:
                    by_step[row["step"]] = row
        write_jsonl(self.metrics, (by_step[step] for step in sorted(by_step)))


def _complete_rows(path: Path) -> Iterator[dict[str, object]]:
    """Rows of a metrics file whose last line may be cut off by a kill."""
    text = path.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        path.write_text(text, encoding="utf-8")
    yield from read_jsonl(path)


def _lock(handle: IO[str], root: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise TrainerError(
            f"{root} is in use by another training process; wait for it, or end it (scancel its job) and start again."
        ) from error
