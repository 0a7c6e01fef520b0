"""What one snippet may use."""

from dataclasses import dataclass

RUN_TIMEOUT_S = 10.0  # ToRL's time-out, and the default of SandboxFusion's contract


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one snippet; every process that it starts is bound by them as well."""

    run_timeout_s: float = RUN_TIMEOUT_S
    """Wall time in seconds from the start of execution."""
    memory_mb: int = 1024
    """Address space of a process in MiB. sympy needs about 300, numpy with one thread about 400."""
    disk_mb: int = 64
    """Size of the snippet's only writable folder, and of its largest file, in MiB."""
    open_files: int = 256
    processes: int = 64
    """Processes and threads together."""
    output_bytes: int = 64 * 1024
    """What is kept of stdout and of stderr each, half from the head and half from the tail."""
