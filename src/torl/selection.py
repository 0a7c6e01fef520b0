"""Cheaper ways than learning impact to choose what is trained on: a band of pass rates, and at random.

A pass rate is the share of right answers among k responses that the base model gives before any training: it tells what
is too easy or too hard for the cost of k rollouts a problem, where learning impact takes a training run over the pool.

Differs from ToRL: it selects by learning impact alone; LIMR's authors name offline pass rates as the cheap substitute.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from torl.errors import ConfigError, DataError
from torl.problems.schema import Problem, open_parquet

PASS_RATE_SCHEMA = pa.schema([("problem_id", pa.string()), ("passes", pa.int64()), ("samples", pa.int64())])
COUNT_COLUMNS = ("problem_id", "passes", "samples")
RESPONSE_COLUMNS = ("problem_id", "correct")


class PassRate(NamedTuple):
    """How often a problem was solved."""

    passes: int
    samples: int
    """Responses that the grader could judge."""

    @property
    def share(self) -> float:
        """Right answers among the samples, 0 to 1."""
        return self.passes / self.samples


def read_pass_rates(path: Path | str) -> dict[str, PassRate]:
    """Pass rates by problem id, of a parquet of counts (``problem_id``, ``passes``, ``samples``) or of graded responses
    (``problem_id``, ``correct``): what an evaluation over the pool writes.

    A response that was not judged does not count; a problem without a judged one is left out.

    Raises:
        DataError: the file is missing, damaged or neither, or has more passes than samples.
    """
    with open_parquet(path, cure="sample the base model again, or correct data.pass_rates.") as file:
        columns = next(
            (known for known in (COUNT_COLUMNS, RESPONSE_COLUMNS) if {*known} <= {*file.schema_arrow.names}), None
        )
        if columns is None:
            raise DataError(
                f"{path} has the columns {', '.join(file.schema_arrow.names)}; needed are {', '.join(COUNT_COLUMNS)}, or "
                f"{', '.join(RESPONSE_COLUMNS)} with one row a response: pass the parquet of one or the other."
            )
        rows = (row for batch in file.iter_batches(columns=list(columns)) for row in batch.to_pylist())
        if columns is RESPONSE_COLUMNS:
            return pass_rates((row["problem_id"], row["correct"]) for row in rows)
        rates = {row["problem_id"]: PassRate(row["passes"], row["samples"]) for row in rows}
    wrong = [name for name, (passes, samples) in rates.items() if not 0 <= passes <= samples]
    if wrong:
        raise DataError(
            f"{path} has more passes than samples for {len(wrong)} problems, first {wrong[0]}; count again."
        )
    return {name: rate for name, rate in rates.items() if rate.samples}


def pass_rates(responses: Iterable[tuple[str, bool | None]]) -> dict[str, PassRate]:
    """Pass rates from pairs of problem id and whether the response is right; None was not judged and does not count."""
    passes, samples = Counter(), Counter()
    for name, correct in responses:
        if correct is not None:
            passes[name] += correct
            samples[name] += 1
    return {name: PassRate(passes[name], count) for name, count in samples.items()}


def select_pass_rate(
    pool: Sequence[Problem], rates: Mapping[str, PassRate], *, low: float, high: float
) -> list[Problem]:
    """The problems of ``pool`` with a pass rate from ``low`` to ``high``, both included, in the order of the pool.

    Raises:
        ConfigError: the band is empty or not within 0 and 1.
        DataError: no problem of the pool has a pass rate, or none lies in the band.
    """
    if not 0 <= low <= high <= 1:
        raise ConfigError(f"the band of pass rates is {low} to {high}; give two shares of 1, the lower first.")
    rated = [problem for problem in pool if problem.id in rates]
    if not rated:
        raise DataError("no problem of the pool has a pass rate; the rates belong to other problems: sample this pool.")
    chosen = [problem for problem in rated if low <= rates[problem.id].share <= high]
    if not chosen:
        raise DataError(f"none of {len(rated)} pass rates lies between {low} and {high}; widen the band.")
    return chosen


def select_random(pool: Sequence[Problem], *, count: int, seed: int) -> list[Problem]:
    """``count`` problems of ``pool`` drawn without replacement, in the order of the pool; the control for the others.

    Raises:
        DataError: ``count`` is not between 1 and the size of the pool.
    """
    if not 1 <= count <= len(pool):
        raise DataError(f"count is {count}, but the pool has {len(pool)} problems; ask for 1 to {len(pool)}.")
    chosen = np.sort(np.random.default_rng(seed).permutation(len(pool))[:count])
    return [pool[index] for index in chosen]
