"""The configuration, checked while the Snakefile is parsed, and what the phases ask of it."""

import json
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

try:
    from torl.config import (
        command_for,
        experiment_names,
        load_settings,
        resolve,
    )
    from torl.errors import ConfigError
    from torl.problems.sources import read_sources, source_named
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"{error} in {sys.executable}: the workflow's own environment is missing. Run `make`, then use .venv/bin/snakemake; "
        "or install with `pip install -r envs/local.txt && pip install --no-deps -e .`."
    )

CONFIG_DIR = Path(workflow.basedir).parent / "config"
SCRIPTS = Path(workflow.basedir) / "scripts"
SOURCES = CONFIG_DIR / "sources.yaml"

# Rules call the programs of workflow/scripts by name, with the Python that runs Snakemake. Threads that wait give up their
# core: with anything else running beside them, threads that spin make a program several times slower.
shell.prefix(
    f'export PATH="{SCRIPTS}:{Path(sys.executable).parent}:$PATH" TORL_CONFIG="{CONFIG_DIR}" OMP_WAIT_POLICY=PASSIVE; '
)

try:
    SETTINGS = load_settings(config, CONFIG_DIR)
    EXPERIMENTS = experiment_names(CONFIG_DIR)
    RUNS, REFUSED = {}, {}
    for name in EXPERIMENTS:
        try:
            RUNS[name] = resolve(SETTINGS, name, CONFIG_DIR)
        except ConfigError as error:
            if name == "torl" or not SETTINGS.overrides:
                raise
            # Overrides hold for every experiment, also for those that nobody asks for and that they do not fit.
            REFUSED[name] = str(error)
    KNOWN_SOURCES = read_sources(SOURCES)
    for run in RUNS.values():
        for name in [
            *run.data.sources,
            *run.data.overlap_with,
            *run.evaluation.benchmarks,
        ]:
            source_named(KNOWN_SOURCES, name)
except ConfigError as error:
    raise WorkflowError(str(error))

RESULTS = f"results/{SETTINGS.scale}"
REFERENCE = RUNS["torl"]  # its data and model settings are those of the scale
if REFERENCE.data.selection == "lim" and not REFERENCE.data.scores:
    if "probe" in RUNS and RUNS["probe"].data.selection != "all":
        raise WorkflowError(
            f"data.selection is {RUNS['probe'].data.selection} for the experiment probe too, whose run over the whole pool gives the scores; "
            "overrides hold for every experiment: set data.selection in the scale's file, or data.scores to a file of scores."
        )
DATA_DIR = Path(SETTINGS.data_dir or ".")
FROM_FILES = [
    name
    for name in [*REFERENCE.data.sources, *REFERENCE.evaluation.benchmarks]
    if KNOWN_SOURCES[name].kind == "files"
]
if FROM_FILES and not (SETTINGS.data_dir and DATA_DIR.is_dir()):
    raise WorkflowError(
        f"data_dir {SETTINGS.data_dir or '(not set)'} is no folder, and {', '.join(FROM_FILES)} are read from files in it; name the folder that holds "
        "them: `make real DATA=FOLDER`, or --config data_dir=FOLDER."
    )
# The sections that a job depends on lie in a file of their own, which changes exactly when one of them does.
PARTS = {
    "training": ["seed", "model", "data", "rollout", "reward", "grading", "train"],
    "evaluation": ["seed", "rollout", "grading", "evaluation"],
    "sampling": ["seed", "rollout", "grading"],
}
REPORTS = {"report": SETTINGS.experiments} | {
    f"report_{name}": list(dict.fromkeys(["torl", name])) for name in EXPERIMENTS
}


wildcard_constraints:
    experiment="|".join(RUNS),
    report="|".join(REPORTS),
    selection="|".join(sorted({run.data.selection for run in RUNS.values()})),
    source="|".join(KNOWN_SOURCES),
    benchmark="|".join(KNOWN_SOURCES),
    step=r"\d+",
    part="|".join(PARTS),


def option(name, value):
    """``name value `` for a command line; nothing where there is no value."""
    return "" if value is None else f"{name} {value} "


def gpus(experiment):
    """GPUs of one machine that a job of this experiment asks for."""
    compute = RUNS[experiment].compute
    return compute.gpus_per_node if compute.platform == "cuda" else 0


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


def generated_count(source):
    """How many problems a generated source is asked for; other sources hold what they hold."""
    if KNOWN_SOURCES[source].kind != "generated":
        return None
    evaluated = source in REFERENCE.evaluation.benchmarks
    return REFERENCE.evaluation.generate if evaluated else REFERENCE.data.generate


def local_files(source):
    """Files that a source is read from, as far as they are there; fetch_problems says which are missing."""
    entry = KNOWN_SOURCES[source]
    if entry.kind != "files":
        return []
    paths = [DATA_DIR / file.path for file in entry.files]
    return [str(path) for path in paths if path.exists()]


def selection_options(wildcards):
    """Options of select_problems for the way of selecting that the path names."""
    data = next(
        run.data for run in RUNS.values() if run.data.selection == wildcards.selection
    )
    if data.selection == "all":
        return ""
    if data.selection == "pass_rate":
        band = " ".join(map(str, data.pass_rate_band))
        return option("--band", band) + option("--limit", data.count)
    if data.minimum_score is None:
        return option("--count", data.count)
    return option("--minimum", data.minimum_score) + option("--limit", data.count)


def score_files(wildcards):
    """What the selection ranks problems by: a published file, or what the workflow makes with the model."""
    made = {"lim": "scores.parquet", "pass_rate": "pass_rates.parquet"}
    if wildcards.selection not in made:
        return []
    data = REFERENCE.data
    published = data.scores if wildcards.selection == "lim" else data.pass_rates
    return (
        [f"{DATA_DIR}/{published}"]
        if published
        else [f"{RESULTS}/problems/{made[wildcards.selection]}"]
    )


def experiments_of(report):
    """The experiments that a report compares."""
    for name in REPORTS[report]:
        if name in REFUSED:
            raise WorkflowError(
                f"Overrides hold for every experiment of a report, and {name} is one:\n{REFUSED[name]}\nChoose another target or other "
                "experiments, or write the change as an experiment of its own in config/experiments.yaml."
            )
    return REPORTS[report]


def of_report(pattern):
    """Input function: ``pattern`` for every experiment of the report."""
    return lambda wildcards: expand(
        pattern, experiment=experiments_of(wildcards.report)
    )


def evaluations_of_report(wildcards):
    """Every evaluation of every experiment of the report."""
    return [
        path
        for experiment in experiments_of(wildcards.report)
        for path in evaluations(experiment)
    ]
