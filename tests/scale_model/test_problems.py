"""Splits are disjoint by construction, seeded, and half hard."""

from collections import Counter
from random import Random

import pytest

from torl.errors import ConfigError
from torl.problems.schema import Problem, problem_id
from torl.scale_model.corpus import CorpusMix, write_corpus
from torl.scale_model.families import FAMILIES, READING_SHARE, Split, split_of
from torl.scale_model.problems import generate, questions

SEEDS = range(3)


def facts_of(split: Split, count: int) -> set[tuple]:
    return {
        (fact.family, FAMILIES[fact.family].canonical(fact.values))
        for seed in SEEDS
        for fact, _ in questions(Random(seed), split, count)
    }


def test_no_fact_of_the_test_split_occurs_in_corpus_or_train_whatever_the_seed():
    corpus = {
        (document.fact.family, FAMILIES[document.fact.family].canonical(document.fact.values))
        for seed in SEEDS
        for document in write_corpus(3000, seed, CorpusMix())
    }
    train, test = facts_of(Split.TRAIN, 1000), facts_of(Split.TEST, 256)
    assert not test & corpus
    assert not test & train
    assert not train & corpus


def test_no_question_of_the_test_split_is_in_the_text_of_the_corpus():
    questions = {problem.text for problem in generate("test", 256, seed=1)}
    assert not [
        document.text
        for document in write_corpus(3000, 1, CorpusMix())
        if any(f"\n{question}\n" in document.text for question in questions)
    ]


@pytest.mark.parametrize("split", list(Split))
def test_each_problem_belongs_to_the_split_that_was_asked_for(split):
    for fact, _ in questions(Random(5), split, 200):
        assert split_of(FAMILIES[fact.family], fact.values) is split


def test_the_same_arguments_give_the_same_problems_and_another_seed_others():
    assert generate("train", 50, seed=1) == generate("train", 50, seed=1)
    assert generate("train", 50, seed=1) != generate("train", 50, seed=2)


def test_problems_are_distinct_half_hard_and_in_their_shares():
    problems = generate("train", 2000, seed=1)
    assert len({problem.id for problem in problems}) == 2000
    assert Counter(problem.level for problem in problems) == {"easy": 1000, "hard": 1000}
    reading = sum(not FAMILIES[problem.subset].code_helps for problem in problems) / len(problems)
    assert reading == pytest.approx(READING_SHARE, abs=0.03)
    assert {problem.subset for problem in problems} == set(FAMILIES)


def test_a_problem_carries_the_fields_of_the_common_schema():
    problem = generate("test", 1, seed=3)[0]
    assert isinstance(problem, Problem)
    assert problem.id == problem_id(problem.text)
    assert problem.answer.isdecimal()
    assert problem.solution.endswith(f"\\boxed{{{problem.answer}}}.")
    assert problem.source == "generated"


def test_an_unknown_split_is_refused_with_the_ones_there_are():
    with pytest.raises(ConfigError, match=r"'validation'; choose one of corpus, train, test"):
        generate("validation", 1, seed=1)


def test_more_problems_than_a_split_holds_are_refused(monkeypatch):
    monkeypatch.setattr("torl.scale_model.problems.COMPUTING", (FAMILIES["modular_power"],))
    monkeypatch.setattr("torl.scale_model.problems.READING", (FAMILIES["modular_power"],))
    with pytest.raises(ConfigError, match="ask for at most that many"):
        generate("test", 2000, seed=1)
