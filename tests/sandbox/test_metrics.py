"""Counts are kept by status, rates over the last minute, and both are on the page."""

from torl.sandbox.metrics import Metrics
from torl.sandbox.snippet import RunResult, RunStatus


def test_runs_are_counted_by_status_and_their_times_summed() -> None:
    metrics = Metrics()
    for status in (RunStatus.FINISHED, RunStatus.FINISHED, RunStatus.TIME_LIMIT, RunStatus.ERROR):
        metrics.record(RunResult(status=status, seconds=0.5, cpu_seconds=0.25, truncated=True), waited=1.0)
    assert metrics.snippets == {"Finished": 2, "TimeLimitExceeded": 1, "Error": 1}
    assert (metrics.run_seconds, metrics.cpu_seconds, metrics.queue_seconds, metrics.truncated) == (2.0, 1.0, 4.0, 4)
    assert metrics.rates() == {"snippets_per_second": 4 / 60, "failed": 0.25}


def test_the_page_is_one_value_a_line() -> None:
    metrics = Metrics()
    metrics.refused[429] += 1
    page = metrics.page({"workers": 2})
    values = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    assert values['torl_sandbox_refused_total{status="429"}'] == "1"
    assert values['torl_sandbox_snippets_total{status="Finished"}'] == "0"
    assert values["torl_sandbox_workers"] == "2"
    assert values["torl_sandbox_failed"] == "0"
