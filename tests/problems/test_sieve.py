from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.problems.factory import FakeGrader, Filtered, problem, run_filter
from torl.errors import DataError
from torl.files import read_table
from torl.problems.funnel import FilterSettings
from torl.problems.reasons import DropReason
from torl.problems.schema import Problem
from torl.problems.sieve import DROPPED_SCHEMA, Sieve

GOOD = problem("What is 6 times 7?", "42", origin="f:0")
LONG = "A fair coin is tossed {} times. What is the probability that heads never come up twice in a row in all those tosses?"


def test_of_copies_the_one_with_a_solution_then_with_a_level_then_the_first_is_kept(tmp_path: Path) -> None:
    copies = [
        problem(origin="f:0"),
        problem(origin="f:1", level="Level 1"),
        problem(origin="f:2", solution="6 + 6 + ..."),
        problem(origin="f:3", solution="7 + 7 + ..."),
    ]
    result = run_filter(tmp_path, copies)
    assert [row.origin for row in result.kept] == ["f:2"]
    assert {row["reason"] for row in result.dropped} == {"duplicate"}
    assert result.dropped[0]["detail"] == "kept made f:2"
    assert [row.origin for row in run_filter(tmp_path, copies[:2]).kept] == ["f:1"]
    assert [row.origin for row in run_filter(tmp_path, [copies[0], problem(origin="f:9")]).kept] == ["f:0"]


def test_copies_that_disagree_are_all_dropped_with_their_answers(tmp_path: Path) -> None:
    copies = [problem("Is it 2?", "2", origin="f:1"), problem("Is it  2?", "3", origin="f:2")]
    result = run_filter(tmp_path, [GOOD, *copies])
    assert result.reasons == [("f:1", DropReason.CONFLICTING_ANSWERS), ("f:2", DropReason.CONFLICTING_ANSWERS)]
    assert result.dropped[0]["detail"] == "'2' / '3'"


def test_copies_whose_answers_differ_in_spelling_or_for_the_grader_are_the_same_do_not_conflict(tmp_path: Path) -> None:
    spelled = [problem("Half?", "0.5"), problem("Half?", "\\frac{1}{2}")]
    assert len(run_filter(tmp_path, spelled).kept) == 1
    graded = [problem("Root?", "2\\sqrt{10}"), problem("Root?", "\\sqrt{40}")]
    assert len(run_filter(tmp_path, graded, grader=FakeGrader(equal=[{"2\\sqrt{10}", "\\sqrt{40}"}])).kept) == 1
    with pytest.raises(DataError):
        run_filter(tmp_path, graded)


def test_of_near_duplicates_the_one_of_best_provenance_is_kept(tmp_path: Path) -> None:
    rows = [
        problem(LONG.format(5), "13/32", origin="f:0"),
        problem("Example 7. " + LONG.format(5).replace("come up", "show up"), "13/32", origin="f:1", solution="Count."),
    ]
    result = run_filter(tmp_path, rows)
    assert [row.origin for row in result.kept] == ["f:1"]
    assert result.reasons == [("f:0", DropReason.NEAR_DUPLICATE)]
    assert result.dropped[0]["detail"].endswith("like made f:1")
    assert 0.6 <= float(result.dropped[0]["detail"].split()[0]) < 1


@pytest.mark.parametrize(
    "other",
    [
        problem(LONG.format(6), "13/32", origin="f:1"),
        problem(LONG.format(5).replace("come up", "show up"), "1/2", origin="f:1"),
        problem("What is the probability that five coins show heads in a row, if 5 are tossed?", "13/32", origin="f:1"),
    ],
)
def test_another_number_answer_or_wording_makes_another_problem(tmp_path: Path, other: Problem) -> None:
    assert len(run_filter(tmp_path, [problem(LONG.format(5), "13/32"), other]).kept) == 2


def test_a_chain_of_small_changes_is_not_followed(tmp_path: Path) -> None:
    words = [f"word{chr(97 + n)}" for n in range(20)]
    texts = [
        " ".join(f"other{chr(97 + n)}" if n < changed else words[n] for n in range(20)) for changed in (0, 1, 2, 3)
    ]
    result = run_filter(tmp_path, [problem(text, "1", origin=str(n)) for n, text in enumerate(texts)])
    like = {row["origin"]: row["detail"].split()[-1] for row in result.dropped}
    assert set(like.values()) <= {row.origin for row in result.kept}


