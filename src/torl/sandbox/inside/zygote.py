"""The process that every cell is forked from: preloads what snippets import, then makes cells on demand.

Started by exec in a clean environment, in the root that its cells share, and single-threaded. Takes one byte per cell to
make over its control socket and answers with the cell's connections; ends when the server does.

Arguments: control socket, settings in JSON (see ``start``), folders of packages.
"""

import _sitebuiltins
import base64
import builtins
import gc
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from contextlib import suppress

from . import cell, fences, kernel, pages

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
COMMAND_BYTES = 4096


def start() -> None:
    """Run until the server closes the control socket."""
    control = socket.socket(fileno=int(sys.argv[1]))
    options = json.loads(sys.argv[2])
    if options["user"]:
        _drop_root(options["user"])
    sys.path += sys.argv[3:]
    _preload()
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
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended cells leave nothing to collect
    control.send(b"ready")
    count = 0
    while commands := control.recv(COMMAND_BYTES):
        for _ in commands:
            count += 1
            _make_cell(control, settings, os.path.join(options["scratch"], f"{os.getpid()}-{count}"))


def _drop_root(user: int) -> None:
    # bubblewrap covers parts of /proc when root starts it, and the kernel lets no cell mount one of its own while parts
    # of this one are covered.
    kernel.mount("proc", "/proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    # The change of user made this process's own entries in /proc root's; cells write their user map there.
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)


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


def _make_cell(control: socket.socket, settings: fences.Settings, folder: str) -> None:
    server, own = socket.socketpair()
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    try:
        pid, pidfd = kernel.fork_into(fences.namespaces_of(settings))
    except OSError as error:
        control.send(f"error {error}".encode())
        sys.exit(1)
    if pid == 0:
        status = 1
        try:
            for descriptor in (control, server):
                descriptor.close()
            os.close(out_read)
            os.close(err_read)
            cell.live(cell.Ends(connection=own, stdout=out_write, stderr=err_write), fences.fence_of(settings, folder))
            status = 0
        except ConnectionError:
            status = 0  # the server has gone
        except Exception:  # noqa: BLE001 -- a mistake of ours, for the server's log
            traceback.print_exc()
        finally:
            os._exit(status)
    with suppress(ConnectionError):
        socket.send_fds(control, [f"cell {folder}".encode()], [server.fileno(), out_read, err_read, pidfd])
    for descriptor in (server.detach(), own.detach(), out_read, out_write, err_read, err_write, pidfd):
        os.close(descriptor)
