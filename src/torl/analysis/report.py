"""Everything the report says, as one document that a JSON file keeps and the page is made from.

No number reaches the page by another way. Strings from outside are cleaned here and escaped by the template.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from torl.analysis.claims import Judgement, Verdict, judge_all
from torl.analysis.curves import TRAIN, curve
from torl.analysis.evidence import Findings
from torl.analysis.headline import compare, find_warnings, headline_groups
from torl.analysis.paper import Ledger
from torl.analysis.results import Evaluation, experiments_of, result_step, scores_at
from torl.analysis.samples import choose_samples
from torl.analysis.untrusted import clean_tree
from torl.evaluation.statistics import LEVEL, Scores

Document = dict[str, Any]

QUIRKY = ("rollout", "reward", "grading")
"""Sections of a configuration that may switch on quirks."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a report is made from."""

    title: str
    metrics: list[Document]
    evaluations: list[Evaluation]
    figures: list[Document]
    ledger: Ledger
    funnel: Document | None = None
    selection: Document | None = None
    configs: list[Document] = field(default_factory=list)
    runs: list[Document] = field(default_factory=list)
    """What train_policy left of each experiment: steps, seconds, attempts, checkpoints."""
    provenance: Document = field(default_factory=dict)
    inputs: list[Document] = field(default_factory=list)
    """Path and sha256 of every file read."""
    scale: str | None = None
    training_seeds: int = 1
    rerun: list[str] = field(default_factory=list)
    """Commands that make this report again."""


def build_report(material: Material) -> Document:
    """The document; values that were not measured are None."""
    experiments = experiments_of(material.metrics, material.evaluations)
    configs = _in_order(material.configs, experiments)
    scale = material.scale or next((config["scale"] for config in configs if "scale" in config), None)
    steps = {name: result_step(material.metrics, material.evaluations, name) for name in experiments}
    final = {name: scores_at(material.evaluations, name, steps[name]) for name in experiments}
    headline = headline_groups(material.metrics, material.evaluations, experiments, steps, final)
    judgements = judge_all(material.ledger.claims, _findings(material, scale, final))
    comparisons = compare(experiments, final)
    document = {
        "title": material.title,
        "scale": scale,
        "scale_model": any(_at(config, "model.base") == "scale-model" for config in configs),
        "generated_problems": any(_at(config, "data.generate") is not None for config in configs),
        "level_percent": 100 * LEVEL,
        "training_seeds": material.training_seeds,
        "experiments": [_experiment(name, steps[name], configs) for name in experiments],
        "benchmarks": sorted(set(chain.from_iterable(final.values()))),
        "summary": _summary(experiments, headline, comparisons, material.metrics),
        "headline": headline,
        "warnings": find_warnings(headline),
        "comparisons": comparisons,
        "claims": [_claim(judgement) for judgement in judgements],
        "verdicts": {verdict: sum(one.verdict == verdict for one in judgements) for verdict in Verdict},
        "figures": material.figures,
        "call_outcomes": _call_outcomes(material.metrics, experiments),
        "samples": choose_samples(material.evaluations, experiments),
        "funnel": material.funnel,
        "selection": material.selection,
        "runs": [_run(run) for run in _in_order(material.runs, experiments)],
        "settings": _settings(configs, material.ledger),
        "config_differences": _config_differences(configs),
        "configs": [
            {"experiment": config.get("experiment"), "text": json.dumps(config, indent=2, sort_keys=True)}
            for config in configs
        ],
        "deviations": [deviation.model_dump() for deviation in material.ledger.deviations],
        "quirks": [found for config in configs if (found := _quirks(config))["names"]],
        "provenance": material.provenance,
        "inputs": material.inputs,
        "rerun": material.rerun,
    }
    return clean_tree(document)


def _findings(material: Material, scale: str | None, final: Mapping[str, Mapping[str, Scores]]) -> Findings:
    seconds = {run["experiment"]: _step_seconds(run) for run in material.runs if "experiment" in run}
    return Findings(
        scale=scale,
        scores=final,
        metrics=material.metrics,
        step_seconds={name: value for name, value in seconds.items() if value},
        training_seeds=material.training_seeds,
    )


