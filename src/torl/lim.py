"""LIM: which problems a learning run gains from, told by how their reward follows the mean learning curve.

A problem's curve is its mean reward (0 to 1) in each epoch of a probe run. Its score is 1 where the curve is the mean
curve, 0 where every epoch is solved, negative where it stays away from the mean.

Differs from ToRL: it says that "LIMR" chose 28,740 of 75,149 problems and releases neither curves nor threshold.
Formula, one-step back-fill, two decimals and ``>=`` are those of LIMR's released code (its paper writes ``>``, which
loses the 65 problems at exactly 0.60).

Command line: ``python -m torl.lim select SCORES (--min X | --count N) --out FILE``.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zstandard

from torl.errors import ConfigError, DataError, TorlError
from torl.files import read_table, write_json, write_table
from torl.problems.formats import decompressed
from torl.problems.schema import Problem, problem_id

DECIMALS = 2
"""Decimals of a score: the published threshold reproduces the published selection only on rounded scores."""


def learning_curve_scores(curves: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Scores of problems by id from their mean rewards per epoch; ``None`` is an epoch without a rollout.

    A missing epoch takes the reward of the next one, one step only; a problem that still lacks an epoch gets no
    score, and does not count in the mean curve.

    Raises:
        DataError: curves of different lengths, no complete curve, or a mean curve of 1 in every epoch.
    """
    lengths = {len(curve) for curve in curves.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise DataError(
            f"learning curves have {sorted(lengths)} epochs; all need one same number: check the probe run."
        )
    rewards_P_K = np.array([[np.nan if r is None else r for r in curve] for curve in curves.values()], dtype=float)
    following_P_K = np.hstack([rewards_P_K[:, 1:], np.full((len(rewards_P_K), 1), np.nan)])
    filled_P_K = np.where(np.isnan(rewards_P_K), following_P_K, rewards_P_K)
    complete_P = ~np.isnan(filled_P_K).any(axis=1)
    if not complete_P.any():
        raise DataError("no problem has a reward in every epoch; let the probe run finish at least one more epoch.")
    valid_P_K = filled_P_K[complete_P]
    mean_K = valid_P_K.mean(axis=0)
    room = float(((1 - mean_K) ** 2).sum())
    if room == 0:
        raise DataError("every problem is solved in every epoch, so nothing ranks them; probe with a weaker model.")
    scores_P = np.round(1 - ((valid_P_K - mean_K) ** 2).sum(axis=1) / room, DECIMALS) + 0.0
    ids = [name for name, complete in zip(curves, complete_P, strict=True) if complete]
    return dict(zip(ids, scores_P.tolist(), strict=True))


def select(scores: Mapping[str, float], *, minimum: float | None = None, count: int | None = None) -> list[str]:
    """Ids with a score of at least ``minimum``, or the ``count`` ids of the highest scores; in the order of ``scores``.

    Among equal scores at the cut the earlier ids win.

    Raises:
        ConfigError: not exactly one of ``minimum`` and ``count``.
        DataError: nothing is selected, or ``count`` is more than there are scores.
    """
    if (minimum is None) == (count is None):
        raise ConfigError(f"minimum is {minimum} and count is {count}; give exactly one of them.")
    if count is not None:
        if not 1 <= count <= len(scores):
            raise DataError(
                f"count is {count}, but there are {len(scores)} scored problems; ask for 1 to {len(scores)}."
            )
        chosen = set(sorted(scores, key=lambda name: -scores[name])[:count])
    else:
        chosen = {name for name, score in scores.items() if score >= minimum}
    if not chosen:
        best = max(scores.values(), default=None)
        raise DataError(f"no score reaches the minimum {minimum} (the best is {best}); lower it.")
    return [name for name in scores if name in chosen]


class Score(NamedTuple):
    """A score as a file has it."""

    key: str
    """The prompt in a published file, the problem id in ours."""
    problem_id: str
    score: float


def read_scores(path: Path | str) -> list[Score]:
    """Scores of our parquet, or of a published JSON list of {``prompt``, ``score``}, also ``.zst``.

    Raises:
        DataError: the file is missing or malformed.
    """
    path = Path(path)
    if path.suffix == ".parquet":
        rows = read_table(path, ["problem_id", "score"])
        return [Score(row["problem_id"], row["problem_id"], _number(row["score"], path)) for row in rows]
    try:
        return [
            Score(row["prompt"], problem_id(row["prompt"]), _number(row["score"], path)) for row in _json_rows(path)
        ]
    except FileNotFoundError as error:
        raise DataError(
            f"{path} does not exist; run the probe experiment, or set data.scores to a score file."
        ) from error
    except (ValueError, TypeError, KeyError, zstandard.ZstdError) as error:
        raise DataError(
            f"{path} is not a list of {{prompt, score}} ({type(error).__name__}: {error}); pass published scores as "
            "JSON, or the parquet of the probe experiment."
        ) from error


def _number(score: Any, path: Path) -> float:
    if not isinstance(score, (int, float)) or not isfinite(score):
        raise DataError(f"{path} has the score {score!r}, which is no number; mend that row, or make the file again.")
    return float(score)


def _json_rows(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as raw:
        data = decompressed(raw) if path.suffix == ".zst" else raw
        return json.loads(data.read().decode("utf-8"))


def scores_by_problem(scores: Iterable[Score]) -> dict[str, float]:
    """The score of each problem id; of prompts that differ in layout alone the highest counts."""
    best: dict[str, float] = {}
    for score in scores:
        best[score.problem_id] = max(score.score, best.get(score.problem_id, score.score))
    return best


def select_lim(
    pool: Sequence[Problem], scores: Mapping[str, float], *, minimum: float | None = None, count: int | None = None
) -> list[Problem]:
    """The problems of ``pool`` that LIM selects, in the order of the pool; problems without a score are left out.

    Raises:
        DataError: no problem of the pool has a score, or none is selected.
    """
    scored = {problem.id: scores[problem.id] for problem in pool if problem.id in scores}
    if not scored:
        raise DataError(
            "no problem of the pool has a score; the scores belong to other problems: run the probe on this pool."
        )
    chosen = set(select(scored, minimum=minimum, count=count))
    return [problem for problem in pool if problem.id in chosen]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m torl.lim", description="Select problems by their LIM scores.")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("select", help="keep the problems with the highest scores")
    command.add_argument("scores", metavar="SCORES", help="published JSON (also .zst), or our parquet")
    cut = command.add_mutually_exclusive_group(required=True)
    cut.add_argument("--min", type=float, dest="minimum", metavar="X", help="keep scores of at least X")
    cut.add_argument("--count", type=int, metavar="N", help="keep the N highest scores")
    command.add_argument("--out", required=True, metavar="FILE", help=".json or .parquet of problem_id and score")
    options = parser.parse_args(arguments)
    try:
        scores = {score.key: score for score in read_scores(options.scores)}
        values = {key: score.score for key, score in scores.items()}
        chosen = select(values, minimum=options.minimum, count=options.count)
        rows = [{"problem_id": scores[key].problem_id, "score": scores[key].score} for key in chosen]
        (write_table if options.out.endswith(".parquet") else write_json)(options.out, rows)
    except (TorlError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"kept {len(rows):,} of {len(scores):,} scored problems\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
