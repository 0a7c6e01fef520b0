"""Runs a command as on a machine that forbids some system calls: ``python -m tests.sandbox.denied CALLS COMMAND...``.

CALLS are names joined by commas; ``namespaces`` stands for every way to make a user namespace, as containers forbid it.
"""

import os
import sys

from torl.sandbox import seccomp
from torl.sandbox.inside import kernel

NAMESPACES = [
    seccomp.Rule(call="unshare"),
    seccomp.Rule(call="clone3", error=38),
    seccomp.Rule(
        call="clone",
        argument=0,
        operation=seccomp.MASKED_EQUAL,
        first=kernel.CLONE_NEWUSER,
        second=kernel.CLONE_NEWUSER,
    ),
]


def denied(calls: str) -> list[str]:
    """The beginning of a command line that denies ``calls`` to the rest."""
    return [sys.executable, "-m", "tests.sandbox.denied", calls]


if __name__ == "__main__":
    wanted = sys.argv[1].split(",")
    forbidden = [seccomp.Rule(call=name) for name in wanted if name != "namespaces"]
    forbidden += NAMESPACES if "namespaces" in wanted else []
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.filter_system_calls(seccomp.compiled(forbidden))
    os.execv(sys.argv[2], sys.argv[2:])
