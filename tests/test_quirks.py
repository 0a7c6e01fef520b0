"""Every quirk has its sentence, its place in the experiment `release`, and its row in the documentation."""

from enum import StrEnum

import pytest

from tests.conftest import PROJECT
from tests.rollout.script import configured
from torl.quirks import EVIDENCE, GradingQuirk, RewardQuirk, RolloutQuirk

SECTIONS = {"rollout": RolloutQuirk, "reward": RewardQuirk, "grading": GradingQuirk}


@pytest.mark.parametrize("section", SECTIONS)
def test_the_default_is_none_of_them_and_release_has_all(section: str) -> None:
    assert getattr(configured("torl"), section).quirks == []
    assert set(getattr(configured("release"), section).quirks) == set(SECTIONS[section])


@pytest.mark.parametrize("quirk", [quirk for kind in SECTIONS.values() for quirk in kind])
def test_a_quirk_has_one_sentence_of_evidence_which_the_documentation_repeats(quirk: StrEnum) -> None:
    section = next(name for name, kind in SECTIONS.items() if isinstance(quirk, kind))
    sentence = EVIDENCE[quirk]
    assert sentence.endswith(".")
    assert ". " not in sentence
    document = (PROJECT / "docs" / "rollout.md").read_text(encoding="utf-8")
    assert f"| `{section}` | `{quirk}` | {sentence} |" in document
