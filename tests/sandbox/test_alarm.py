"""The alarm sounds on a broken sandbox and on nothing else."""

import pytest

from torl.errors import SandboxError
from torl.sandbox.alarm import FailureAlarm


def test_failures_above_the_threshold_stop_the_run_and_say_where_to_look() -> None:
    alarm = FailureAlarm(window=1000, threshold=0.01, minimum=100)
    for number in range(200):
        alarm.record(failed=number in (10, 20))
    with pytest.raises(SandboxError, match=r"3 of the last 201 sandbox calls failed.*python -m torl.sandbox check"):
        alarm.record(failed=True)


def test_one_early_failure_is_accepted() -> None:
    alarm = FailureAlarm(minimum=100)
    alarm.record(failed=True)
    for _ in range(500):
        alarm.record(failed=False)
    assert alarm.rate == pytest.approx(1 / 501)


def test_old_failures_leave_the_window() -> None:
    alarm = FailureAlarm(window=100, threshold=0.05, minimum=50)
    for number in range(300):
        alarm.record(failed=number % 30 == 0)  # never above 5 % of the last 100
    assert alarm.rate <= 0.04


def test_a_sandbox_that_is_gone_stops_even_a_small_run() -> None:
    alarm = FailureAlarm(in_a_row=8)
    for _ in range(7):
        alarm.record(failed=True)
    alarm.record(failed=False)
    for _ in range(7):
        alarm.record(failed=True)
    with pytest.raises(SandboxError, match="15 of the last 16"):
        alarm.record(failed=True)
