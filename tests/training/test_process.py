"""A training process can be asked to stop, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from torl.errors import TrainerError
from torl.training.launch import time_for_training
from torl.training.process import run_stoppable

WAITS_FOR_REQUEST = """
import pathlib, subprocess, sys, time
child = subprocess.Popen(["sleep", "1000"])
pathlib.Path(sys.argv[2]).write_text(str(child.pid))
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.02)
sys.exit(85)
"""
IGNORES_REQUEST = WAITS_FOR_REQUEST.replace("while not pathlib.Path(sys.argv[1]).exists()", "while True")


def run(program: str, tmp_path: Path, signals: list[int]) -> int:
    child_file, stop = tmp_path / "child", tmp_path / "stop"

    def send() -> None:
        while not (child_file.exists() and child_file.read_text()):
            time.sleep(0.02)
        for number in signals:
            os.kill(os.getpid(), number)
            time.sleep(1.0)

    sender = threading.Thread(target=send)
    sender.start()
    code = run_stoppable(
        [sys.executable, "-c", program, str(stop), str(child_file)],
        environment=os.environ,
        log=tmp_path / "log",
        stop_request=stop,
        progress=lambda: None,
    )
    sender.join()
    return code


def alive(pid: int) -> bool:
    status = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(status.strip()) and not status.startswith("Z")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_process_ends_by_itself(number: int, tmp_path: Path) -> None:
    assert run(WAITS_FOR_REQUEST, tmp_path, [number]) == 85
    assert not alive(int((tmp_path / "child").read_text()))


def test_the_second_signal_ends_it(tmp_path: Path) -> None:
    assert run(IGNORES_REQUEST, tmp_path, [signal.SIGINT, signal.SIGINT]) == -signal.SIGKILL
    assert not alive(int((tmp_path / "child").read_text()))


def test_the_handlers_of_the_caller_come_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    run(WAITS_FOR_REQUEST, tmp_path, [signal.SIGINT])
    assert signal.getsignal(signal.SIGINT) is before


def test_the_end_of_its_time_asks_like_a_signal(tmp_path: Path) -> None:
    code = run_stoppable(
        [sys.executable, "-c", WAITS_FOR_REQUEST, str(tmp_path / "stop"), str(tmp_path / "child")],
        environment=os.environ,
        log=tmp_path / "log",
        stop_request=tmp_path / "stop",
        progress=lambda: None,
        seconds=1.0,
    )
    assert code == 85


def test_what_the_callback_raises_ends_it(tmp_path: Path) -> None:
    child = tmp_path / "child"

    def look() -> None:
        if child.exists() and child.read_text():
            raise TrainerError("the sandbox has ended")

    with pytest.raises(TrainerError, match="the sandbox has ended"):
        run_stoppable(
            [sys.executable, "-c", WAITS_FOR_REQUEST, str(tmp_path / "stop"), str(child)],
            environment=os.environ,
            log=tmp_path / "log",
            stop_request=tmp_path / "stop",
            progress=look,
        )
    assert not alive(int(child.read_text()))


def test_it_ends_with_its_owner_however_that_ends(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys\nfrom torl.training.process import run_stoppable\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "run_stoppable([sys.executable, '-c', 'import os, pathlib, sys, time; '\n"
        "    'pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(1000)', str(folder / 'child')],\n"
        "    environment=os.environ, log=folder / 'log', stop_request=folder / 'stop', progress=lambda: None)"
    )
    child = tmp_path / "child"
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) as owner:
        while not (child.exists() and child.read_text()):
            time.sleep(0.02)
        owner.kill()
    deadline = time.monotonic() + 20
    while alive(int(child.read_text())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(int(child.read_text()))


def test_a_job_that_is_shorter_than_its_margin_is_refused() -> None:
    assert time_for_training(30, 900) == 900
    with pytest.raises(TrainerError, match=r"15 minutes.*stop_margin_seconds.*raise the job's runtime"):
        time_for_training(15, 900)
