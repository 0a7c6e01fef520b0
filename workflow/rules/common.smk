"""The configuration, checked while the Snakefile is parsed, and what the phases ask of it."""

import json
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

from torl.config import experiment_names, load_settings, resolve
from torl.errors import ConfigError
from torl.problems.sources import read_sources

CONFIG_DIR = Path(workflow.basedir).parent / "config"
SCRIPTS = Path(workflow.basedir) / "scripts"
PYTHON = sys.executable
SOURCES = CONFIG_DIR / "sources.yaml"

# Shown and kept. Signals are for the program alone: a `tee` that dies first would take its output, and so its life.
LOGGED = "2>&1 | (trap '' INT TERM; exec tee {log:q})"

try:
    SETTINGS = load_settings(config, CONFIG_DIR)
    EXPERIMENTS = experiment_names(CONFIG_DIR)
    RUNS = {name: resolve(SETTINGS, name, CONFIG_DIR) for name in EXPERIMENTS}
    KNOWN_SOURCES = read_sources(SOURCES)
except ConfigError as error:
    raise WorkflowError(str(error))

RESULTS = f"results/{SETTINGS.scale}"
REFERENCE = RUNS["torl"]  # its data and model settings are those of the scale
REPORTS = {"report": SETTINGS.experiments} | {
    f"report_{name}": list(dict.fromkeys(["torl", name])) for name in EXPERIMENTS
}


wildcard_constraints:
    experiment="|".join(EXPERIMENTS),
    report="|".join(REPORTS),
    selection="[a-z]+",
    source="[a-z0-9_]+",
    benchmark="[a-z0-9_]+",
    step=r"\d+",


def section(experiment, *names):
    """Sections of a resolved configuration, as text that changes exactly when one of them does."""
    values = RUNS[experiment].model_dump(mode="json")
    return json.dumps({name: values[name] for name in names}, sort_keys=True)


def train_problems(experiment):
    """The training set that an experiment selects."""
    return f"{RESULTS}/problems/{RUNS[experiment].data.selection}/train.parquet"


def evaluations(experiment):
    """Every evaluation of an experiment."""
    run = RUNS[experiment]
    return [
        f"{RESULTS}/{experiment}/evaluation/step_{step}/{benchmark}.parquet"
        for step in run.evaluated_steps
        for benchmark in run.evaluation.benchmarks
    ]
