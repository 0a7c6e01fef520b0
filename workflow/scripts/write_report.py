#!/usr/bin/env python3
"""Write the results report: one page for reading, and a JSON file with every number on it."""

import argparse
from pathlib import Path
from typing import Any

from torl.analysis.page import render_page
from torl.analysis.paper import read_ledger
from torl.analysis.report import Material, build_report
from torl.analysis.results import read_evaluations
from torl.cli import run
from torl.files import read_json, read_table, sha256_of, write_json, write_text


def main() -> None:
    options = parse()
    figures = read_json(options.figures)["figures"]
    report = build_report(gather(options, figures))
    folder = options.figures.parent
    page = render_page(report, {one["name"]: (folder / one["file"]).read_text(encoding="utf-8") for one in figures})
    write_json(options.out_json, report)
    write_text(options.out_html, page)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--title", required=True)
    parser.add_argument("--metrics", type=Path, nargs="+", required=True, help="metrics.parquet of each experiment")
    parser.add_argument("--evaluations", type=Path, nargs="*", default=[], help="parquet files of evaluate_policy")
    parser.add_argument("--figures", type=Path, required=True, help="figures.json of draw_figures")
    parser.add_argument("--funnel", type=Path, help="funnel.json of filter_problems")
    parser.add_argument("--selection", type=Path, help="selection.json of select_problems")
    parser.add_argument("--configs", type=Path, nargs="*", default=[], help="resolved config.json of each experiment")
    parser.add_argument("--done", type=Path, nargs="*", default=[], help="done.json of each training run")
    parser.add_argument("--provenance", type=Path, help="provenance.json of record_provenance")
    parser.add_argument("--claims", type=Path, required=True, help="claims.yaml")
    parser.add_argument("--scale", help="name of the scale; the configurations' own by default")
    parser.add_argument("--training-seeds", type=int, default=1, help="training runs of each experiment")
    parser.add_argument("--rerun", action="append", default=[], help="a command that makes the report again")
    parser.add_argument("--out-html", type=Path, required=True)
    parser.add_argument("--out-json", type=Path, required=True)
    return parser.parse_args()


def gather(options: argparse.Namespace, figures: list[dict[str, Any]]) -> Material:
    single = [path for path in (options.funnel, options.selection, options.provenance) if path]
    inputs = [*options.metrics, *options.evaluations, *options.configs, *options.done, *single, options.claims]
    return Material(
        title=options.title,
        metrics=[line for path in options.metrics for line in read_table(path)],
        evaluations=read_evaluations(options.evaluations),
        figures=figures,
        ledger=read_ledger(options.claims),
        funnel=read_json(options.funnel) if options.funnel else None,
        selection=read_json(options.selection) if options.selection else None,
        configs=[read_json(path) for path in options.configs],
        runs=[read_json(path) for path in options.done],
        provenance=read_json(options.provenance) if options.provenance else {},
        inputs=[{"path": str(path), "sha256": sha256_of(path)} for path in inputs],
        scale=options.scale,
        training_seeds=options.training_seeds,
        rerun=options.rerun,
    )


if __name__ == "__main__":
    run(main)
