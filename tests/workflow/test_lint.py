"""Snakemake's own linter has nothing to say that is not answered here."""

from tests.chain import snakemake
from tests.conftest import PROJECT

ANSWERED = {
    # software is pinned in envs/, one environment for all rules: Snakemake runs inside it
    "Specify a conda environment or container for each rule.:",
}


def test_the_linter_has_no_unanswered_remark() -> None:
    report = snakemake(PROJECT, "--lint", check=False).stderr
    remarks = [line.strip() for line in report.splitlines() if line.strip().startswith("* ")]
    assert remarks, report
    assert {remark.removeprefix("* ") for remark in remarks} - ANSWERED == set()
