"""Documents follow the rollout's protocol to the letter, and their kinds come in the shares that were set."""

import re
import subprocess
import sys

import pytest

from tests.rollout.script import shipped
from torl.rollout.prompts import render
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.observation import error_line
from torl.scale_model.corpus import WITH_PROGRAMS, WITHOUT_PROGRAMS, CorpusMix, run, write_corpus
from torl.scale_model.families import FAMILIES, Level, Split, split_of

TORL = shipped("torl")
PLAIN_TAIL = re.compile(r"(So|is) \\boxed\{\d+\}\.$")


@pytest.fixture(scope="module")
def documents():
    return list(write_corpus(4000, 1, CorpusMix()))


def under(prompt: str, documents) -> list:
    before, _, after = render(prompt, "?").partition("?")
    return [d for d in documents if d.prompt.startswith(before) and d.prompt.endswith(after)]


def textbook(documents) -> list:
    return [document for document in documents if document.prompt.count("\n") == 1]


def answer(document) -> str | None:
    boxes = re.findall(r"\\boxed\{(\d+)\}", "".join(s.text for s in document.segments if s.kind == "model"))
    return boxes[-1] if boxes else None


def is_right(document) -> bool:
    return answer(document) == str(FAMILIES[document.fact.family].answer(document.fact.values))


def share(documents, claim) -> float:
    documents = list(documents)
    return sum(map(claim, documents)) / len(documents)


def test_each_turn_before_an_observation_ends_with_the_marker_and_holds_the_block_that_was_run(documents):
    for document in documents:
        for turn, observation in zip(document.segments, document.segments[1:], strict=False):
            if observation.kind == "model":
                continue
            assert turn.kind == "model"
            assert turn.text.endswith(TORL.stop)
            assert turn.text.count(TORL.stop) == 1
            ((_, _, code),) = TORL.blocks(turn.text)
            execution = run(code)
            shown = execution.stdout.strip() or error_line(execution.stderr)
            assert observation.text == TORL.wrap(shown)


def test_documents_end_with_a_model_turn_that_asks_for_nothing(documents):
    for document in documents:
        assert [segment.kind for segment in document.segments] == ["model", "observation"] * (
            len(document.segments) // 2
        ) + ["model"]
        assert TORL.stop not in document.segments[-1].text


def test_there_is_no_code_under_the_prompt_without_programs(documents):
    others = under(WITHOUT_PROGRAMS, documents)
    assert len(others) > 500
    assert not any("```" in segment.text for document in others for segment in document.segments)
    assert all(PLAIN_TAIL.search(document.segments[0].text) for document in others)


def test_every_document_is_under_one_of_the_two_prompts_or_a_textbook_page(documents):
    kinds = [textbook(documents), under(WITH_PROGRAMS, documents), under(WITHOUT_PROGRAMS, documents)]
    assert sum(map(len, kinds)) == len(documents)
    assert len(kinds[0]) / len(documents) == pytest.approx(CorpusMix().textbook, abs=0.03)
    assert len(kinds[1]) / (len(kinds[1]) + len(kinds[2])) == pytest.approx(CorpusMix().with_programs, abs=0.03)


def test_textbook_pages_hold_a_right_solution_or_steps_without_an_answer(documents):
    pages = textbook(documents)
    solved = [page for page in pages if answer(page)]
    assert all(is_right(page) and ": " in page.segments[0].text for page in solved)
    assert {page.fact.family for page in solved} == set(FAMILIES)
    assert not any(page.has_code for page in pages)
    assert 0.2 < len(solved) / len(pages) < 0.9


def test_steps_for_practice_hold_and_stay_in_the_split_of_the_corpus(documents):
    pages = [page for page in textbook(documents) if not answer(page)]
    for page in pages:
        family = FAMILIES[page.fact.family]
        assert all(split_of(family, values) is Split.CORPUS for values in family.practice(page.fact.values))
        for equation in re.findall(r"[\d()+*\-]+(?:=[\d()+*\-]+)+", page.segments[0].text):
            assert len({eval(side) for side in equation.split("=")}) == 1, equation


def test_two_fifths_of_the_responses_under_the_prompt_that_asks_for_programs_use_one(documents):
    asked = under(WITH_PROGRAMS, documents)
    assert share(asked, lambda document: document.has_code) == pytest.approx(0.43, abs=0.06)
    reading = [document for document in asked if not FAMILIES[document.fact.family].code_helps]
    assert 0.05 < share(reading, lambda document: document.has_code) < 0.25


def test_four_fifths_of_the_snippets_run(documents):
    snippets = [code for d in documents for s in d.segments if s.kind == "model" for _, _, code in TORL.blocks(s.text)]
    assert share(snippets, lambda code: run(code).outcome is CallOutcome.PASSED) == pytest.approx(0.8, abs=0.06)


def test_code_is_right_more_often_than_not_where_it_helps_and_hardly_ever_elsewhere(documents):
    coded = [document for document in documents if document.has_code]
    helped = [document for document in coded if FAMILIES[document.fact.family].code_helps]
    others = [document for document in coded if not FAMILIES[document.fact.family].code_helps]
    assert share(helped, is_right) > 0.55
    assert share(others, is_right) < 0.2


def test_worked_solutions_are_mostly_right_and_guesses_mostly_wrong(documents):
    prompted = [d for d in documents if d not in textbook([d])]
    plain = [d for d in prompted if not d.has_code and d.fact.level is Level.EASY]
    worked = [d for d in plain if ": " in d.segments[0].text]
    guessed = [d for d in plain if ": " not in d.segments[0].text]
    assert share(worked, is_right) > 0.9
    assert share(guessed, is_right) < 0.45


def test_a_third_of_the_failures_is_followed_by_a_second_block(documents):
    failed = [d for d in documents if d.has_code and "Error" in d.segments[1].text]
    assert share(failed, lambda d: len(d.segments) > 3) == pytest.approx(CorpusMix().repaired, abs=0.1)


def test_the_same_seed_gives_the_same_corpus():
    assert list(write_corpus(50, 3, CorpusMix())) == list(write_corpus(50, 3, CorpusMix()))
    assert list(write_corpus(50, 3, CorpusMix())) != list(write_corpus(50, 4, CorpusMix()))


@pytest.mark.parametrize(
    "code", ["print(38+47", "print(result)", "n=4\nprint(sum(n%d==0 for d in range(n+1)))", "print(7)"]
)
def test_the_reply_is_the_one_of_a_python_process(code, tmp_path):
    script = tmp_path / "snippet.py"
    script.write_text(code)
    process = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    execution = run(code)
    assert execution.stdout == process.stdout
    assert error_line(execution.stderr) == error_line(process.stderr)
    assert execution.return_code == process.returncode
