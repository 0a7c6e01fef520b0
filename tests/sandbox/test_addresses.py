"""Addresses are read with their tokens, shown without them, and found in a folder that all nodes share."""

from pathlib import Path

import pytest

from torl.errors import SandboxError
from torl.sandbox.addresses import announced, parse, resolve, with_token


@pytest.mark.parametrize(
    ("text", "url", "socket", "token"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", None, None),
        ("http://node-3:8080/", "http://node-3:8080", None, None),
        ("https://:s3cret@node:1/sandbox/", "https://node:1/sandbox", None, "s3cret"),
        ("unix:/run/torl.sock", "http://localhost", "/run/torl.sock", None),
        ("unix::s3cret@/run/torl.sock", "http://localhost", "/run/torl.sock", "s3cret"),
    ],
)
def test_an_address_has_a_url_a_socket_and_a_token(text: str, url: str, socket: str | None, token: str | None) -> None:
    address = parse(text)
    assert (address.url, address.socket, address.token) == (url, socket, token)
    assert "s3cret" not in repr(address) + address.shown


@pytest.mark.parametrize("text", ["", "localhost:8080", "ftp://x", "http://", "/run/torl.sock"])
def test_what_is_no_address_is_refused_with_what_would_be(text: str) -> None:
    with pytest.raises(SandboxError, match="http://host:port"):
        parse(text)


@pytest.mark.parametrize("address", ["http://node:1", "unix:/run/x"])
def test_a_token_put_into_an_address_is_read_from_it(address: str) -> None:
    assert parse(with_token(address, "s3cret")).token == "s3cret"
    assert parse(with_token(address, None)).token is None


def test_servers_announce_themselves_for_as_long_as_they_run(tmp_path: Path) -> None:
    folder = tmp_path / "shared folder"
    with announced(folder, "http://node:1", "s3cret"):
        (path,) = folder.iterdir()
        assert path.stat().st_mode & 0o077 == 0  # the token is this user's alone
        assert resolve([f"folder:{folder}", "http://other:2"], patience_s=0) == [
            "http://:s3cret@node:1",
            "http://other:2",
        ]
    with pytest.raises(SandboxError, match=r"no sandbox is announced in .*--announce"):
        resolve(f"folder:{folder}", patience_s=0)
