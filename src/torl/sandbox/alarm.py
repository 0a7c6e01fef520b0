"""Stops a run whose sandbox is broken, before the model learns that code does not pay.

Differs from ToRL: there, failed calls are shown to the model; in one public reproduction 61.7 % of the calls ended so.
"""

from collections import deque
from dataclasses import dataclass, field

from torl.errors import SandboxError


@dataclass
class FailureAlarm:
    """Counts failed calls; raises when their share of the last ``window`` is above ``threshold``, or ``in_a_row`` fail."""

    window: int = field(default=1000, kw_only=True)
    """Calls looked back on."""
    threshold: float = field(default=0.01, kw_only=True)
    """Largest share of failed calls that is still accepted."""
    minimum: int = field(default=100, kw_only=True)
    """Calls before the share may sound the alarm, so that one early failure does not stop a run."""
    in_a_row: int = field(default=8, kw_only=True)
    """Failures without a success between them that sound it at any time: a sandbox that is gone."""

    def __post_init__(self) -> None:
        self._recent: deque[bool] = deque(maxlen=self.window)
        self._running = 0

    @property
    def rate(self) -> float:
        """Share of failed calls in the window; 0.0 before the first call."""
        return sum(self._recent) / len(self._recent) if self._recent else 0.0

    def record(self, *, failed: bool) -> None:
        """Take note of one call.

        Raises:
            SandboxError: at least ``minimum`` calls were seen and more than ``threshold`` of the window failed, or ``in_a_row``
                calls failed one after another.
        """
        self._recent.append(failed)
        self._running = self._running + 1 if failed else 0
        many = len(self._recent) >= self.minimum and self.rate > self.threshold
        if failed and (many or self._running >= self.in_a_row):
            raise SandboxError(
                f"{sum(self._recent)} of the last {len(self._recent)} sandbox calls failed ({self.rate:.1%}; accepted: "
                f"{self.threshold:.1%}). Run `python -m torl.sandbox check URL` against the sandbox, look at its log "
                "and at the machine's memory and load, then start the run again: it resumes."
            )
