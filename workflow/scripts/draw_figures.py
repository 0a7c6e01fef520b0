#!/usr/bin/env python3
"""Draw the figures of the report as SVG, and list them with their captions and inputs in figures.json."""

import argparse
from pathlib import Path
from typing import Any

from torl.analysis.drawing import Drawing
from torl.analysis.figures import accuracy_figure, funnel_figure, learning_figure
from torl.analysis.panels import behaviour_figure
from torl.analysis.paper import read_curves
from torl.analysis.results import experiments_of, read_evaluations, result_step, scores_at
from torl.cli import run
from torl.evaluation.statistics import estimate
from torl.files import read_json, read_table, sha256_of, write_json, write_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", type=Path, nargs="+", required=True, help="metrics.parquet of each experiment")
    parser.add_argument("--evaluations", type=Path, nargs="*", default=[], help="parquet files of evaluate_policy")
    parser.add_argument("--funnel", type=Path, help="funnel.json of filter_problems")
    parser.add_argument("--paper", type=Path, required=True, help="folder of the paper's numbers, config/paper")
    parser.add_argument("--out-dir", type=Path, required=True)
    options = parser.parse_args()
    listed = []
    for drawing, inputs in draw(options):
        file = options.out_dir / f"{drawing.name}.svg"
        write_text(file, drawing.svg)
        listed.append(entry(drawing, file, inputs))
    write_json(options.out_dir / "figures.json", {"figures": listed})


def draw(options: argparse.Namespace) -> list[tuple[Drawing, list[Path]]]:
    table = [line for path in options.metrics for line in read_table(path)]
    evaluations = read_evaluations(options.evaluations)
    names = experiments_of(table, evaluations)
    steps = {name: result_step(table, evaluations, name) for name in names}
    final = {name: scores_at(evaluations, name, steps[name]) for name in names}
    start = {name: scores_at(evaluations, name, 0) if steps[name] else {} for name in names}
    estimates = [
        {
            name: {benchmark: estimate(scores) for benchmark, scores in by_benchmark.items()}
            for name, by_benchmark in by_experiment.items()
        }
        for by_experiment in (final, start)
    ]
    curves = read_curves(options.paper)
    drawings = [
        (accuracy_figure(*estimates), options.evaluations),
        (learning_figure(table, names), options.metrics),
        (behaviour_figure(table, names, curves), [*options.metrics, options.paper / "reference.json"]),
    ]
    if options.funnel:
        drawings.append((funnel_figure(read_json(options.funnel)), [options.funnel]))
    return drawings


def entry(drawing: Drawing, file: Path, inputs: list[Path]) -> dict[str, Any]:
    sources = [{"path": str(path), "sha256": sha256_of(path)} for path in inputs]
    said = {"name": drawing.name, "title": drawing.title, "caption": drawing.caption, "alt": drawing.alt}
    return {"file": file.name, **said, "inputs": sources}


if __name__ == "__main__":
    run(main)
