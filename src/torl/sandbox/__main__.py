"""Command line: ``serve`` a sandbox, ``check`` one, or ``run`` a file in one and show what the model would see."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path

from torl.errors import SandboxError
from torl.sandbox.client import SandboxClient
from torl.sandbox.conformance import health_of, run_checks, table
from torl.sandbox.launcher import sandbox_urls
from torl.sandbox.limits import RUN_TIMEOUT_S
from torl.sandbox.observation import observation_text

UNSAFE_WARNING = (
    "warning: snippets run WITHOUT isolation (--allow-unsafe): "
    "they can read your files, use the network and see your processes.\n"
)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    main_parser = argparse.ArgumentParser(prog="python -m torl.sandbox", description=__doc__)
    commands = main_parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="run the server until Ctrl-C; prints its address when it is ready")
    serving.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serving.add_argument("--port", type=int, default=8080, help="0 takes a free one (default: %(default)s)")
    serving.add_argument("--workers", type=int, help="snippets at once (default: the number of cores, at least 2)")
    serving.add_argument("--until-stdin-closes", action="store_true", help="also stop when standard input closes")
    checking = commands.add_parser("check", help="check a running sandbox, ours or SandboxFusion")
    checking.add_argument("url")
    running = commands.add_parser("run", help="run one snippet and print the observation")
    running.add_argument("file", type=Path)
    running.add_argument("--timeout", type=float, default=RUN_TIMEOUT_S, help="seconds (default: %(default)s)")
    running.add_argument("--url", help="a running sandbox; one is started otherwise")
    for command in (serving, running):
        command.add_argument("--allow-unsafe", action="store_true", help="without isolation, limit resources only")
    return main_parser


def serve_command(arguments: argparse.Namespace) -> int:
    """``serve``."""
    # Not needed by the other commands, and imported by no trainer: keeps the server's parts out of them.
    from torl.sandbox.isolation import IsolationKind
    from torl.sandbox.probe import choose_isolation
    from torl.sandbox.server import Workers, default_workers, serve

    isolation = choose_isolation(allow_unsafe=arguments.allow_unsafe)
    if isolation.kind is IsolationKind.LIMITS_ONLY:
        sys.stderr.write(UNSAFE_WARNING)
    workers = Workers(isolation, arguments.workers or default_workers())
    serving = serve(workers, host=arguments.host, port=arguments.port, until_stdin_closes=arguments.until_stdin_closes)
    asyncio.run(_until_terminated(serving))
    return 0


async def _until_terminated(serving: Coroutine[None, None, None]) -> None:
    task = asyncio.ensure_future(serving)
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        sys.stderr.write("stopped\n")


def check_command(arguments: argparse.Namespace) -> int:
    """``check``."""
    health = asyncio.run(health_of(arguments.url))
    sys.stdout.write(f"isolation: {health.get('isolation', 'unknown (not a torl sandbox)')}\n")
    results = asyncio.run(run_checks(arguments.url))
    sys.stdout.write(table(results) + "\n")
    return 0 if all(result.passed for result in results) else 1


def run_command(arguments: argparse.Namespace) -> int:
    """``run``."""

    async def execute(urls: list[str]) -> str:
        async with SandboxClient(urls, timeout_s=arguments.timeout) as client:
            return observation_text(await client.run(arguments.file.read_text(encoding="utf-8")))

    with sandbox_urls(arguments.url, allow_unsafe=arguments.allow_unsafe) as urls:
        sys.stdout.write(asyncio.run(execute(urls)) + "\n")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 1 when the sandbox is at fault."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    arguments = parser().parse_args(argv)
    commands = {"serve": serve_command, "check": check_command, "run": run_command}
    try:
        return commands[arguments.command](arguments)
    except SandboxError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
