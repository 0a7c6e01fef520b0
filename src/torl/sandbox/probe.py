"""Finds out, by running a snippet, which isolation works on this machine."""

import os
import shutil
from collections.abc import Iterator

from torl.errors import SandboxError
from torl.sandbox.isolation import Isolation, LimitsOnly, Namespaces
from torl.sandbox.runner import Runner
from torl.sandbox.snippet import Snippet

MISSING = (
    "snippets cannot be isolated here: {reason}. Install bubblewrap (`apt install bubblewrap` or your distribution's "
    "package) and allow user namespaces, or set `sandbox.url` to a running SandboxFusion, or accept resource limits "
    "alone (a snippet can then read your files) with --allow-unsafe."
)


def choose_isolation(*, allow_unsafe: bool) -> Isolation:
    """The strongest isolation that works on this machine.

    Raises:
        SandboxError: namespaces do not work here and ``allow_unsafe`` is false; the message names the package to
        install.
    """
    reason = "bubblewrap (bwrap) is not on the PATH"
    for candidate in _namespaces():
        reason = _reason_not_to_use(candidate)
        if not reason:
            return candidate
    if allow_unsafe:
        return LimitsOnly()
    raise SandboxError(MISSING.format(reason=reason))


def _namespaces() -> Iterator[Namespaces]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return
    if os.geteuid() == 0:
        yield Namespaces(bwrap, as_root=True)
    yield Namespaces(bwrap, as_root=False)


def _reason_not_to_use(isolation: Isolation) -> str:
    result = Runner(isolation).run(Snippet(code="print(6 * 7)"), worker=0)
    return "" if result.stdout == "42\n" else f"a first snippet failed: {(result.error or result.stderr).strip()}"