def test_a_benchmark_problem_is_dropped_unless_it_is_to_be_kept_and_is_listed_either_way(tmp_path: Path) -> None:
    train = problem("What is $1+1$?", "2", origin="f:1")
    benchmark = problem("What is 1 + 1 ?", "2", source="amc")
    dropped, kept = (run_filter(tmp_path, [GOOD, train], [benchmark], keep_overlap=keep) for keep in (False, True))
    assert dropped.reasons == [("f:1", DropReason.BENCHMARK_OVERLAP)]
    assert dropped.dropped[0]["detail"] == f"exact: amc {benchmark.id}"
    assert len(kept.kept) == 2
    assert kept.overlap == dropped.overlap != []
    assert dropped.overlap[0]["problem_id"] == train.id
    assert dropped.funnel["overlap"] == [{"benchmark": "amc", "kind": "exact", "problems": 1}]


def lengths(texts: list[str]) -> list[int]:
    return [len(text) for text in texts]


def test_the_prompt_budget_leaves_ten_tokens_free(tmp_path: Path) -> None:
    rows = [problem("x" * 90, origin="fits"), problem("x" * 91, origin="does not")]
    result = run_filter(tmp_path, rows, max_prompt_tokens=100, count_tokens=lengths)
    assert [row.origin for row in result.kept] == ["fits"]
    assert result.reasons == [("does not", DropReason.TOO_LONG)]
    assert result.dropped[0]["detail"] == "91 tokens, at most 90"


def test_a_budget_for_rows_whose_tokens_were_not_counted_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"max_prompt_tokens is 100, but .* without a tokenizer"):
        run_filter(tmp_path, [GOOD], max_prompt_tokens=100)


def test_nothing_left_is_an_error_that_shows_the_funnel_and_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"(?s)rows read +2.*yes_or_no +-2.*kept +0"):
        run_filter(tmp_path, [problem("Is it?", "yes"), problem("Is it not?", "no")])
    with pytest.raises(DataError, match=r"rows read +0"):
        run_filter(tmp_path, [])
    assert not (tmp_path / "pool.parquet").exists()


TEXTS = ["What is it?", "Prove that it is.", "(1) Find it. (2) Find that.", "\x00", "What is this?", "Why?", LONG]
ROWS = st.lists(
    st.builds(
        problem,
        st.sampled_from(TEXTS),
        st.sampled_from(["1", "2", "yes", "", "x", "A", "a long sentence of words"]),
        source=st.sampled_from(["a", "b"]),
        solution=st.sampled_from([None, "So."]),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.integers(2, 4))
def test_every_row_is_kept_or_dropped_once_whatever_the_number_of_shards(
    tmp_path: Path, rows: list[Problem], shards: int
) -> None:
    rows = [*rows, GOOD]
    benchmarks = [problem("Why?", source="amc")]
    result = run_filter(tmp_path, rows, benchmarks)
    check_counts(result, rows)
    assert run_filter(tmp_path, rows, benchmarks, shards=shards) == result


def check_counts(result: Filtered, rows: list[Problem]) -> None:
    funnel = result.funnel
    assert len(result.kept) + len(result.dropped) == len(rows) == funnel["rows"]
    assert funnel["rows"] - sum(step["dropped"] for step in funnel["steps"]) == funnel["kept"] == len(result.kept)
    assert [step["reason"] for step in funnel["steps"]] == [str(reason) for reason in DropReason]
    assert funnel["steps"][-1]["left"] == funnel["kept"]
    for source, count in funnel["rows_by_source"].items():
        dropped = sum(step["dropped_by_source"].get(source, 0) for step in funnel["steps"])
        assert count == dropped + funnel["kept_by_source"].get(source, 0)
    assert len({row.id for row in result.kept}) == len(result.kept)


def test_pool_and_dropped_rows_are_written_in_their_form(tmp_path: Path) -> None:
    result = run_filter(tmp_path, [GOOD, problem("Is it?", "yes", origin="f:1")])
    assert result.kept == [GOOD]
    [row] = read_table(tmp_path / "dropped.parquet")
    assert (row["origin"], row["reason"], row["detail"]) == ("f:1", "yes_or_no", "the answer is 'yes'")
    assert pq.read_schema(tmp_path / "dropped.parquet") == DROPPED_SCHEMA


def test_a_file_that_is_no_shard_is_an_error(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "s.parquet")
    with pytest.raises(DataError, match=r"s\.parquet lacks the column\(s\) answer, answer_key.*check_problems"):
        Sieve([tmp_path / "s.parquet"], FilterSettings())
