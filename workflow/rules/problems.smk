"""Problems: fetch every source and benchmark, keep what can be verified, select what is trained on.

INPUTS:  config/sources.yaml
OUTPUTS: raw/{source}.parquet, problems/{pool,dropped}.parquet, problems/funnel.json, problems/{selection}/train.parquet
"""

BENCHMARK_FILES = [f"{RESULTS}/raw/{name}.parquet" for name in REFERENCE.evaluation.benchmarks]


def generated_count(source):
    """How many problems a generated source is asked for; read sources hold what they hold."""
    if source in REFERENCE.evaluation.benchmarks:
        return REFERENCE.evaluation.generate
    return REFERENCE.data.generate


rule fetch_problems:
    input:
        sources=SOURCES,
    output:
        problems=f"{RESULTS}/raw/{{source}}.parquet",
        manifest=f"{RESULTS}/raw/{{source}}.json",
    params:
        entry=lambda wildcards: KNOWN_SOURCES[wildcards.source].model_dump_json(),
        data_dir=SETTINGS.data_dir or ".",
        number=lambda wildcards: f"--count {generated_count(wildcards.source)}" if generated_count(wildcards.source) else "",
        seed=SETTINGS.seed,
    log:
        f"logs/{SETTINGS.scale}/fetch_problems/{{source}}.log",
    shell:
        "{PYTHON:q} {SCRIPTS:q}/fetch_problems.py --sources {input.sources:q} --name {wildcards.source} "
        "--data-dir {params.data_dir:q} {params.number} --seed {params.seed} "
        "--out {output.problems:q} --manifest {output.manifest:q} " + LOGGED


rule filter_problems:
    input:
        problems=expand(f"{RESULTS}/raw/{{source}}.parquet", source=REFERENCE.data.sources),
        benchmarks=BENCHMARK_FILES,
        base=ancient(f"{RESULTS}/base/config.json"),
    output:
        pool=f"{RESULTS}/problems/pool.parquet",
        dropped=f"{RESULTS}/problems/dropped.parquet",
        funnel=f"{RESULTS}/problems/funnel.json",
    params:
        overlap="--keep-overlap" if REFERENCE.data.keep_overlap else "",
        prompt=REFERENCE.rollout.prompt,
        tokens=REFERENCE.rollout.max_prompt_tokens,
    log:
        f"logs/{SETTINGS.scale}/filter_problems.log",
    threads: 2
    shell:
        "{PYTHON:q} {SCRIPTS:q}/filter_problems.py --problems {input.problems:q} --benchmarks {input.benchmarks:q} "
        "--tokenizer $(dirname {input.base:q}) --prompt {params.prompt} --max-prompt-tokens {params.tokens} "
        "{params.overlap} --workers {threads} --out-pool {output.pool:q} --out-dropped {output.dropped:q} "
        "--out-funnel {output.funnel:q} " + LOGGED


def selection_options(wildcards):
    """Options of select_problems for the way of selecting that the path names."""
    data = next(run.data for run in RUNS.values() if run.data.selection == wildcards.selection)
    if data.selection == "all":
        return ""
    if data.minimum_score is None:
        return f"--count {data.count}"
    return f"--minimum {data.minimum_score}" + (f" --limit {data.count}" if data.count else "")


def score_files(wildcards):
    """Learning-impact scores, where the selection needs them: published ones, or those of the probe run."""
    if wildcards.selection != "lim":
        return []
    published = REFERENCE.data.scores
    return [f"{SETTINGS.data_dir}/{published}"] if published else [f"{RESULTS}/problems/scores.parquet"]


rule select_problems:
    input:
        pool=f"{RESULTS}/problems/pool.parquet",
        scores=score_files,
    output:
        train=f"{RESULTS}/problems/{{selection}}/train.parquet",
        selection=f"{RESULTS}/problems/{{selection}}/selection.json",
    params:
        options=selection_options,
        scores=lambda wildcards, input: f"--scores '{input.scores[0]}'" if input.get("scores") else "",
        seed=SETTINGS.seed,
    log:
        f"logs/{SETTINGS.scale}/select_problems/{{selection}}.log",
    shell:
        "{PYTHON:q} {SCRIPTS:q}/select_problems.py --pool {input.pool:q} --method {wildcards.selection} "
        "{params.scores} {params.options} --seed {params.seed} --out {output.train:q} "
        "--out-selection {output.selection:q} " + LOGGED
