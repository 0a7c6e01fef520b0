from pathlib import Path

from tests.problems.factory import problem
from torl.problems.overlap import COMMON_NGRAM, find_overlap
from torl.problems.readers import ReadCounts, read_file

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen"


def test_the_same_letters_and_digits_are_an_exact_hit() -> None:
    train, other = problem("Find $X^2$, if x = 3!"), problem("Find $x^2$ if x = 4.")
    benchmark = problem("find x 2 if X=3", source="amc")
    [hit] = find_overlap([train, other], [benchmark])
    assert hit == (train.id, "amc", benchmark.id, "exact")


def test_thirteen_words_in_a_row_are_a_hit_and_twelve_are_not() -> None:
    benchmark = problem(f"Start. {LONG}? End.", source="amc")
    shares_13 = problem(f"Other beginning, {LONG.upper()}, other end")
    shares_12 = problem(f"Other beginning, {LONG.rsplit(' ', 1)[0]}, other end")
    assert [hit.problem_id for hit in find_overlap([shares_13, shares_12], [benchmark])] == [shares_13.id]
    assert find_overlap([shares_13], [benchmark])[0].kind == "13-gram"


def test_a_phrase_that_many_training_problems_share_is_no_overlap() -> None:
    benchmark = problem(f"Start. {LONG}?", source="amc")
    train = [problem(f"Problem {n} is {LONG}") for n in range(COMMON_NGRAM + 1)]
    assert find_overlap(train, [benchmark]) == []
    assert len(find_overlap(train[:-1], [benchmark])) == COMMON_NGRAM


def test_drawing_code_is_no_overlap() -> None:
    drawing = f"[asy] {LONG} [/asy]"
    assert find_overlap([problem(f"What is 1? {drawing}")], [problem(f"What is 2? {drawing}", source="amc")]) == []


def test_known_overlap_of_deepscaler_with_the_benchmarks_is_found(shared_data: Path) -> None:
    train = []
    for part in ("L1", "L3"):
        file = shared_data / f"sources/fastcurl_train_{part}.parquet"
        train += read_file(file, reader="verl", source="deepscaler", counts=ReadCounts())
    benchmarks = []
    files = {"math500": "math500_oneshot", "olympiadbench": "olympiadbench_qwen", "aime24": "aime24_qwen"}
    for name, path in files.items():
        file = shared_data / f"benchmarks/{path}.jsonl"
        benchmarks += read_file(file, reader="plain", source=name, counts=ReadCounts())
    exact = [(hit.benchmark, hit.benchmark_id) for hit in find_overlap(train, benchmarks) if hit.kind == "exact"]
    found = {name: len({hit for hit in exact if hit[0] == name}) for name in ("math500", "olympiadbench", "aime24")}
    assert found["math500"] >= 8
    assert found["olympiadbench"] >= 1
    assert found["aime24"] == 0
