"""What a server counts, and the page on which it says so."""

import time
from collections import Counter, deque
from dataclasses import dataclass, field

from torl.sandbox.snippet import RunResult, RunStatus

RATE_WINDOW_S = 60.0


@dataclass
class Metrics:
    """Counts since the start."""

    snippets: Counter[str] = field(default_factory=Counter)
    """Snippets by status."""
    refused: Counter[int] = field(default_factory=Counter)
    """Refused requests by HTTP status."""
    run_seconds: float = 0.0
    cpu_seconds: float = 0.0
    queue_seconds: float = 0.0
    truncated: int = 0
    _recent: deque[tuple[float, bool]] = field(default_factory=deque)

    def record(self, result: RunResult, *, waited: float) -> None:
        """Take note of one run."""
        self.snippets[str(result.status)] += 1
        self.run_seconds += result.seconds
        self.cpu_seconds += result.cpu_seconds
        self.queue_seconds += waited
        self.truncated += result.truncated
        self._recent.append((time.monotonic(), result.status is RunStatus.ERROR))
        self._forget()

    def rates(self) -> dict[str, float]:
        """Snippets a second, and the share of them that the sandbox could not run, over the last minute."""
        self._forget()
        failed = sum(error for _, error in self._recent)
        return {
            "snippets_per_second": len(self._recent) / RATE_WINDOW_S,
            "failed": failed / len(self._recent) if self._recent else 0.0,
        }

    def _forget(self) -> None:
        oldest = time.monotonic() - RATE_WINDOW_S
        while self._recent and self._recent[0][0] < oldest:
            self._recent.popleft()

    def page(self, gauges: dict[str, float]) -> str:
        """Everything in the text format that Prometheus reads; ``gauges`` are values of this moment by name."""
        lines = ["# TYPE torl_sandbox_snippets_total counter"]
        lines += [f'torl_sandbox_snippets_total{{status="{name}"}} {self.snippets[name]}' for name in RunStatus]
        lines += ["# TYPE torl_sandbox_refused_total counter"]
        lines += [f'torl_sandbox_refused_total{{status="{code}"}} {count}' for code, count in self.refused.items()]
        totals = {
            "run_seconds": self.run_seconds,
            "cpu_seconds": self.cpu_seconds,
            "queue_seconds": self.queue_seconds,
            "truncated": self.truncated,
        }
        for name, value in totals.items():
            lines += [f"# TYPE torl_sandbox_{name}_total counter", f"torl_sandbox_{name}_total {value:g}"]
        for name, value in (gauges | self.rates()).items():
            lines += [f"# TYPE torl_sandbox_{name} gauge", f"torl_sandbox_{name} {value:g}"]
        return "\n".join(lines) + "\n"
