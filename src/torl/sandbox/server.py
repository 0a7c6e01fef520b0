"""The sandbox as an HTTP service: SandboxFusion's contract, a fixed number of workers, a bounded and fair queue.

Differs from the original: it starts no more snippets at once than there are workers, says 429 or 503 with Retry-After
when its queue is full, can ask for a token, and ``/v1/health`` runs a snippet before it says that all is well.
"""

import asyncio
import errno
import hmac
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from pydantic import ValidationError

from torl.errors import SandboxError
from torl.sandbox.addresses import UNIX, announced
from torl.sandbox.admission import Refused
from torl.sandbox.client import CLIENT_HEADER
from torl.sandbox.contract import RunCodeRequest, reply_of
from torl.sandbox.pool import Pool

LARGEST_REQUEST_BYTES = 32 * 1024 * 1024
READ_TIMEOUT_S = 60.0  # for the body of a request; a client that is slower holds nothing but its connection
RETRY_AFTER_S = 1
SHUTDOWN_S = 0.5

POOL = web.AppKey("pool", Pool)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, kw_only=True)
class Listening:
    """Where a server can be reached and by whom."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes a free one."""
    socket: Path | None = None
    """A Unix socket to listen on instead."""
    token: str | None = None
    """What clients must show; None lets everyone in who reaches the address."""
    announce: Path | None = None
    """A folder in which to say where the server is while it runs."""

    @property
    def reachable_by_others(self) -> bool:
        """Whether the address is more than this machine's own."""
        return self.socket is None and self.host not in ("127.0.0.1", "::1", "localhost")


def make_app(pool: Pool, token: str | None = None) -> web.Application:
    """The service around ``pool``."""
    app = web.Application(client_max_size=LARGEST_REQUEST_BYTES, middlewares=[_guard(token)] if token else [])
    app[POOL] = pool
    app.router.add_post("/run_code", run_code)
    app.router.add_get("/v1/ping", ping)
    app.router.add_get("/v1/health", health)
    app.router.add_get("/metrics", metrics)
    return app


def _guard(token: str) -> Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]:
    expected = f"Bearer {token}".encode()

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if hmac.compare_digest(request.headers.get("Authorization", "").encode("utf-8", "replace"), expected):
            return await handler(request)
        message = "the token is missing or wrong; send `Authorization: Bearer TOKEN`"
        return web.json_response({"detail": message}, status=401)

    return guard


async def run_code(request: web.Request) -> web.Response:
    """POST /run_code."""
    pool = request.app[POOL]
    try:
        async with asyncio.timeout(READ_TIMEOUT_S):
            content = await request.json()
        body = RunCodeRequest.model_validate(content)
    except TimeoutError:
        return web.json_response({"detail": f"the request took more than {READ_TIMEOUT_S:g} s to arrive"}, status=408)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        return web.json_response({"detail": details}, status=422)
    except ValueError as error:
        return web.json_response({"detail": [{"type": "json_invalid", "loc": ["body"], "msg": str(error)}]}, status=422)
    try:
        result, waited = await pool.run(body.snippet(), client=_client_of(request))
    except Refused as refusal:
        return web.json_response(
            {"detail": f"{refusal}; try again later"},
            status=refusal.status,
            headers={"Retry-After": str(RETRY_AFTER_S)},
        )
    return web.json_response(reply_of(result, queue_seconds=waited))


def _client_of(request: web.Request) -> str:
    return request.headers.get(CLIENT_HEADER) or request.remote or ""


async def ping(request: web.Request) -> web.Response:
    """GET /v1/ping: the process answers. It says nothing of the ability to run code; /v1/health does."""
    return web.json_response("pong")


async def health(request: web.Request) -> web.Response:
    """GET /v1/health: 200 when a snippet runs, 503 with the reason when it does not."""
    report = await request.app[POOL].health()
    return web.json_response(report, status=503 if report["problem"] else 200)


async def metrics(request: web.Request) -> web.Response:
    """GET /metrics: counts and rates as Prometheus reads them."""
    return web.Response(text=request.app[POOL].metrics_page())


async def serve(pool: Pool, where: Listening, *, until_stdin_closes: bool = False) -> None:
    """Serve a started pool until cancelled, or until standard input closes (how a launcher's death is noticed).

    Writes one line ``ready: ADDRESS ...`` to standard output once requests are answered. Closes the pool.

    Raises:
        SandboxError: the port or the socket is taken.
    """
    runner = web.AppRunner(
        make_app(pool, where.token), access_log=None, shutdown_timeout=SHUTDOWN_S, handler_cancellation=True
    )
    await runner.setup()
    try:
        with ExitStack() as resources:
            address = await _listen(runner, where)
            if where.announce is not None:
                resources.enter_context(announced(where.announce, address, where.token))
            kind = pool.isolation.kind
            sys.stdout.write(f"ready: {address} isolation: {kind} (tier {kind.tier}), {pool.count} workers\n")
            sys.stdout.flush()
            await (_stdin_closed() if until_stdin_closes else asyncio.Event().wait())
    finally:
        pool.close()
        await runner.cleanup()


async def _listen(runner: web.AppRunner, where: Listening) -> str:
    """Start listening; returns the address."""
    try:
        if where.socket is not None:
            _remove_dead(where.socket)
            await web.UnixSite(runner, where.socket).start()
            where.socket.chmod(0o600)
            return f"{UNIX}{where.socket.absolute()}"
        await web.TCPSite(runner, where.host, where.port).start()
    except OSError as error:
        name = where.socket or f"{where.host}:{where.port}"
        raise SandboxError(
            f"the sandbox cannot listen on {name} ({error.strerror or error}); choose another --port, or 0 for a free "
            "one, or another --socket."
        ) from error
    port = runner.addresses[0][1]
    anywhere = where.host in ("0.0.0.0", "::")
    return f"http://{socket.getfqdn() if anywhere else where.host}:{port}"


def _remove_dead(path: Path) -> None:
    """Remove a socket that a server left behind when it was killed.

    Raises:
        OSError: there is something else, or a server is listening there.
    """
    if not path.exists():
        return
    if not path.is_socket():
        raise FileExistsError(errno.EEXIST, "it is there and is no socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise OSError(errno.EADDRINUSE, "a server is listening there")


async def _stdin_closed() -> None:
    closed = asyncio.Event()

    def read() -> None:
        if not os.read(sys.stdin.fileno(), 1024):
            closed.set()

    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), read)
    try:
        await closed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
