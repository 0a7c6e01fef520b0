"""The maker of cells, asked over its socket: what the kernel refuses for a while is made a little later."""

from pathlib import Path

import pytest

from tests.sandbox.test_birth import output_of

ASKED = (
    "import socket, sys\nfrom inside import fences, maker\n"
    "ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
    "class Refusing(birth.Birthplace):\n"
    "    calls = 0\n"
    "    def fork(self, live):\n"
    "        self.calls += 1\n"
    "        if self.calls in REFUSED: raise BlockingIOError(11, 'not now')\n"
    "        return super().fork(live)\n"
    "if os.fork() == 0:\n"
    "    ours.close()\n"
    "    settings = fences.Settings(tier=3, user=0, group=0, seccomp=b'', disk_bytes=0, readable=(), writable=(),"
    " preloaded_bytes=0)\n"
    "    maker.Maker(theirs, settings, Refusing(0), SCRATCH).work()\n"
    "    os._exit(0)\n"
    "theirs.close()\n"
    "ours.send(b'+++')\n"
)


@pytest.mark.parametrize(
    ("refused", "said"), [((2, 3, 5), ["cell"] * 3), ((1,), ["error"])], ids=["later ones", "the first"]
)
def test_a_refusal_of_the_kernel_ends_the_maker_at_its_first_cell_alone(
    refused: tuple[int, ...], said: list[str], tmp_path: Path
) -> None:
    names = f"REFUSED, SCRATCH = {refused!r}, {str(tmp_path)!r}\n"
    listen = f"for _ in range({len(said)}): print(ours.recv(100).decode().split()[0])\n"
    assert output_of(names + ASKED + listen).split() == said
