"""How the command-line programs end: 0, or 1 with one clear message, or 130 when they are interrupted."""

import argparse
import sys
from collections.abc import Callable

from torl.errors import TorlError

INTERRUPTED = 130  # what a shell says of a program that Ctrl-C ended


def run(main: Callable[[], None]) -> None:
    """Call ``main``; errors raised on purpose, and those of files and disks, become a message; others keep their traceback."""
    try:
        main()
    except TorlError as error:
        sys.exit(f"{type(error).__name__}: {error}")
    except (ConnectionError, TimeoutError):
        raise  # no file is at fault
    except OSError as error:
        sys.exit(f"{type(error).__name__}: {error}; check the path, its permissions and the space on its disk.")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing half-done counts, the same command continues\n")
        sys.exit(INTERRUPTED)


def positive(text: str) -> int:
    """An argument that is a whole number above 0."""
    return _between(text, 1, None)


def port(text: str) -> int:
    """An argument that is the number of a port; 0 asks for a free one."""
    return _between(text, 0, 65_535)


def positive_seconds(text: str) -> float:
    """An argument that is a time above 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time in seconds above 0")
    return seconds


def _between(text: str, least: int, most: int | None) -> int:
    accepted = f"from {least} up" if most is None else f"from {least} to {most}"
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number; accepted is one {accepted}") from error
    if number < least or (most is not None and number > most):
        raise argparse.ArgumentTypeError(f"{number} is not accepted; give a number {accepted}")
    return number
