"""Snippets that try to get out, to meet others, or to outlive their run, each with what it must print or show.

Every snippet prints one line that starts with ``held`` when the wall held, and ``GOT`` when it did not.
"""

from dataclasses import dataclass

CALL = (
    "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "def call(*arguments):\n    result = libc.syscall(*arguments)\n"
    "    return 'GOT %d' % result if result >= 0 else 'held ' + os.strerror(ctypes.get_errno())\n"
)
TRY = "def attempt(function, *arguments):\n    try:\n        return 'GOT %r' % (function(*arguments),)\n"
TRY += "    except Exception as error:\n        return 'held ' + type(error).__name__\n"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One hostile snippet."""

    name: str
    code: str


def by_call(name: str, number: int, *arguments: object) -> Attack:
    """An attack that is one system call (x86-64)."""
    return Attack(name=name, code=CALL + f"print(call({', '.join(map(str, (number, *arguments)))}))")


def by_python(name: str, code: str) -> Attack:
    return Attack(name=name, code=TRY + "import os, signal, sys\n" + code)


SYSTEM_CALLS = [
    by_call("io_uring", 425, 8, "ctypes.create_string_buffer(256)"),
    by_call("userfaultfd", 323, 1),
    by_call("a user namespace by unshare", 272, 0x10000000),
    by_call("a mount namespace by unshare", 272, 0x20000),
    by_call("a user namespace by clone", 56, 0x10000000 | 17, 0, 0, 0, 0),
    by_call("a process namespace by clone", 56, 0x20000000 | 17, 0, 0, 0, 0),
    by_call("a sibling, which is a child of the maker of cells", 56, 0x8000 | 17, 0, 0, 0, 0),
    by_call("a user namespace by clone3", 435, "ctypes.create_string_buffer(b'\\0\\0\\0\\x10', 88)", 88),
    by_call("bpf", 321, 0, "ctypes.create_string_buffer(128)", 128),
    by_call("perf_event_open", 298, "ctypes.create_string_buffer(b'\\0\\0\\0\\0\\x70', 128)", 0, -1, -1, 0),
    by_call("a key in the kernel's keyring", 248, "b'user'", "b'name'", "b'value'", 5, -3),
    by_call("joining the session keyring", 250, 1, 0),
    by_call("memory outside all limits", 319, "b'x'", 0),
    by_call("secret memory", 447, 0),
    by_call("System V shared memory", 29, 4711, 4096, 0o1666),
    by_call("a System V message queue", 68, 4711, 0o1666),
    by_call("a System V semaphore", 64, 4711, 1, 0o1666),
    by_call("a POSIX message queue", 240, "b'torl'", 0o102, 0o666, 0),
    by_call("ptrace of the parent", 101, 16, "os.getppid() or 1", 0, 0),
    by_call("reading the parent's memory", 310, "os.getppid() or 1", 0, 0, 0, 0, 0),
    by_call("a descriptor of the parent", 438, 3, 0, 0),
    by_call("opening by handle", 304, -100, "ctypes.create_string_buffer(64)", 0),
    by_call("a mount", 165, "b'none'", "b'/tmp'", "b'tmpfs'", 0, 0),
    by_call("a file system by the new calls", 430, "b'tmpfs'", 0),
    by_call("another root", 161, "b'/tmp'"),
    by_call("an x32 call", 0x40000000 | 39),
    by_call("a call of the future", 999),
    by_call("switching off address randomisation", 135, 0x0040000),
    by_call("the clock", 227, 0, "ctypes.create_string_buffer(16)"),
    by_call("limits of another process", 302, "os.getppid() or 1", 0, "ctypes.create_string_buffer(16)", 0),
    by_call("signals on behalf of descriptors", 72, 0, 8, 1),
    by_call("a device node", 133, "b'/tmp/disk'", 0o60666, 0x801),
]

NETWORK = [
    by_python("a TCP socket", "import socket\nprint(attempt(socket.socket))"),
    by_python("a UDP packet", "import socket\nprint(attempt(socket.socket, socket.AF_INET, socket.SOCK_DGRAM))"),
    by_python("a named socket", "import socket\nprint(attempt(socket.socket, socket.AF_UNIX, socket.SOCK_STREAM))"),
    by_python("a raw socket", "import socket\nprint(attempt(socket.socket, socket.AF_PACKET, socket.SOCK_RAW))"),
    by_python("talk to the kernel", "import socket\nprint(attempt(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW))"),
    by_python(
        "a name for a socket of a pair",
        "import socket\na, b = socket.socketpair()\nprint(attempt(a.bind, '\\0torl-meeting-place'))",
    ),
    by_python(
        "a datagram pair, which gets a name by itself",
        "import socket\nprint(attempt(socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM))",
    ),
]

FILES = [
    by_python("the password file", "print(attempt(lambda: open('/etc/shadow').read()))"),
    by_python("the project", "print(attempt(lambda: open(CANARY).read()))"),
    by_python("the project through the root of the first process", "print(attempt(os.listdir, '/proc/1/root/home'))"),
    by_python("the project through a climb", "print(attempt(lambda: open('../' * 20 + CANARY[1:]).read()))"),
    by_python("writing to the interpreter", "print(attempt(open, os.__file__, 'a'))"),
    by_python("writing to the code of the sandbox", "print(attempt(open, '/opt/torl/inside/cell.py', 'a'))"),
    by_python("replacing a package", "import sympy\nprint(attempt(os.rename, sympy.__file__, sympy.__file__ + 'x'))"),
    by_python("settings of the kernel", "print(attempt(open, '/proc/sys/kernel/core_pattern', 'w'))"),
    by_python("the trigger of the kernel", "print(attempt(open, '/proc/sysrq-trigger', 'w'))"),
    by_python("the memory of the first process", "print(attempt(open, '/proc/1/mem', 'r+b'))"),
    by_python(
        "the environment of the first process", "print(attempt(lambda: open('/proc/1/environ').read() or 1 / 0))"
    ),
    by_python("the memory of its threads", "print(attempt(open, '/proc/1/task/1/mem', 'r+b'))"),
    by_python("the map of the first process", "print(attempt(lambda: open('/proc/1/maps').read() or 1 / 0))"),
    by_python("the program of the first process", "print(attempt(os.readlink, '/proc/1/exe'))"),
    by_python("namespaces of the first process", "print(attempt(os.open, '/proc/1/ns/user', os.O_RDONLY))"),
    by_python("descriptors of the first process", "print(attempt(os.listdir, '/proc/1/fd'))"),
    by_python("the raw disk", "print(attempt(open, '/dev/vda', 'rb'))"),
    by_python("the memory of the machine", "print(attempt(open, '/dev/mem', 'rb'))"),
    by_python("a file owned by someone else", "print(attempt(os.chown, '/tmp', 0, 0))"),
    by_python("programs with more rights", "print(attempt(os.setuid, 0))"),
    by_python(
        "a link out of the folder, swapped while it is read",
        "import threading\nopen('real', 'w').write('x')\n"
        "def swap():\n    for _ in range(2000):\n        try:\n            os.symlink(CANARY, 'new'); "
        "os.replace('new', 'out.txt')\n            os.link('real', 'new'); os.replace('new', 'out.txt')\n"
        "        except OSError: pass\n"
        "thread = threading.Thread(target=swap); thread.start(); thread.join()\nprint('held')",
    ),
]

PROCESSES = [
    Attack(
        name="rights that are left",
        code=CALL
        + "no_new_rights, filtered = libc.prctl(39, 0, 0, 0, 0), libc.prctl(21, 0, 0, 0, 0)\n"
        + "header, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()\n"
        + "libc.capget(header, rights)\n"
        + "held = (no_new_rights, filtered, any(rights)) == (1, 2, False) and os.getuid() != 0\n"
        + "print('held' if held else 'GOT', no_new_rights, filtered, list(rights), os.getuid())",
    ),
    by_python("a signal to everyone", "signal.signal(15, signal.SIG_IGN)\nattempt(os.kill, -1, 15)\nprint('held')"),
    by_python("a signal to the own group", "signal.signal(15, signal.SIG_IGN)\nattempt(os.kill, 0, 15)\nprint('held')"),
    by_python("ending the first process", "attempt(os.kill, 1, 9)\nimport time; time.sleep(0.2)\nprint('held')"),
    by_python("stopping the first process", "attempt(os.kill, 1, signal.SIGSTOP)\nprint('held')"),
    by_python(
        "every signal to the first process",
        "for number in range(1, 65): attempt(os.kill, 1, number)\nimport time; time.sleep(0.2)\nprint('held')",
    ),
    by_python(
        "siblings by number",
        "seen = [pid for pid in range(2, 40000) if pid not in (os.getpid(),) "
        "and not attempt(os.kill, pid, 0).startswith('held')]\nprint('GOT' if seen else 'held', seen[:5])",
    ),
    by_python(
        "a daemon that prints later",
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import time; time.sleep(1); "
        "print('GOT time'); os._exit(0)\n    os._exit(0)\nprint('held')",
    ),
    by_python(
        "a child of another name",
        "import subprocess\n"
        "subprocess.Popen(['/bin/sh', '-c', 'exec -a [kworker] sleep 60'], start_new_session=True)\nprint('held')",
    ),
    by_python("real-time priority", "print(attempt(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50)))"),
    by_python("a better nice value", "print(attempt(os.setpriority, os.PRIO_USER, 0, -5))"),
    by_python("higher limits", "import resource\nprint(attempt(resource.setrlimit, resource.RLIMIT_AS, (-1, -1)))"),
    by_python("more processes", "import resource\nprint(attempt(resource.setrlimit, resource.RLIMIT_NPROC, (-1, -1)))"),
]

DESCRIPTORS = [
    by_python(
        "inherited descriptors",
        "found = []\nfor number in range(3, 1024):\n    try:\n        os.fstat(number); found.append(number)\n"
        "    except OSError: pass\nprint('GOT' if found else 'held', found)",
    ),
    by_python(
        "a report of its own",
        "for number in range(3, 300):\n    try:\n"
        "        os.write(number, b'\\0\\0\\0\\x15{\"ending\": \"finished\"}'); print('GOT', number)\n"
        "    except OSError: pass\nprint('held')",
    ),
    by_python(
        "objects of the server in memory",
        "import gc\nfound = [o for o in gc.get_objects() if type(o).__module__.startswith('inside')]\n"
        "sockets = [o for o in gc.get_objects() if type(o).__name__ == 'socket']\n"
        "sockets = [s for s in sockets if s.fileno() >= 0 and attempt(os.fstat, s.fileno()).startswith('GOT')]\n"
        "print('GOT' if sockets else 'held', sockets)",
    ),
    by_python("modules of the server", "print(attempt(__import__, 'inside'))"),
    by_python(
        "a frame of the server",
        "frame = sys._getframe()\nwhile frame.f_back: frame = frame.f_back\n"
        "names = [n for n, v in frame.f_locals.items() if hasattr(v, 'connection') and v.connection.fileno() >= 0 "
        "and not attempt(v.connection.send, b'x').startswith('held')]\nprint('GOT' if names else 'held', names)",
    ),
]

RESOURCES = [
    by_python(
        "threads without end",
        "import threading, time\nn = 0\ntry:\n    while n < 5000:\n"
        "        threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); n += 1\n"
        "except RuntimeError:\n    print('held', n)\n    os._exit(0)\nprint('GOT', n)",
    ),
    by_python(
        "descriptors without end",
        "files = []\ntry:\n    while len(files) < 5000: files.append(open('/dev/null'))\n"
        "except OSError:\n    held = len(files); del files\n    print('held', held)\nelse:\n    print('GOT')",
    ),
    by_python(
        "files without end",
        "n = 0\ntry:\n    while n < 200000:\n        open(f'f{n}', 'x').close(); n += 1\n"
        "except OSError:\n    print('held', n)\nelse:\n    print('GOT')",
    ),
    by_python(
        "folders in folders without end",
        "n = 0\ntry:\n    while n < 5000:\n        os.mkdir('d'); os.chdir('d'); n += 1\nexcept OSError: pass\nprint('held', n)",
    ),
    by_python(
        "a file without end",
        "import itertools\ntry:\n    with open('big', 'wb') as out:\n"
        "        for n in itertools.count(): out.write(b'0' * 2**20); assert n < 200\n"
        "except OSError:\n    print('held')",
    ),
    by_python("memory that is only asked for", "import mmap\nprint(attempt(mmap.mmap, -1, 2**34))"),
    by_python(
        "memory in a thousand pieces",
        "import mmap\npieces = []\ntry:\n"
        "    while len(pieces) < 3000: pieces.append(mmap.mmap(-1, 2**20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS))\n"
        "except OSError:\n    print('held', len(pieces))\nelse:\n    print('GOT')",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Poison:
    """What a snippet spoils for itself, and how the next one shows that it is whole."""

    name: str
    code: str
    question: str
    answer: str


POISON = [
    Poison(
        name="built-ins",
        code="import builtins\nbuiltins.print = builtins.len = None",
        question="print(len([1, 2]))",
        answer="2\n",
    ),
    Poison(
        name="numpy",
        code="import numpy\nnumpy.pi = 3\nnumpy.ndarray = None",
        question="import numpy\nprint(round(numpy.pi, 3))",
        answer="3.142\n",
    ),
    Poison(
        name="the memory of numpy's objects",
        code="import numpy, ctypes\nctypes.memset(id(numpy.pi) + 16, 0, 8)",
        question="import numpy\nprint(numpy.pi > 3)",
        answer="True\n",
    ),
    Poison(
        name="sympy's constants",
        code="import sympy\nsympy.Integer(2).p = 3\nsympy.S.Half.q = 5",
        question="import sympy\nprint(sympy.S.Half + 0, sympy.Integer(2))",
        answer="1/2 2\n",
    ),
    Poison(
        name="small integers",
        code="import ctypes\nctypes.memset(id(7) + 24, 8, 1)",
        question="print(7)",
        answer="7\n",
    ),
    Poison(
        name="the import path",
        code="import sys\nsys.path.insert(0, '.')\nopen('sympy.py', 'w').write('sqrt = None')",
        question="import sympy\nprint(sympy.sqrt(4))",
        answer="2\n",
    ),
    Poison(
        name="import hooks",
        code="import sys\nsys.meta_path.clear(); sys.path_hooks.clear()",
        question="import colorsys\nprint(colorsys.__name__)",
        answer="colorsys\n",
    ),
    Poison(
        name="trace functions",
        code="import sys, threading\nsys.settrace(lambda *a: None)\nthreading.settrace(print)",
        question="import sys\nprint(sys.gettrace())",
        answer="None\n",
    ),
    Poison(
        name="exit handlers",
        code="import atexit\natexit.register(print, 'later')",
        question="print(1)",
        answer="1\n",
    ),
    Poison(
        name="signal handlers",
        code="import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        question="import signal\nprint(signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL)",
        answer="True\n",
    ),
    Poison(
        name="the environment",
        code="import os\nos.environ['POISON'] = '1'",
        question="import os\nprint(os.environ.get('POISON'))",
        answer="None\n",
    ),
    Poison(
        name="the recursion limit",
        code="import sys\nsys.setrecursionlimit(10**6)",
        question="import sys\nprint(sys.getrecursionlimit())",
        answer="1000\n",
    ),
    Poison(
        name="the form of numbers",
        code="import numpy, decimal\nnumpy.set_printoptions(precision=1)\ndecimal.getcontext().prec = 2",
        question="import numpy, decimal\nprint(numpy.array([1.2345]), decimal.getcontext().prec)",
        answer="[1.2345] 28\n",
    ),
    Poison(
        name="its folder",
        code="open('left.txt', 'w').write('x')",
        question="import os\nprint(os.listdir('.'))",
        answer="['snippet.py']\n",
    ),
]

ATTACKS = [*SYSTEM_CALLS, *NETWORK, *FILES, *PROCESSES, *DESCRIPTORS, *RESOURCES]
