"""Problems: fetch every source and benchmark, keep what can be verified, select what is trained on.

INPUTS:  config/sources.yaml
OUTPUTS: raw/{source}.parquet, problems/{pool,dropped}.parquet, problems/funnel.json, problems/{selection}/train.parquet
"""

BENCHMARK_FILES = [
    f"{RESULTS}/raw/{name}.parquet" for name in REFERENCE.evaluation.benchmarks
]


rule fetch_problems:
    output:
        problems=f"{RESULTS}/raw/{{source}}.parquet",
        manifest=f"{RESULTS}/raw/{{source}}.json",
    log:
        f"logs/{SETTINGS.scale}/fetch_problems/{{source}}.log",
    params:
        entry=lambda wildcards: KNOWN_SOURCES[wildcards.source].model_dump_json(),
        data_dir=SETTINGS.data_dir or ".",
        number=lambda wildcards: option("--count", generated_count(wildcards.source)),
        seed=SETTINGS.seed,
    shell:
        'exec logged.sh {log:q} fetch_problems.py --sources "$TORL_CONFIG/sources.yaml" --name {wildcards.source} '
        "--data-dir {params.data_dir:q} {params.number} --seed {params.seed} "
        "--out {output.problems:q} --manifest {output.manifest:q}"


rule filter_problems:
    input:
        problems=expand(
            f"{RESULTS}/raw/{{source}}.parquet", source=REFERENCE.data.sources
        ),
        benchmarks=BENCHMARK_FILES,
        base=ancient(f"{RESULTS}/base/config.json"),
    output:
        pool=f"{RESULTS}/problems/pool.parquet",
        dropped=f"{RESULTS}/problems/dropped.parquet",
        funnel=f"{RESULTS}/problems/funnel.json",
    log:
        f"logs/{SETTINGS.scale}/filter_problems.log",
    threads: 2
    params:
        overlap="--keep-overlap" if REFERENCE.data.keep_overlap else "",
        prompt=REFERENCE.rollout.prompt,
        tokens=REFERENCE.rollout.max_prompt_tokens,
    shell:
        "exec logged.sh {log:q} filter_problems.py --problems {input.problems:q} --benchmarks {input.benchmarks:q} "
        '--tokenizer "$(dirname {input.base:q})" --prompt {params.prompt} --max-prompt-tokens {params.tokens} '
        "{params.overlap} --workers {threads} --out-pool {output.pool:q} --out-dropped {output.dropped:q} "
        "--out-funnel {output.funnel:q}"


rule score_problems:
    input:
        done=f"{RESULTS}/probe/done.json",
        problems=f"{RESULTS}/problems/all/train.parquet",
    output:
        f"{RESULTS}/problems/scores.parquet",
    log:
        f"logs/{SETTINGS.scale}/score_problems.log",
    shell:
        "exec logged.sh {log:q} score_problems.py --done {input.done:q} "
        "--problems {input.problems:q} --out {output:q}"


rule select_problems:
    input:
        pool=f"{RESULTS}/problems/pool.parquet",
        scores=score_files,
    output:
        train=f"{RESULTS}/problems/{{selection}}/train.parquet",
        selection=f"{RESULTS}/problems/{{selection}}/selection.json",
    log:
        f"logs/{SETTINGS.scale}/select_problems/{{selection}}.log",
    params:
        options=selection_options,
        scores=lambda wildcards, input: (
            f"--scores '{input.scores[0]}'" if input.get("scores") else ""
        ),
        seed=SETTINGS.seed,
    shell:
        "exec logged.sh {log:q} select_problems.py --pool {input.pool:q} --method {wildcards.selection} "
        "{params.scores} {params.options} --seed {params.seed} --out {output.train:q} "
        "--out-selection {output.selection:q}"
