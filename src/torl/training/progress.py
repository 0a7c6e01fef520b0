"""A line per training step on stderr, with the time that is left."""

import json
import sys
import time
from pathlib import Path


class Progress:
    """Reads the metrics file of a running trainer."""

    def __init__(self, metrics: Path, steps: int) -> None:
        self._metrics = metrics
        self._steps = steps
        self._offset = 0
        self._first: tuple[int, float] | None = None

    def show(self) -> None:
        """Write a line for every step that is new."""
        if not self._metrics.exists():
            return
        with self._metrics.open("rb") as lines:
            lines.seek(self._offset)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                row = json.loads(line)
                sys.stderr.write(self.describe(row["step"], row["data"], time.monotonic()) + "\n")
        sys.stderr.flush()

    def describe(self, step: int, data: dict[str, float], now: float) -> str:
        """The line for ``step``; the estimate is from the steps seen so far."""
        self._first = self._first or (step, now)
        done = step - self._first[0]
        left = (now - self._first[1]) / done * (self._steps - step) if done else None
        estimate = f", about {left:.0f} s left" if left is not None else ""
        reward, seconds = data.get("critic/score/mean", float("nan")), data.get("timing_s/step", float("nan"))
        return f"step {step}/{self._steps}: mean reward {reward:+.2f}, {seconds:.1f} s a step{estimate}"
