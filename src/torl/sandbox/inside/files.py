"""Files that go into and come out of a snippet's working folder, without a way out of that folder."""

import base64
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

MAX_FETCH_BYTES = 16 * 1024 * 1024  # of all files of a snippet together


def store(folder: str, contents: Mapping[str, str]) -> None:
    """Write ``contents`` (base64 by path, each below the folder) into ``folder``."""
    for path, content in contents.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as out:
            out.write(base64.b64decode(content))


def fetch(folder: int, paths: Sequence[str]) -> dict[str, bytes]:
    """Contents of those ``paths`` below the open ``folder`` that are regular files; links are not followed, absent
    ones and those beyond the total size left out. For use when nothing runs any more that could change them."""
    found: dict[str, bytes] = {}
    room = MAX_FETCH_BYTES
    for path in paths:
        try:
            found[path] = _read_inside(folder, path, room)
        except (OSError, ValueError):
            continue  # the contract leaves out what cannot be had
        room -= len(found[path])
    return found


def _read_inside(folder: int, path: str, room: int) -> bytes:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise ValueError(f"{path!r} leaves the working folder")
    descriptor = os.dup(folder)
    try:
        for part in parts:
            # One step at a time: a link in the middle of the path would lead out of the folder.
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > room:
            raise ValueError(f"{path!r} is not a regular file of at most {room} bytes")
        with open(descriptor, "rb", closefd=False) as content:
            return content.read(room)
    finally:
        os.close(descriptor)
