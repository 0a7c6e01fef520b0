"""SandboxFusion's ``/run_code`` as data: the request's fields and the reply's.

Differs from the original: Python only; paths of files stay below the working folder; memory_limit_MB is honoured; the
reply's ``run_result`` has three further fields, ``truncated``, ``cpu_time`` and ``queue_time``, which its own client
ignores.
"""

import base64
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from torl.sandbox.limits import RUN_TIMEOUT_S, Limits
from torl.sandbox.snippet import RunResult, RunStatus, Snippet

LONGEST_RUN_S = 86400.0
MOST_MEMORY_MB = 1 << 22  # 4 TiB


def _is_text(value: Any) -> str:
    # pydantic's own str refuses lone surrogates, on which a model's code must fail as code and not as a request.
    if not isinstance(value, str):
        raise ValueError(f"is {type(value).__name__}, must be a string")
    return value


def _decoded(value: Any) -> bytes:
    if not isinstance(value, str | None):
        raise ValueError(f"is {type(value).__name__}, must be base64 or null")
    return base64.b64decode(value or "", validate=True)


def _is_below(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise ValueError(f"file path {path!r} leaves the working folder; give a relative path without '..'")
    return path


Text = Annotated[Any, AfterValidator(_is_text)]
RelativePath = Annotated[str, AfterValidator(_is_below)]
Content = Annotated[bytes, BeforeValidator(_decoded)]


class RunCodeRequest(BaseModel):
    """Body of POST /run_code; unknown fields are ignored, as by the original."""

    code: Text
    language: Literal["python"]
    compile_timeout: float = RUN_TIMEOUT_S
    """Accepted for compatibility; Python has no compilation step."""
    run_timeout: float = Field(default=RUN_TIMEOUT_S, le=LONGEST_RUN_S, allow_inf_nan=False)
    memory_limit_MB: int = Field(default=-1, le=MOST_MEMORY_MB)
    """-1: the server's own default."""
    stdin: Text | None = None
    files: dict[RelativePath, Content] = {}
    """Content in base64 by path below the working folder; null is an empty file."""
    fetch_files: list[str] = []

    def snippet(self) -> Snippet:
        """The snippet to run."""
        limits = Limits(run_timeout_s=self.run_timeout)
        if self.memory_limit_MB > 0:
            limits = Limits(run_timeout_s=self.run_timeout, memory_mb=self.memory_limit_MB)
        return Snippet(
            code=self.code, stdin=self.stdin or "", files=self.files, fetch_files=self.fetch_files, limits=limits
        )


def reply_of(result: RunResult, *, queue_seconds: float) -> dict[str, Any]:
    """The reply that says how ``result`` came out."""
    error = result.status is RunStatus.ERROR
    passed = result.status is RunStatus.FINISHED and result.return_code == 0
    return {
        "status": "SandboxError" if error else "Success" if passed else "Failed",
        "message": result.error,
        "compile_result": None,
        "run_result": {
            "status": str(result.status),
            "execution_time": None if error else result.seconds,
            "cpu_time": None if error else result.cpu_seconds,
            "return_code": result.return_code,
            "stdout": result.stdout,
            "stderr": result.stderr,
            "truncated": result.truncated,
            "queue_time": queue_seconds,
        },
        "executor_pod_name": None,
        "files": {path: base64.b64encode(content).decode() for path, content in result.files.items()},
    }
