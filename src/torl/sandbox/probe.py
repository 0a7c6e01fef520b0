"""Finds out, by running a snippet, which isolation works on this machine."""

import os
import platform
import shutil

from torl.errors import SandboxError
from torl.sandbox.inside import kernel, landlock
from torl.sandbox.isolation import Isolation, IsolationKind
from torl.sandbox.pool import Pool, default_workers

MISSING = (
    "snippets cannot be isolated here{reasons}\nFor tier 1 install bubblewrap (`apt install bubblewrap` or your "
    "distribution's package) and allow user namespaces; or set `sandbox.url` to a running SandboxFusion, or accept "
    "resource limits alone (a snippet can then read your files) with --allow-unsafe, in the workflow "
    "sandbox.allow_unsafe: true."
)


async def started_pool(*, count: int | None = None, allow_unsafe: bool = False, tier: int | None = None) -> Pool:
    """A pool with the strongest isolation that works on this machine, or with that of ``tier``; has run a snippet.

    ``count`` defaults to the number of cores.

    Raises:
        SandboxError: nothing works, or only tier 3 and ``allow_unsafe`` is false; the message says what each tier
        lacks.
    """
    reasons = ""
    for kind in IsolationKind:
        if tier not in (None, kind.tier):
            continue
        if kind is IsolationKind.LIMITS_ONLY and not allow_unsafe:
            continue
        reason = missing_part(kind)
        if not reason:
            pool = Pool(isolation_of(kind), count or default_workers())
            reason = await _reason_not_to_use(pool)
            if not reason:
                return pool
        reasons += f"\n  tier {kind.tier} ({kind}): {reason}"
    raise SandboxError(MISSING.format(reasons=reasons))


def isolation_of(kind: IsolationKind) -> Isolation:
    """``kind`` as this user can have it on this machine."""
    return Isolation(kind=kind, bwrap=shutil.which("bwrap") or "", as_root=os.geteuid() == 0)


def missing_part(kind: IsolationKind) -> str:
    """What this machine obviously lacks for ``kind``; empty when it is worth a try."""
    if kind is IsolationKind.LIMITS_ONLY:
        return ""
    if platform.machine() not in kernel.KILL_TKILL_TGKILL_NUMBERS:
        return f"made for {', '.join(kernel.KILL_TKILL_TGKILL_NUMBERS)}, this is {platform.machine()}"
    if kind is IsolationKind.NAMESPACES and shutil.which("bwrap") is None:
        return "bubblewrap (bwrap) is not on the PATH"
    if kind is IsolationKind.LANDLOCK and not landlock.version():
        return "the kernel has no Landlock, or a filter forbids it"
    return ""


async def _reason_not_to_use(pool: Pool) -> str:
    try:
        await pool.start()
        problem = (await pool.health())["problem"]
    except SandboxError as error:
        problem = str(error)
    if problem:
        pool.close()
    return problem
