"""The order of a batch is its own."""

import random

import torch
from hypothesis import given
from hypothesis import strategies as st

from torl.training.trainer import order_of_rows

ROWS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), max_size=8)


@given(rows=ROWS, seed=st.integers(0, 99))
def test_rows_come_out_alike_whichever_was_ready_first(rows: list[list[int]], seed: int) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))

    def ordered(some: list[list[int]]) -> list[list[int]]:
        return [some[i] for i in order_of_rows([torch.tensor(row) for row in some])]

    assert ordered(shuffled) == ordered(rows)
    assert sorted(ordered(rows)) == sorted(rows)
