"""Command line: ``serve`` a sandbox, ``check`` one, or ``run`` a file in one and show what the model would see."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from torl import cli
from torl.errors import DataError, SandboxError
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import SandboxClient
from torl.sandbox.conformance import health_of, run_checks, table
from torl.sandbox.launcher import running_sandbox, sandboxes
from torl.sandbox.limits import RUN_TIMEOUT_S
from torl.sandbox.observation import observation_text

UNSAFE_WARNING = (
    "warning: snippets run WITHOUT isolation (--allow-unsafe): "
    "they can read your files, use the network and see your processes.\n"
)
OPEN_WARNING = (
    "warning: other machines can reach this sandbox and no --token-file is given: anyone can run code here.\n"
)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    main_parser = argparse.ArgumentParser(prog="python -m torl.sandbox", description=__doc__)
    commands = main_parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="run the server until Ctrl-C; prints its address when it is ready")
    serving.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serving.add_argument("--port", type=cli.port, default=8080, help="0 takes a free one (default: %(default)s)")
    serving.add_argument(
        "--workers", type=cli.positive, help="snippets at once (default: the number of cores, at least 2)"
    )
    serving.add_argument("--socket", type=Path, help="listen on this Unix socket instead")
    serving.add_argument("--token-file", type=Path, help="file with a token that clients must show")
    serving.add_argument("--announce", type=Path, metavar="FOLDER", help="write the address into this shared folder")
    serving.add_argument("--until-stdin-closes", action="store_true", help="also stop when standard input closes")
    checking = commands.add_parser("check", help="check a running sandbox, ours or SandboxFusion")
    checking.add_argument("url")
    running = commands.add_parser("run", help="run one snippet and print the observation")
    running.add_argument("file", type=Path)
    running.add_argument(
        "--timeout", type=cli.positive_seconds, default=RUN_TIMEOUT_S, help="seconds (default: %(default)s)"
    )
    running.add_argument("--url", help="a running sandbox; one is started otherwise")
    for command in (serving, running):
        command.add_argument("--tier", type=int, choices=(1, 2, 3), help="this isolation and no other (see the docs)")
        command.add_argument("--allow-unsafe", action="store_true", help="without isolation, limit resources only")
    return main_parser


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{file} cannot be read as text ({error}); correct the path, or save the file as UTF-8."
        ) from error


def serve_command(arguments: argparse.Namespace) -> int:
    """``serve``."""
    asyncio.run(_until_terminated(_serve(arguments)))
    return 0


async def _serve(arguments: argparse.Namespace) -> None:
    # Not needed by the other commands, and imported by no trainer: keeps the server's parts out of them.
    from torl.sandbox.isolation import IsolationKind
    from torl.sandbox.probe import started_pool
    from torl.sandbox.server import Listening, serve

    token = _text_of(arguments.token_file).strip() if arguments.token_file else None
    if token == "":
        raise SandboxError(
            f"{arguments.token_file} holds no token, and without one anybody may run code; write one into it."
        )
    where = Listening(
        host=arguments.host,
        port=arguments.port,
        socket=arguments.socket,
        token=token,
        announce=arguments.announce,
    )
    _be_the_first_to_go()
    pool = await started_pool(count=arguments.workers, allow_unsafe=arguments.allow_unsafe, tier=arguments.tier)
    if pool.isolation.kind is IsolationKind.LIMITS_ONLY:
        sys.stderr.write(UNSAFE_WARNING)
    if where.reachable_by_others and not token:
        sys.stderr.write(OPEN_WARNING)
    await serve(pool, where, until_stdin_closes=arguments.until_stdin_closes)


def _be_the_first_to_go() -> None:
    """When memory runs out, the kernel is to take snippets and not the trainer beside them; they inherit this."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


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
    good = True
    with sandboxes(arguments.url) as checked:
        for url in checked.urls:
            health = asyncio.run(health_of(url))
            sys.stdout.write(f"isolation: {health.get('isolation', 'unknown (not a torl sandbox)')}\n")
            results = asyncio.run(run_checks(url))
            sys.stdout.write(table(results) + "\n")
            good = good and all(result.passed for result in results)
    return 0 if good else 1


def run_command(arguments: argparse.Namespace) -> int:
    """``run``."""
    code = _text_of(arguments.file)

    async def execute(urls: list[str]) -> str:
        async with SandboxClient(urls, timeout_s=arguments.timeout) as client:
            execution = await client.run(code)
        if execution.outcome is CallOutcome.SANDBOX_FAILED:
            raise SandboxError(
                f"the sandbox could not run it: {execution.stderr}; see `python -m torl.sandbox check URL`."
            )
        return observation_text(execution)

    with ExitStack() as resources:
        if arguments.url:
            urls = resources.enter_context(sandboxes(arguments.url)).urls
        else:
            options = ["--tier", str(arguments.tier)] if arguments.tier else []
            sandbox = running_sandbox(allow_unsafe=arguments.allow_unsafe, options=options)
            urls = [resources.enter_context(sandbox)]
        sys.stdout.write(asyncio.run(execute(urls)) + "\n")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 1 when the sandbox is at fault."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    arguments = parser().parse_args(argv)
    commands = {"serve": serve_command, "check": check_command, "run": run_command}
    try:
        return commands[arguments.command](arguments)
    except (SandboxError, DataError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