def _summary(
    experiments: Sequence[str], headline: list[Document], comparisons: list[Document], metrics: list[Document]
) -> Document:
    """The numbers of the opening sentences: the first two experiments in the first group of the headline."""
    lead = headline[0] if headline else None
    named = experiments[:2]
    ratio = curve(metrics, experiments[0], TRAIN, "code_ratio") if experiments else []
    return {
        "benchmark": lead["benchmark"] if lead else None,
        "lines": [
            line for line in lead["lines"] if line["experiment"] in named and line["accuracy"]["value"] is not None
        ]
        if lead
        else [],
        "comparisons": [
            one for one in comparisons if lead and one["benchmark"] == lead["benchmark"] and one["second"] in named
        ],
        "others": len(experiments[2:]),
        "code_ratio": {"first": ratio[0].value, "last": ratio[-1].value} if ratio else None,
    }


def _claim(judgement: Judgement) -> Document:
    return {
        "id": judgement.claim.id,
        "statement": judgement.claim.statement,
        "kind": judgement.claim.kind,
        "paper": judgement.claim.paper.model_dump(),
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "at_paper_scale": judgement.at_paper_scale,
        "evidence": asdict(judgement.evidence) if judgement.evidence else None,
    }


def _call_outcomes(metrics: list[Document], experiments: Sequence[str]) -> list[Document]:
    """Shares of the ways a call ended, in the first and the last training step that had any call."""
    names = sorted({line["metric"] for line in metrics if line["metric"].startswith("call_")})
    found = []
    for experiment in experiments:
        curves = {name: curve(metrics, experiment, TRAIN, name) for name in names}
        measured = {name: points for name, points in curves.items() if points}
        if measured:
            ends = {name.removeprefix("call_"): [p[0].value, p[-1].value] for name, p in measured.items()}
            found.append({"experiment": experiment, "shares": ends})
    return found


def _experiment(name: str, step: int | None, configs: list[Document]) -> Document:
    config = next((config for config in configs if config.get("experiment") == name), {})
    return {"name": name, "step": step, "description": config.get("description")}


def _run(run: Document) -> Document:
    checkpoints = run.get("checkpoints") or []
    return {
        "experiment": run.get("experiment"),
        "steps": run.get("steps"),
        "seconds": run.get("seconds"),
        "step_seconds": _step_seconds(run),
        "attempts": run.get("attempts"),
        "checkpoints": len(checkpoints),
        "config_sha256": run.get("config_sha256"),
    }


def _step_seconds(run: Document) -> float | None:
    seconds, steps = run.get("seconds"), run.get("steps")
    return seconds / steps if seconds and steps else None


def _in_order(documents: list[Document], experiments: Sequence[str]) -> list[Document]:
    """Documents that name an experiment, in the order of experiments; the others last."""
    place = {name: index for index, name in enumerate(experiments)}
    return sorted(documents, key=lambda document: place.get(document.get("experiment"), len(place)))


def _settings(configs: list[Document], ledger: Ledger) -> list[Document]:
    """The paper's settings beside those of the first configuration."""
    config = configs[0] if configs else {}
    return [
        {"name": setting.name, "key": setting.key, "paper": setting.paper, "here": _text(_at(config, setting.key))}
        for setting in ledger.settings
    ]


def _config_differences(configs: list[Document]) -> list[Document]:
    """Keys whose values are not the same in all configurations."""
    flat = [dict(_flatten(config)) for config in configs]
    keys = sorted(set(chain.from_iterable(flat)) - {"experiment", "description"})
    return [
        {"key": key, "values": [_text(one.get(key)) for one in flat]}
        for key in keys
        if len({_text(one.get(key)) for one in flat}) > 1
    ]


def _quirks(config: Document) -> Document:
    """The release's quirks that an experiment switches on; for those the decisions do not hold."""
    names = chain.from_iterable(_at(config, f"{section}.quirks") or [] for section in QUIRKY)
    return {"experiment": config.get("experiment"), "names": list(names)}


def _flatten(value: Document, prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, item in value.items():
        pairs += _flatten(item, f"{prefix}{key}.") if isinstance(item, dict) else [(f"{prefix}{key}", item)]
    return pairs


def _at(config: Document, key: str) -> Any:
    return dict(_flatten(config)).get(key)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "not set" if value is None else json.dumps(value)
