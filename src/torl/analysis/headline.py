"""The main result as lines: accuracy by experiment and benchmark, paired differences, and what to doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from torl.analysis.results import Evaluation, scores_at
from torl.evaluation.statistics import Estimate, Scores, estimate, macro_estimate, paired_difference

MACRO = "mean over benchmarks"
RATES = (
    "truncation_rate",
    "no_answer_rate",
    "code_ratio",
    "sandbox_failed_rate",
    "ungraded_rate",
    "mean_response_tokens",
)
WORRYING = {"truncation_rate": 0.05, "no_answer_rate": 0.05, "sandbox_failed_rate": 0.0, "ungraded_rate": 0.0}
"""Rates above which a result comes with a note."""
Document = dict[str, Any]


def headline_groups(
    metrics: list[Document],
    evaluations: Sequence[Evaluation],
    experiments: Sequence[str],
    steps: Mapping[str, int | None],
    final: Mapping[str, Mapping[str, Scores]],
) -> list[Document]:
    """One group a benchmark, one line an experiment; with several benchmarks their mean comes first."""
    starts = {name: scores_at(evaluations, name, 0) if steps[name] else {} for name in experiments}
    benchmarks = sorted(set(chain.from_iterable([*final.values(), *starts.values()])))
    questions = {
        name: max(len(one.scores.by_question) for one in evaluations if one.benchmark == name) for name in benchmarks
    }
    rates = _rates(metrics)
    groups = []
    for benchmark in benchmarks:
        lines = []
        for name in experiments:
            start = starts[name].get(benchmark)
            line = _line(name, steps[name], final[name].get(benchmark), start, questions[benchmark])
            lines.append(line | {rate: rates.get((name, steps[name], benchmark, rate)) for rate in RATES})
        groups.append({"benchmark": benchmark, "macro": False, "lines": lines})
    if len(benchmarks) > 1:
        groups.insert(0, _macro_group(starts, experiments, steps, final, benchmarks))
    return groups


def _line(experiment: str, step: int | None, scores: Scores | None, start: Scores | None, questions: int) -> Document:
    empty = Scores(by_question={})
    low, high = (scores or empty).samples
    return {
        "experiment": experiment,
        "step": step,
        "evaluated": scores is not None,
        "accuracy": asdict(estimate(scores or empty)),
        "start": asdict(estimate(start or empty)),
        "samples": low if low == high else None,
        "samples_range": [low, high],
        "n_questions": questions,
        "n_not_asked": (scores or empty).not_asked,
        "left_out": (scores or empty).sandbox_failed + (scores or empty).ungraded,
    }


def _macro_group(
    starts: Mapping[str, Mapping[str, Scores]],
    experiments: Sequence[str],
    steps: Mapping[str, int | None],
    final: Mapping[str, Mapping[str, Scores]],
    benchmarks: Sequence[str],
) -> Document:
    """Means over benchmarks, for experiments that were evaluated on all of them."""
    lines = []
    for name in experiments:
        complete = all(benchmark in final[name] for benchmark in benchmarks)
        lines.append(
            {
                "experiment": name,
                "step": steps[name],
                "evaluated": complete,
                "accuracy": asdict(_macro(final[name], benchmarks)),
                "start": asdict(_macro(starts[name], benchmarks)),
            }
        )
    return {"benchmark": MACRO, "macro": True, "lines": lines}


def _macro(scores: Mapping[str, Scores], benchmarks: Sequence[str]) -> Estimate:
    complete = all(benchmark in scores for benchmark in benchmarks)
    return macro_estimate([scores[benchmark] for benchmark in benchmarks] if complete else [])


def _rates(metrics: list[Document]) -> dict[tuple[str, int, str, str], float | None]:
    return {
        (line["experiment"], line["step"], line["benchmark"], line["metric"]): line["value"]
        for line in metrics
        if line["metric"] in RATES
    }


def compare(experiments: Sequence[str], final: Mapping[str, Mapping[str, Scores]]) -> list[Document]:
    """The first experiment minus each other one, by benchmark; with several shared ones their mean comes first."""
    found = []
    for other in experiments[1:]:
        first, second = final[experiments[0]], final[other]
        shared = sorted(first.keys() & second.keys())
        names = [[benchmark] for benchmark in shared]
        for group in ([shared] if len(shared) > 1 else []) + names:
            difference = paired_difference([first[name] for name in group], [second[name] for name in group])
            found.append(
                {"first": experiments[0], "second": other, "benchmark": MACRO if len(group) > 1 else group[0]}
                | asdict(difference)
            )
    return found


def find_warnings(headline: list[Document]) -> list[Document]:
    """Results that need a second look: missing questions, and rates that are too high."""
    found = []
    for group in headline:
        for line in group["lines"]:
            where = {"experiment": line["experiment"], "benchmark": group["benchmark"], "step": line["step"]}
            if not line["evaluated"]:
                found.append(where | {"kind": "not_evaluated"})
            elif not group["macro"]:
                graded = line["accuracy"]["n_problems"]
                total = line["n_questions"]
                if graded < total:
                    found.append(where | {"kind": "incomplete", "value": graded, "of": total})
                if line["n_not_asked"]:
                    found.append(where | {"kind": "not_asked", "value": line["n_not_asked"], "of": total})
                high = {name: line[name] for name, limit in WORRYING.items() if (line[name] or 0.0) > limit}
                found += [where | {"kind": name, "value": value} for name, value in high.items()]
    return found
