"""The process that every cell is forked from: preloads what snippets import, then makes cells on demand.

Started by exec in a clean environment, in the root that its cells share, and single-threaded. Takes one byte per cell to
make over its control socket and answers with the cell's connections; tells the server over a cell's connection how the
cell's process ended; ends when the server does.

Arguments: control socket, settings in JSON (see ``start``), folders of packages.
"""

import _sitebuiltins
import base64
import builtins
import gc
import importlib
import json
import os
import socket
import sys

from . import fences, kernel, pages
from .birth import Birthplace
from .maker import Maker

PRELOADED = (
    *("bisect", "cmath", "collections", "contextlib", "copy", "datetime", "decimal", "fractions", "functools", "heapq"),
    *("inspect", "io", "itertools", "json", "linecache", "math", "operator", "pickle", "random", "re", "statistics"),
    *("string", "subprocess", "textwrap", "threading", "time", "traceback", "typing"),
    # numpy loads its parts on first use, which each snippet would pay for again.
    *("numpy", "numpy.random", "numpy.linalg", "numpy.fft", "numpy.polynomial", "sympy", "mpmath"),
)
# Snippets that fill the caches and load the parts that sympy leaves to first use.
WARM_UP = (
    "import sympy as s",
    "x, y = s.symbols('x y')",
    "s.solve(x**2 - 5*x + 6, x), s.solve([x + y - 3, x - y - 1], [x, y]), s.solve(x**3 - 2*x + 1, x)",
    "s.simplify(s.sin(x)**2 + s.cos(x)**2), s.expand((x + 1)**3), s.factor(x**2 - 1), s.diff(s.sin(x)*x, x)",
    "s.integrate(x**2, x), s.limit(s.sin(x)/x, x, 0), s.factorint(360), s.latex(s.sqrt(2)/2), s.N(s.pi, 20)",
    "s.Matrix([[1, 2], [3, 4]]).det(), s.Rational(1, 3) + s.sqrt(8), s.nsimplify(0.5), s.summation(x, (x, 1, 10))",
)


def start() -> None:
    """Run until the server closes the control socket."""
    control = socket.socket(fileno=int(sys.argv[1]))
    options = json.loads(sys.argv[2])
    if options["user"]:
        _drop_root(options["user"])
    sys.path += sys.argv[3:]
    _preload()
    birthplace = Birthplace(fences.namespaces_of(options["tier"]))
    settings = fences.Settings(
        tier=options["tier"],
        user=os.geteuid(),
        group=os.getegid(),
        seccomp=base64.b64decode(options["seccomp"]),
        disk_bytes=options["disk_bytes"],
        readable=tuple(options["readable"]),
        writable=tuple(options["writable"]),
        preloaded_bytes=_address_space(),
    )
    maker = Maker(control, settings, birthplace, options["scratch"])
    control.send(b"ready")
    maker.work()


def _drop_root(user: int) -> None:
    # bubblewrap covers parts of /proc when root starts it, and the kernel lets no cell mount one of its own while parts
    # of this one are covered.
    kernel.mount("proc", "/proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _preload() -> None:
    builtins.exit, builtins.quit = (_sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)") for name in ("exit", "quit"))
    builtins.help = _sitebuiltins._Helper()
    for name in PRELOADED:
        importlib.import_module(name)
    names: dict[str, object] = {}
    for line in WARM_UP:
        exec(line, names)
    names.clear()
    # Not for snippets to import. Here and not in the cells: looking through all modules touches, and so copies, the
    # memory of each.
    for name in [name for name in sys.modules if name.partition(".")[0] == __package__]:
        del sys.modules[name]
    # What is frozen is left alone by the collector of a cell, and so stays shared between the processes.
    gc.collect()
    gc.freeze()
    pages.collapse()


def _address_space() -> int:
    with open("/proc/self/statm", "rb") as line:
        return int(line.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
