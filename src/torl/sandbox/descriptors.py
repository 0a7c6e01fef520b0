"""Open files that a server may have: each cell takes some of the server's and some of the maker's."""

import resource

from torl.errors import SandboxError

FOR_EACH_WORKER = 12  # five for the cell that runs, five for the one that waits, a connection of a client
FOR_THE_REST = 64
FOR_CLIENTS = 4096  # wished for; a client beyond them waits for its connection


def allow_descriptors(workers: int) -> None:
    """Raise this process's limit as far as ``workers`` need.

    Raises:
        SandboxError: the limit cannot be raised so far.
    """
    needed = FOR_THE_REST + FOR_EACH_WORKER * workers
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = needed + FOR_CLIENTS if hard == resource.RLIM_INFINITY else min(hard, needed + FOR_CLIENTS)
    if highest < needed:
        raise SandboxError(
            f"{workers} sandbox workers need {needed} open files and this process may have {hard}; raise the limit "
            f"(`ulimit -n {needed}`) or take fewer workers."
        )
    if soft not in (resource.RLIM_INFINITY, highest) and soft < highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
