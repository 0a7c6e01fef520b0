"""First code inside the sandbox: takes the limits on itself, reports the start, becomes the snippet's ``__main__``.

Runs as a plain script in a bare interpreter (no site, no torl): only built-in modules, kept short since every snippet
pays it. Arguments: snippet, socket of the watcher, memory in bytes, CPU seconds, file bytes, open files, processes,
user id, import folders. A processes or user id of 0 leaves that as it is.
"""

import posix  # os would be the first import of its kind here, and costs a millisecond
import resource
import sys

MEMORY_TO_REPORT_IN = 64 * 1024 * 1024  # a snippet at its memory limit must still be able to print its traceback


def take_limits(memory: int, cpu: int, file_size: int, open_files: int, processes: int) -> None:
    limits = {
        resource.RLIMIT_AS: (memory, memory + MEMORY_TO_REPORT_IN),
        resource.RLIMIT_CPU: (cpu, cpu + 1),
        resource.RLIMIT_FSIZE: (file_size, file_size),
        resource.RLIMIT_NOFILE: (open_files, open_files),
        resource.RLIMIT_CORE: (0, 0),
    }
    if processes:
        limits[resource.RLIMIT_NPROC] = (processes, processes)
    for name, (soft, hard) in limits.items():
        resource.setrlimit(name, (soft, hard))


def drop_root(user: int) -> None:
    posix.setgroups([])
    posix.setgid(user)
    posix.setuid(user)


def run(path: str) -> None:
    module = type(sys)("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    sys.argv = [path]
    try:
        with open(path, "rb") as source:
            # Lone surrogates must fail in the snippet's own compilation, not here.
            text = source.read().decode("utf-8", "surrogatepass")
        exec(compile(text, path, "exec"), module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 -- whatever the snippet raised is reported as Python would
        if isinstance(error, MemoryError):
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        # The first frame is this file's; the model must see its own only.
        error = error.with_traceback(error.__traceback__.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


def main() -> None:
    path, report, *numbers = sys.argv[1:9]
    sys.path[:0] = [path.rpartition("/")[0]]
    sys.path += sys.argv[9:]
    *limits, user = map(int, numbers)
    if user:
        drop_root(user)
    take_limits(*limits)
    posix.write(int(report), b"1")
    posix.read(int(report), 1)  # until the watcher knows this process, so that it can end it however soon it is over
    posix.closerange(3, 256)
    run(path)


main()
