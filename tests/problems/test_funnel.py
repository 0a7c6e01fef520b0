import numpy as np

from torl.problems.funnel import FilterSettings, Funnel
from torl.problems.reasons import DropReason


def test_the_text_has_only_reasons_that_occurred_and_what_each_left() -> None:
    counts = np.zeros((len(DropReason) + 1, 2), dtype=int)
    counts[list(DropReason).index(DropReason.YES_OR_NO)] = 1, 2
    counts[-1] = 4, 3
    funnel = Funnel(counts_N_S=counts, sources=["a", "b"], hits=[], settings=FilterSettings())
    lines = funnel.text().splitlines()
    assert [line.split()[0] for line in lines] == ["rows", "yes_or_no", "kept"]
    assert lines[1].split()[1:4] == ["-3", "7", "left"]
    assert (funnel.rows, funnel.kept) == (10, 7)
    assert funnel.to_json()["kept_by_source"] == {"a": 4, "b": 3}
