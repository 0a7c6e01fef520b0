"""A snippet to run, and what came of running it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from torl.sandbox.limits import Limits


class RunStatus(StrEnum):
    """How a run ended, in the words of SandboxFusion's contract."""

    FINISHED = "Finished"
    """The snippet ended by itself, well or not: see the return code."""
    TIME_LIMIT = "TimeLimitExceeded"
    """The snippet was ended at its time-out."""
    ERROR = "Error"
    """The sandbox could not run the snippet."""


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """Code to run and what goes with it."""

    code: str
    stdin: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Content by path below the working folder."""
    fetch_files: Sequence[str] = ()
    """Paths below the working folder to read after the run; missing ones are left out."""
    limits: Limits = field(default_factory=Limits)


@dataclass(kw_only=True)
class RunResult:
    """What came of a run."""

    status: RunStatus
    stdout: str = ""
    stderr: str = ""
    return_code: int | None = None
    """None unless the status is FINISHED; -N for death by signal N."""
    seconds: float = 0.0
    """Wall time from the first instruction of the snippet."""
    cpu_seconds: float = 0.0
    """Processor time of the snippet's own process."""
    truncated: bool = False
    """Whether more was printed than is kept."""
    output_bytes: int = 0
    """Bytes printed to stdout and stderr, kept or not."""
    files: dict[str, bytes] = field(default_factory=dict)
    error: str = ""
    """Why the sandbox could not run the snippet; empty unless the status is ERROR."""
