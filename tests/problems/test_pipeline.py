from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problems.factory import FakeGrader, problem
from torl.errors import ConfigError, DataError
from torl.files import read_json, read_table
from torl.problems.pipeline import (
    DROPPED_SCHEMA,
    FilterResult,
    FilterSettings,
    filter_problems,
    funnel_text,
    write_filtered,
)
from torl.problems.schema import Problem, read_problems
from torl.problems.verifiable import DropReason

GOOD = problem("What is 6 times 7?", "42", origin="f:0")


def run(problems: list[Problem], benchmarks: list[Problem] | None = None, **options: object) -> FilterResult:
    grader = options.pop("grader", FakeGrader())
    count_tokens = options.pop("count_tokens", None)
    return filter_problems(
        problems, benchmarks or [], FilterSettings(**options), grader=grader, count_tokens=count_tokens
    )


def reasons(result: FilterResult) -> list[tuple[str, DropReason]]:
    return [(row.origin, row.reason) for row in result.dropped]


def test_an_answer_that_the_grader_cannot_parse_is_dropped_and_each_is_asked_once() -> None:
    rows = [GOOD, *(problem(f"Find $f_{n}$.", answer, origin=f"f:{n}") for n, answer in enumerate(["x", "x", "?y"], 1))]
    grader = FakeGrader(unparsed=["?y"])
    assert reasons(run(rows, grader=grader)) == [("f:3", DropReason.UNPARSED_ANSWER)]
    assert sorted(grader.asked) == ["?y", "x"]


def test_of_copies_the_one_with_a_solution_then_with_a_level_then_the_first_is_kept() -> None:
    copies = [
        problem(origin="f:0"),
        problem(origin="f:1", level="Level 1"),
        problem(origin="f:2", solution="6 + 6 + ..."),
        problem(origin="f:3", solution="7 + 7 + ..."),
    ]
    result = run(copies)
    assert [row.origin for row in result.kept] == ["f:2"]
    assert {row.reason for row in result.dropped} == {DropReason.DUPLICATE}
    assert result.dropped[0].detail == "kept made f:2"
    assert [row.origin for row in run(copies[:2]).kept] == ["f:1"]
    assert [row.origin for row in run([copies[0], problem(origin="f:9")]).kept] == ["f:0"]


def test_copies_that_disagree_are_all_dropped_with_their_answers() -> None:
    result = run([GOOD, problem("Is it 2?", "2", origin="f:1"), problem("Is it  2?", "3", origin="f:2")])
    assert reasons(result) == [("f:1", DropReason.CONFLICTING_ANSWERS), ("f:2", DropReason.CONFLICTING_ANSWERS)]
    assert result.dropped[0].detail == "'2' / '3'"


def test_copies_whose_answers_differ_in_spelling_or_for_the_grader_are_the_same_do_not_conflict() -> None:
    spelled = [problem("Half?", "0.5"), problem("Half?", "\\frac{1}{2}")]
    assert len(run(spelled).kept) == 1
    graded = [problem("Root?", "2\\sqrt{10}"), problem("Root?", "\\sqrt{40}")]
    assert len(run(graded, grader=FakeGrader(equal=[{"2\\sqrt{10}", "\\sqrt{40}"}])).kept) == 1
    with pytest.raises(DataError):
        run(graded)


def test_a_benchmark_problem_is_dropped_unless_it_is_to_be_kept_and_is_listed_either_way() -> None:
    train = problem("What is $1+1$?", "2", origin="f:1")
    benchmark = problem("What is 1 + 1 ?", "2", source="amc")
    dropped, kept = run([GOOD, train], [benchmark]), run([GOOD, train], [benchmark], keep_overlap=True)
    assert reasons(dropped) == [("f:1", DropReason.BENCHMARK_OVERLAP)]
    assert dropped.dropped[0].detail == f"exact: amc {benchmark.id}"
    assert len(kept.kept) == 2
    assert kept.hits == dropped.hits != []


def test_the_prompt_budget_leaves_ten_tokens_free() -> None:
    rows = [problem("x" * 90, origin="fits"), problem("x" * 91, origin="does not")]
    result = run(rows, max_prompt_tokens=100, count_tokens=len)
    assert [row.origin for row in result.kept] == ["fits"]
    assert reasons(result) == [("does not", DropReason.TOO_LONG)]
    assert result.dropped[0].detail == "91 tokens, at most 90"


def test_a_budget_without_a_tokenizer_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_prompt_tokens is 100 but no tokenizer"):
        run([GOOD], max_prompt_tokens=100)


def test_nothing_left_is_an_error_that_shows_the_funnel() -> None:
    with pytest.raises(DataError, match=r"(?s)rows read +2.*yes_or_no +-2.*kept +0"):
        run([problem("Is it?", "yes"), problem("Is it not?", "no")])
    with pytest.raises(DataError, match=r"rows read +0"):
        run([])


TEXTS = ["What is it?", "Prove that it is.", "(1) Find it. (2) Find that.", "\x00", "What is this?", "Why?"]
ROWS = st.builds(
    problem,
    st.sampled_from(TEXTS),
    st.sampled_from(["1", "2", "yes", "", "x", "A", "a long sentence of words"]),
    source=st.sampled_from(["a", "b"]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(ROWS, max_size=12))
def test_every_row_is_kept_or_dropped_once_and_the_counts_add_up(rows: list[Problem]) -> None:
    result = run([*rows, GOOD], [problem("Why?", source="amc")])
    funnel = result.funnel
    assert len(result.kept) + len(result.dropped) == len(rows) + 1 == funnel["rows"]
    assert funnel["rows"] - sum(step["dropped"] for step in funnel["steps"]) == funnel["kept"] == len(result.kept)
    assert [step["reason"] for step in funnel["steps"]] == [str(reason) for reason in DropReason]
    assert funnel["steps"][-1]["left"] == funnel["kept"]
    for source, count in funnel["rows_by_source"].items():
        dropped = sum(step["dropped_by_source"].get(source, 0) for step in funnel["steps"])
        assert count == dropped + funnel["kept_by_source"].get(source, 0)
    assert len({row.id for row in result.kept}) == len(result.kept)


def test_pool_dropped_rows_and_funnel_are_written(tmp_path: Path) -> None:
    result = run([GOOD, problem("Is it?", "yes", origin="f:1")])
    paths = {"pool": tmp_path / "p.parquet", "dropped": tmp_path / "d.parquet", "funnel": tmp_path / "f.json"}
    write_filtered(result, **paths)
    assert read_problems(paths["pool"]) == [GOOD]
    [row] = read_table(paths["dropped"])
    assert (row["origin"], row["reason"], row["detail"]) == ("f:1", "yes_or_no", "the answer is 'yes'")
    assert pq.read_schema(paths["dropped"]) == DROPPED_SCHEMA
    assert read_json(paths["funnel"])["kept"] == 1


def test_the_funnel_as_text_has_only_reasons_that_occurred() -> None:
    text = funnel_text(run([GOOD, problem("Is it?", "yes")]).funnel)
    assert [line.split()[0] for line in text.splitlines()] == ["rows", "yes_or_no", "kept"]
