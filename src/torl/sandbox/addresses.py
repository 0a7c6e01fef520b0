"""Addresses of sandboxes: how they are written, and the folder in which servers on several nodes say theirs.

An address is ``http://host:port`` or ``unix:/path/to/socket``. A token stands where a password would:
``http://:TOKEN@host:port``, ``unix::TOKEN@/path``. ``folder:/path`` stands for the addresses of all servers that
announce themselves in that folder, which all nodes share.
"""

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from torl.errors import SandboxError

UNIX = "unix:"
FOLDER = "folder:"
SUFFIX = ".address"
LOOK_AGAIN_S = 0.5


@dataclass(frozen=True)
class Address:
    """One sandbox."""

    url: str
    """``http://host:port``; for a Unix socket a stand-in that no request leaves the machine with."""
    socket: str | None = None
    """Path of the Unix socket."""
    token: str | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """For messages: without the token."""
        return f"{UNIX}{self.socket}" if self.socket else self.url


def parse(text: str) -> Address:
    """Read an address.

    Raises:
        SandboxError: it is none.
    """
    if text.startswith(UNIX):
        before, at, path = text.removeprefix(UNIX).rpartition("@")
        return Address("http://localhost", socket=path, token=before.removeprefix(":") if at else None)
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SandboxError(
            f"sandbox address {_hidden(text)!r} is neither http://host:port nor unix:/path nor folder:/path; mend "
            "`sandbox.url`."
        )
    host = parts.netloc.rpartition("@")[2]
    return Address(f"{parts.scheme}://{host}{parts.path.rstrip('/')}", token=parts.password)


def with_token(address: str, token: str | None) -> str:
    """``address`` with the token in it."""
    if token is None:
        return address
    if address.startswith(UNIX):
        return f"{UNIX}:{token}@{address.removeprefix(UNIX)}"
    return address.replace("://", f"://:{token}@", 1)


def _hidden(text: str) -> str:
    return text.rpartition("@")[2]


@contextmanager
def announced(folder: Path, address: str, token: str | None) -> Iterator[None]:
    """Say in ``folder`` for the length of the block that a sandbox is at ``address``; readable by this user alone."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{socket.gethostname()}-{os.getpid()}{SUFFIX}"
    unfinished = path.with_suffix(".new")
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.write(with_token(address, token) + "\n")
    unfinished.rename(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def announced_in(folder: Path, *, patience_s: float) -> list[str]:
    """The addresses announced in ``folder``; waits up to ``patience_s`` seconds for the first one.

    Raises:
        SandboxError: there is none.
    """
    deadline = time.monotonic() + patience_s
    while True:
        found = [path.read_text(encoding="utf-8").strip() for path in sorted(folder.glob(f"*{SUFFIX}"))]
        if found:
            return found
        if time.monotonic() >= deadline:
            raise SandboxError(
                f"no sandbox is announced in {folder}; start one on each node with "
                f"`python -m torl.sandbox serve --host 0.0.0.0 --port 0 --announce {folder}`."
            )
        time.sleep(LOOK_AGAIN_S)


def resolve(urls: str | Sequence[str], *, patience_s: float) -> list[str]:
    """The addresses behind configured ones, folders replaced by what is announced in them."""
    listed = [urls] if isinstance(urls, str) else list(urls)
    found: list[str] = []
    for url in listed:
        if url.startswith(FOLDER):
            found += announced_in(Path(url.removeprefix(FOLDER)), patience_s=patience_s)
        else:
            found.append(url)
    return found
