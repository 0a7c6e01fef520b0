"""The paper as data: its curves and tables, its claims, and where this workflow departs from it.

Read from ``config/paper``; unknown keys, wrong types and incomplete claims are errors.
"""

from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from torl.errors import DataError
from torl.files import read_json

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """Frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Curve(Strict):
    """A curve of one of the paper's figures, as plotted."""

    figure: str
    model: str
    benchmark: str
    """A benchmark, "average" over five of them, or "train" for rollouts of the training run."""
    metric: str
    experiment: str
    """This workflow's name for what was run."""
    unit: Literal["percent", "ratio", "reward"]
    smoothing: str
    steps: list[int]
    values: list[float]

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if len(self.steps) != len(self.values):
            raise ValueError(f"figure {self.figure} has {len(self.steps)} steps and {len(self.values)} values")
        return self


class PaperValue(Strict):
    """What the paper reports for a claim."""

    where: str
    value: float | None
    se: float | None
    """Standard error of the paper's own number; null where it is unknown."""


class Claim(Strict):
    """A claim of the paper and how it is tested."""

    id: str
    statement: str
    paper: PaperValue
    kind: Literal["comparison", "level", "change", "gap", "cost"]
    experiments: list[str]
    metric: str | None = None
    minus: str | None = None
    expect: Literal["up", "no_gain"]
    margin: float | None = None
    """Largest gain that still counts as none."""
    paper_scales: list[str]
    """Scales whose numbers can be set against the paper's."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = {"comparison": 2, "cost": 2}.get(self.kind, 1)
        if len(self.experiments) != needed:
            raise ValueError(
                f"claim {self.id}: kind {self.kind} needs {needed} experiments, not {len(self.experiments)}"
            )
        if self.kind in ("change", "gap") and self.metric is None:
            raise ValueError(f"claim {self.id}: kind {self.kind} needs a metric")
        if self.kind == "gap" and self.minus is None:
            raise ValueError(f"claim {self.id}: kind gap needs minus, the metric that is subtracted")
        if self.expect == "no_gain" and self.margin is None:
            raise ValueError(f"claim {self.id}: expect no_gain needs a margin")
        return self


class Deviation(Strict):
    """One way in which the workflow is not the paper."""

    topic: str
    paper: str
    here: str


class Setting(Strict):
    """A setting of the paper's main run."""

    key: str
    """Path in the resolved configuration, for example ``train.steps``."""
    name: str
    paper: str


class Ledger(Strict):
    """Content of claims.yaml."""

    claims: list[Claim]
    deviations: list[Deviation]
    settings: list[Setting]


def read_curves(folder: Path) -> list[Curve]:
    """The curves of ``reference.json`` in ``folder``.

    Raises:
        DataError: the file is missing or malformed.
    """
    path = folder / "reference.json"
    return [_checked(Curve, curve, path) for curve in read_json(path).get("curves", [])]


def read_ledger(path: Path) -> Ledger:
    """The claims and deviations of a YAML file.

    Raises:
        DataError: the file is missing or malformed; the message names the claim.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist; restore it from the repository.") from error
    except yaml.YAMLError as error:
        raise DataError(f"{path} is not YAML: {error}; mend that line.") from error
    return _checked(Ledger, content, path)


def find_curve(curves: list[Curve], figure: str, metric: str) -> Curve | None:
    """The curve of one metric in one figure."""
    return next((curve for curve in curves if curve.figure == figure and curve.metric == metric), None)


def _checked(model: type[Model], value: Any, path: Path) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise DataError(f"{path} is not accepted: {error}; mend the entry named there.") from error
