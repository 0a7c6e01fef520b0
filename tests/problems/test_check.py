from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.problems.factory import FakeGrader, problem
from torl.errors import ConfigError
from torl.problems.check import CHECKED_SCHEMA, Checker, check_shard, shard_rows, write_checked
from torl.problems.reasons import DropReason
from torl.problems.schema import Problem, problem_id, write_problems


def check(rows: Sequence[Problem], grader: FakeGrader | None = None) -> list[DropReason | None]:
    return [row.reason for row in Checker([], grader or FakeGrader()).check(rows)]


def test_an_answer_that_the_grader_cannot_parse_is_dropped_and_each_is_asked_once() -> None:
    rows = [problem(), *(problem(f"Find $f_{n}$.", answer) for n, answer in enumerate(["\\max x", "\\max x", "?y"]))]
    grader = FakeGrader(unparsed=["?y"])
    assert check(rows, grader) == [None, None, None, DropReason.UNPARSED_ANSWER]
    assert sorted(grader.asked) == ["?y", "\\max x"]


def test_an_answer_that_is_not_equal_to_itself_in_another_spelling_is_dropped() -> None:
    [row] = Checker([], FakeGrader(odd=["\\max x+1"])).check([problem("Find $f$.", "\\max x+1")])
    assert row.reason is DropReason.UNPARSED_ANSWER
    assert row.detail == "'\\\\max x+1' is not equal to '$ \\\\max x + 1 $'"


def test_ids_are_those_of_the_text_whatever_the_file_says(tmp_path: Path) -> None:
    rows = [Problem(**(vars(problem(text)) | {"id": "same"})) for text in ("One?", "Two?")]
    assert [row.problem.id for row in Checker([], FakeGrader()).check(rows)] == [problem_id("One?"), problem_id("Two?")]


def test_rows_pass_in_chunks_so_that_a_source_without_end_can_be_read() -> None:
    read = []

    def endless():
        while True:
            read.append(len(read))
            yield problem()

    next(Checker([], FakeGrader()).check(endless()))
    assert len(read) <= 1_000


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 12])
def test_shards_share_all_rows_of_all_files_in_order(tmp_path: Path, shards: int) -> None:
    rows = [problem(f"What is {n}?", str(n)) for n in range(10)]
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    write_problems(files[0], rows[:3])
    write_problems(files[1], rows[3:])
    parts = [list(shard_rows(files, shard, shards)) for shard in range(1, shards + 1)]
    assert [row for part in parts for row in part] == rows
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_shard_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    write_problems(tmp_path / "a.parquet", [problem()])
    with pytest.raises(ConfigError, match="shard is 3 of 2"):
        list(shard_rows([tmp_path / "a.parquet"], 3, 2))


def test_a_shard_is_written_with_what_rows_are_compared_by(tmp_path: Path) -> None:
    write_problems(tmp_path / "a.parquet", [problem(solution="6 + ..."), problem("Is it?", "yes")])
    write_problems(tmp_path / "amc.parquet", [problem(source="amc")])
    out = tmp_path / "shard.parquet"

    def count(texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    files = [tmp_path / "a.parquet"], [tmp_path / "amc.parquet"]
    assert check_shard(*files, shard=1, shards=1, out=out, count_tokens=count) == 2
    sound, dropped = pq.read_table(out).to_pylist()
    assert pq.read_schema(out) == CHECKED_SCHEMA
    assert (sound["reason"], sound["tokens"], sound["rank"]) == (None, len("What is 6 times 7?"), 1)
    assert [(hit["benchmark"], hit["kind"]) for hit in sound["overlap"]] == [("amc", "exact")]
    assert (dropped["reason"], dropped["signature"], dropped["tokens"]) == ("yes_or_no", None, None)
    assert np.frombuffer(sound["signature"], np.uint32).any()


def test_an_empty_shard_is_a_file_without_rows(tmp_path: Path) -> None:
    assert write_checked(tmp_path / "s.parquet", Checker([], FakeGrader()).check([])) == 0
    assert pq.read_schema(tmp_path / "s.parquet") == CHECKED_SCHEMA
