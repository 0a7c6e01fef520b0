"""A hub on localhost: enough of the Hugging Face protocol for ``hf_hub_download``, and its ways to fail."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

FILE_URL = re.compile(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass(kw_only=True)
class Hub:
    """Files by ``(repo, revision, path)``; repositories in ``gated`` are refused, paths in ``broken`` cut in half."""

    files: dict[tuple[str, str, str], bytes]
    gated: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    url: str = ""
    gets: int = 0
    tokens: set[str | None] = field(default_factory=set)

    def error(self, repo: str, revision: str, path: str) -> tuple[int, str] | None:
        """Status and error code of a request that fails."""
        if repo in self.gated:
            return 403, "GatedRepo"
        if repo not in {known for known, _, _ in self.files}:
            return 404, "RepoNotFound"
        if (repo, revision) not in {known[:2] for known in self.files} and revision != COMMIT:
            return 404, "RevisionNotFound"
        return None if self.content(repo, path) is not None else (404, "EntryNotFound")

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
            hub.gets += 1
            self.reply(with_body=True)

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
