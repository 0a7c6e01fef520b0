"""Files that go into and come out of a snippet's working folder, without a way out of that folder."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

MAX_FETCH_BYTES = 16 * 1024 * 1024


def safe_path(path: str) -> str:
    """``path`` when it stays below the working folder.

    Raises:
        ValueError: it is absolute, leaves the folder, or is empty.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise ValueError(f"file path {path!r} leaves the working folder; give a relative path without '..'")
    return path


def fetch(scratch: Path, paths: Sequence[str]) -> dict[str, bytes]:
    """Contents of those ``paths`` below ``scratch`` that are regular files; links are not followed, absent ones left
    out."""
    found = {}
    for path in paths:
        try:
            found[path] = _read_inside(scratch, safe_path(path))
        except (OSError, ValueError):
            continue  # the contract leaves out what cannot be had
    return found


def _read_inside(scratch: Path, path: str) -> bytes:
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in PurePosixPath(path).parts:
            # One step at a time: a link in the middle of the path would lead out of the folder.
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            os.close(folder)
            folder = inner
        status = os.fstat(folder)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FETCH_BYTES:
            raise ValueError(f"{path} is not a regular file of at most {MAX_FETCH_BYTES} bytes")
        with open(folder, "rb", closefd=False) as content:
            return content.read()
    finally:
        os.close(folder)
