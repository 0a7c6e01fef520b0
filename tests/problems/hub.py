"""A hub on localhost: enough of the Hugging Face protocol for ``hf_hub_download``, ``dataset_info`` and ``get_paths_info``,
and its ways to fail.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

FILE_URL = re.compile(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
INFO_URL = re.compile(r"/api/datasets/([^/]+/[^/]+)/(?:revision|paths-info)/([^/]+)")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LINE = b'{"problem": "What is 1 + 1?", "answer": "2"}\n'
LONG = b"".join(b'{"problem": "What is %d + 1?", "answer": "%d"}\n' % (n, n + 1) for n in range(5_000))


@dataclass(kw_only=True)
class Hub:
    """Files by ``(repo, revision, path)``; repositories in ``gated`` are refused, paths in ``broken`` cut in half, those in
    ``large`` known with their sha256.
    """

    files: dict[tuple[str, str, str], bytes]
    gated: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    large: set[str] = field(default_factory=set)
    url: str = ""
    gets: int = 0
    tokens: set[str | None] = field(default_factory=set)

    def error(self, repo: str, revision: str, path: str | None = None) -> tuple[int, str] | None:
        """Status and error code of a request that fails, for a file or the whole repository."""
        if repo in self.gated:
            return 403, "GatedRepo"
        if repo not in {known for known, _, _ in self.files}:
            return 404, "RepoNotFound"
        if (repo, revision) not in {known[:2] for known in self.files} and revision != COMMIT:
            return 404, "RevisionNotFound"
        known = path is None or self.content(repo, path) is not None
        return None if known else (404, "EntryNotFound")

    def entry(self, repo: str, path: str) -> dict[str, Any]:
        """What the hub says of a file."""
        data = self.content(repo, path)
        entry = {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
        large = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        return entry | ({"lfs": large} if path in self.large else {})

    def content(self, repo: str, path: str) -> bytes | None:
        """Bytes of a file at any revision."""
        return next((data for (known, _, name), data in self.files.items() if (known, name) == (repo, path)), None)


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Serve ``hub`` on a free port until the block ends; its ``url`` is set."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.reply(with_body=False)

        def do_GET(self) -> None:
            asked = INFO_URL.fullmatch(urlsplit(self.path).path)
            if asked:
                self.describe(asked[1], unquote(asked[2]), {"id": asked[1], "sha": COMMIT, "siblings": []})
                return
            hub.gets += FILE_URL.fullmatch(self.path) is not None
            self.reply(with_body=True)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            repo, revision = INFO_URL.fullmatch(self.path).groups()
            found = [path for path in parse_qs(body)["paths"] if hub.content(repo, path) is not None]
            self.describe(repo, revision, [hub.entry(repo, path) for path in found])

        def describe(self, repo: str, revision: str, what: Any) -> None:
            hub.tokens.add(self.headers.get("Authorization"))
            error = hub.error(repo, revision)
            data = b"" if error else json.dumps(what).encode()
            self.send_response(error[0] if error else 200)
            if error:
                self.send_header("X-Error-Code", error[1])
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def reply(self, *, with_body: bool) -> None:
            asked = FILE_URL.fullmatch(self.path)
            if asked:
                hub.tokens.add(self.headers.get("Authorization"))
            error = hub.error(*asked.groups()) if asked else (404, "EntryNotFound")
            if error:
                self.send_response(error[0])
                self.send_header("X-Error-Code", error[1])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            repo, _, path = asked.groups()
            data = hub.content(repo, path)
            self.send_response(200)
            self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if with_body:
                self.wfile.write(data[: len(data) // 2] if path in hub.broken else data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
