"""The three responses are chosen by the stated rule and shown piece by piece."""

from pathlib import Path

from tests.analysis.factory import make_call, make_row
from torl.analysis.results import read_evaluations
from torl.analysis.samples import choose_samples, shown
from torl.files import write_table
from torl.rollout.trajectory import TRAJECTORY_SCHEMA


def chosen(folder: Path, *files: list[dict]) -> dict[str, dict | None]:
    paths = []
    for number, rows in enumerate(files):
        paths.append(folder / f"{number}.parquet")
        write_table(paths[-1], rows, TRAJECTORY_SCHEMA)
    evaluations = read_evaluations(paths)
    return {one["kind"]: one["response"] for one in choose_samples(evaluations, ["torl", "no_tool"])}


def test_a_right_answer_is_taken_from_a_question_that_the_other_experiment_missed(tmp_path: Path) -> None:
    ours = [make_row(problem_id=name, calls=[make_call()]) for name in ("a", "b", "c")]
    theirs = [make_row(experiment="no_tool", problem_id=name, correct=name != "b") for name in ("a", "b", "c")]
    assert chosen(tmp_path, ours, theirs)["helped"]["problem_id"] == "b"


def test_the_smallest_problem_id_breaks_ties(tmp_path: Path) -> None:
    rows = [make_row(problem_id=name, calls=[make_call()]) for name in ("c", "a", "b")]
    assert chosen(tmp_path, rows)["helped"]["problem_id"] == "a"


def test_code_after_the_answer_did_not_help(tmp_path: Path) -> None:
    assert chosen(tmp_path, [make_row(calls=[make_call(before_answer=False)])])["helped"] is None


def test_a_failure_that_ended_in_a_right_answer_is_preferred(tmp_path: Path) -> None:
    rows = [
        make_row(problem_id="a", correct=False, calls=[make_call("timed_out")]),
        make_row(problem_id="b", calls=[make_call("raised"), make_call()]),
    ]
    assert chosen(tmp_path, rows)["failed"]["problem_id"] == "b"


def test_an_earlier_step_is_used_when_the_last_one_has_no_such_response(tmp_path: Path) -> None:
    last = [make_row(calls=[make_call()])]
    first = [make_row(step=0), make_row(step=0, problem_id="p1", calls=[make_call("raised")])]
    found = chosen(tmp_path, last, first)
    assert (found["plain"]["step"], found["failed"]["step"], found["helped"]["step"]) == (0, 0, 30)


def test_a_kind_that_does_not_occur_is_none(tmp_path: Path) -> None:
    assert chosen(tmp_path, [make_row()])["failed"] is None


def test_a_broken_sandbox_is_never_shown_as_failed_code(tmp_path: Path) -> None:
    row = make_row(stop_reason="sandbox_failed", correct=None, calls=[make_call("sandbox_failed")])
    assert chosen(tmp_path, [row])["failed"] is None


def test_a_question_that_was_not_asked_is_never_shown_as_a_response(tmp_path: Path) -> None:
    assert chosen(tmp_path, [make_row(stop_reason="prompt_too_long", segments=[])])["plain"] is None


def test_pieces_tell_prose_code_and_output_with_its_outcome() -> None:
    pieces = shown(make_row(calls=[make_call("raised")]))["pieces"]
    assert [(piece["kind"], piece["outcome"]) for piece in pieces] == [
        ("prose", None),
        ("code", None),
        ("output", "raised"),
        ("prose", None),
    ]
    assert pieces[1]["text"] == "```python\nprint(1 + 1)\n```"


def test_a_long_piece_is_cut_and_says_by_how_much() -> None:
    row = make_row(segments=[{"kind": "model", "text": "x" * 200_000}])
    (piece,) = shown(row)["pieces"]
    assert len(piece["text"]) + piece["left_out"] == 200_000
    assert len(piece["text"]) < 5_000
