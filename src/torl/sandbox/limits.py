"""What one snippet may use."""

from dataclasses import dataclass

RUN_TIMEOUT_S = 10.0  # ToRL's time-out, and the default of SandboxFusion's contract


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one snippet; every process that it starts is bound by them as well."""

    run_timeout_s: float = RUN_TIMEOUT_S
    """Wall time in seconds from the start of execution."""
    memory_mb: int = 1024
    """What a process may take beyond what is preloaded, in MiB of address space; also what all processes of a snippet may
    use together."""
    disk_mb: int = 64
    """Size of the snippet's largest file, and of its only writable folder where that is in memory (tier 1), in MiB."""
    open_files: int = 256
    processes: int = 64
    """Processes and threads together."""
    output_bytes: int = 64 * 1024
    """What is kept of stdout and of stderr each, half from the head and half from the tail."""
