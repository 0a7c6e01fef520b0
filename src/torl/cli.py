"""How the command-line programs of ``workflow/scripts`` end: 0, or 1 with one clear message."""

import sys
from collections.abc import Callable

from torl.errors import TorlError


def run(main: Callable[[], None]) -> None:
    """Call ``main``; an error that was raised on purpose becomes its message, any other keeps its traceback."""
    try:
        main()
    except TorlError as error:
        sys.exit(f"{type(error).__name__}: {error}")
