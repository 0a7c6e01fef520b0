"""How a policy uses code, computed from rows of ``TRAJECTORY_SCHEMA``.

A ratio whose denominator is 0 is None: "no call was made" is not "every call failed". Responses that ended because the
sandbox failed are left out of every metric but ``sandbox_failed_rate``. A question that was too long to be asked is wrong in
``accuracy`` and in no other metric, because nobody responded.

Differs from ToRL: the paper gives no code for these metrics and leaves one of them open to two readings. Both are kept:
``executed_code_ratio`` (sent to the sandbox / written), which fits the published curve, and ``passed_code_ratio``
(error-free / written).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from torl.rollout.trajectory import CallOutcome, StopReason

Row = dict[str, Any]
Call = dict[str, Any]

READ_AS_ZERO = (-1.0, -0.5)
ERROR_FREE = frozenset({CallOutcome.PASSED, CallOutcome.OUTPUT_TRUNCATED})


def behaviour(rows: Iterable[Row]) -> dict[str, float | None]:
    """All metrics of this module by name, for one set of responses."""
    rows = list(rows)
    counted = usable(rows)
    used = responses(counted)
    return {
        "accuracy": accuracy(counted),
        "no_answer_rate": no_answer_rate(used),
        "truncation_rate": truncation_rate(used),
        "ungraded_rate": ungraded_rate(used),
        "sandbox_failed_rate": sandbox_failed_rate(responses(rows)),
        "code_ratio": code_ratio(used),
        "pass_ratio": pass_ratio(used),
        "pass_ratio_correct": pass_ratio([row for row in used if row["correct"] is True]),
        "pass_ratio_incorrect": pass_ratio([row for row in used if row["correct"] is False]),
        "executed_code_ratio": executed_code_ratio(used),
        "passed_code_ratio": passed_code_ratio(used),
        "before_answer_ratio": before_answer_ratio(used),
        "made_up_output_rate": made_up_output_rate(used),
        "calls_per_response": share(len(calls_of(used)), len(used)),
        "mean_response_tokens": mean(row["response_tokens"] for row in used),
        "mean_reward": mean(row["reward"] for row in used),
        "release_accuracy": release_accuracy(used),
        **outcome_shares(used),
    }


def usable(rows: Iterable[Row]) -> list[Row]:
    """The rows whose response is the policy's own doing: those that did not end because the sandbox failed."""
    return [row for row in rows if row["stop_reason"] != StopReason.SANDBOX_FAILED]


def responses(rows: Iterable[Row]) -> list[Row]:
    """The rows in which a policy was asked at all: those of questions whose prompt was within the budget."""
    return [row for row in rows if row["stop_reason"] != StopReason.PROMPT_TOO_LONG]


def accuracy(rows: Sequence[Row]) -> float | None:
    """Right responses / graded responses. A response without an answer is graded wrong and counts, as is a question not asked."""
    return mean(row["correct"] for row in rows)


def release_accuracy(rows: Sequence[Row]) -> float | None:
    """What the release's validation takes for accuracy: the mean reward with -1 and -0.5 read as 0.

    With the penalty on this is no accuracy: a right answer may count half, and a wrong one less than nothing.
    """
    return mean(0.0 if row["reward"] in READ_AS_ZERO else row["reward"] for row in rows)


def no_answer_rate(rows: Sequence[Row]) -> float | None:
    """Responses without a boxed answer / responses."""
    return share(sum(row["answer"] is None for row in rows), len(rows))


def truncation_rate(rows: Sequence[Row]) -> float | None:
    """Responses that used up their token budget / responses whose stop reason is known."""
    known = [row["stop_reason"] for row in rows if row["stop_reason"] is not None]
    return share(known.count(StopReason.LENGTH), len(known))


def ungraded_rate(rows: Sequence[Row]) -> float | None:
    """Responses that the grader could not decide / responses."""
    return share(sum(row["correct"] is None for row in rows), len(rows))


def sandbox_failed_rate(rows: Sequence[Row]) -> float | None:
    """Responses that ended because the sandbox could not run a call / all responses."""
    return share(sum(row["stop_reason"] == StopReason.SANDBOX_FAILED for row in rows), len(rows))


def code_ratio(rows: Sequence[Row]) -> float | None:
    """Responses with at least one code block in the model's own text / responses (the paper's figure 5a)."""
    return share(sum(row["code_blocks"] > 0 for row in rows), len(rows))


def pass_ratio(rows: Sequence[Row]) -> float | None:
    """Executed calls that ran without an error / executed calls (figure 5b; over right or wrong responses, 5c).

    Output that was cut to the kept length is no error.
    """
    calls = calls_of(rows)
    return share(sum(call["outcome"] in ERROR_FREE for call in calls), len(calls))


def executed_code_ratio(rows: Sequence[Row]) -> float | None:
    """Code blocks sent to the sandbox / code blocks written (figure 5d, the reading that fits the published curve)."""
    return share(len(calls_of(rows)), sum(row["code_blocks"] for row in rows))


def passed_code_ratio(rows: Sequence[Row]) -> float | None:
    """Error-free calls / code blocks written (figure 5d, the other reading)."""
    calls = calls_of(rows)
    return share(sum(call["outcome"] in ERROR_FREE for call in calls), sum(row["code_blocks"] for row in rows))


def before_answer_ratio(rows: Sequence[Row]) -> float | None:
    """Executed calls made before the model had written ``\\boxed{`` outside code / executed calls (figure 5d, second curve)."""
    calls = calls_of(rows)
    return share(sum(bool(call["before_answer"]) for call in calls), len(calls))


def made_up_output_rate(rows: Sequence[Row]) -> float | None:
    """Responses in which the model went on past the marker, with an output of its own making / responses of which that is known."""
    known = [row["unanswered_markers"] for row in rows if row.get("unanswered_markers") is not None]
    return share(sum(count > 0 for count in known), len(known))


def outcome_shares(rows: Sequence[Row]) -> dict[str, float | None]:
    """``call_<outcome>`` for every way a call can end; they add up to 1 where there is a call."""
    outcomes = [call["outcome"] for call in calls_of(rows)]
    return {
        f"call_{outcome}": share(outcomes.count(outcome), len(outcomes))
        for outcome in CallOutcome
        if outcome != CallOutcome.SANDBOX_FAILED
    }


def calls_of(rows: Iterable[Row]) -> list[Call]:
    """The calls that the sandbox ran, in order; one that it could not run was not executed."""
    return [call for row in rows for call in row["calls"] or () if call["outcome"] != CallOutcome.SANDBOX_FAILED]


def share(count: int, total: int) -> float | None:
    """``count / total``, or None where there is nothing to share."""
    return count / total if total else None


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are known, or None without any."""
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None
