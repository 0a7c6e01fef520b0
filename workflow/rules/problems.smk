"""Problems: fetch every source and benchmark, keep what can be verified, select what is trained on.

INPUTS:  config/sources.yaml
OUTPUTS: raw/{source}.parquet, problems/{pool,dropped,overlap}.parquet, problems/{funnel.json,funnel.svg,card.md},
         problems/{selection}/{train,test}.parquet; where the selection needs them problems/scores.parquet, or
         problems/{pass_rates,responses}.parquet
"""

BENCHMARKS = list(
    dict.fromkeys([*REFERENCE.evaluation.benchmarks, *REFERENCE.data.overlap_with])
)
BENCHMARK_FILES = [f"{RESULTS}/raw/{name}.parquet" for name in BENCHMARKS]


localrules:
    describe_problems,


# The rows are checked by so many jobs; what compares rows with each other is one job.
scattergather:
    shards=REFERENCE.compute.problem_shards,


rule fetch_problems:
    input:
        lambda wildcards: local_files(wildcards.source),
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
        whole=lambda wildcards: (
            "--whole" if wildcards.source in REFERENCE.evaluation.benchmarks else ""
        ),
    shell:
        'exec logged.sh {log:q} fetch_problems.py --sources "$TORL_CONFIG/sources.yaml" --name {wildcards.source} '
        "--data-dir {params.data_dir:q} {params.number} --seed {params.seed} {params.whole} "
        "--out {output.problems:q} --manifest {output.manifest:q}"


rule check_problems:
    input:
        problems=expand(
            f"{RESULTS}/raw/{{source}}.parquet", source=REFERENCE.data.sources
        ),
        benchmarks=BENCHMARK_FILES,
        base=ancient(f"{RESULTS}/base/config.json"),
    output:
        temp(f"{RESULTS}/problems/checked/{{scatteritem}}.parquet"),
    log:
        f"logs/{SETTINGS.scale}/check_problems/{{scatteritem}}.log",
    benchmark:
        f"benchmarks/{SETTINGS.scale}/check_problems/{{scatteritem}}.tsv"
    params:
        prompt=REFERENCE.rollout.prompt,
    shell:
        "exec logged.sh {log:q} check_problems.py --problems {input.problems:q} --benchmarks {input.benchmarks:q} "
        '--shard {wildcards.scatteritem} --tokenizer "$(dirname {input.base:q})" --prompt {params.prompt} '
        "--workers {threads} --out {output:q}"


rule filter_problems:
    input:
        gather.shards(f"{RESULTS}/problems/checked/{{scatteritem}}.parquet"),
    output:
        pool=f"{RESULTS}/problems/pool.parquet",
        dropped=f"{RESULTS}/problems/dropped.parquet",
        overlap=f"{RESULTS}/problems/overlap.parquet",
        funnel=f"{RESULTS}/problems/funnel.json",
    log:
        f"logs/{SETTINGS.scale}/filter_problems.log",
    params:
        overlap="--keep-overlap" if REFERENCE.data.keep_overlap else "",
        tokens=REFERENCE.rollout.max_prompt_tokens,
    shell:
        "exec logged.sh {log:q} filter_problems.py --checked {input:q} --max-prompt-tokens {params.tokens} "
        "{params.overlap} --workers {threads} --out-pool {output.pool:q} --out-dropped {output.dropped:q} "
        "--out-overlap {output.overlap:q} --out-funnel {output.funnel:q}"


rule describe_problems:
    input:
        funnel=f"{RESULTS}/problems/funnel.json",
        files=[
            f"{RESULTS}/problems/{name}.parquet"
            for name in ("pool", "dropped", "overlap")
        ],
        manifests=expand(
            f"{RESULTS}/raw/{{source}}.json",
            source=REFERENCE.data.sources + BENCHMARKS,
        ),
    output:
        card=report(
            f"{RESULTS}/problems/card.md",
            caption="../report/funnel.rst",
            category="Problems",
        ),
        funnel=report(
            f"{RESULTS}/problems/funnel.svg",
            caption="../report/funnel.rst",
            category="Problems",
        ),
    log:
        f"logs/{SETTINGS.scale}/describe_problems.log",
    shell:
        "exec logged.sh {log:q} describe_problems.py --funnel {input.funnel:q} --files {input.files:q} "
        "--manifests {input.manifests:q} --out-card {output.card:q} --out-funnel {output.funnel:q}"


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


rule sample_problems:
    input:
        config=ancient(f"{RESULTS}/torl/config.json"),
        settings=f"{RESULTS}/torl/settings/sampling.json",
        pool=f"{RESULTS}/problems/pool.parquet",
        base=f"{RESULTS}/base/config.json",
        sandbox=ancient(f"{RESULTS}/sandbox.json"),
    output:
        rates=f"{RESULTS}/problems/pass_rates.parquet",
        responses=f"{RESULTS}/problems/responses.parquet",
    log:
        f"logs/{SETTINGS.scale}/sample_problems.log",
    benchmark:
        f"benchmarks/{SETTINGS.scale}/sample_problems.tsv"
    threads: REFERENCE.compute.threads
    resources:
        gpu=gpus("torl"),
    params:
        samples=REFERENCE.data.pass_rate_samples,
    shell:
        'exec logged.sh {log:q} sample_problems.py --config {input.config:q} --model "$(dirname {input.base:q})" '
        "--pool {input.pool:q} --samples {params.samples} --threads {threads} "
        "--out {output.rates:q} --out-responses {output.responses:q}"


rule select_problems:
    input:
        pool=f"{RESULTS}/problems/pool.parquet",
        scores=score_files,
        benchmarks=[
            f"{RESULTS}/raw/{name}.parquet" for name in REFERENCE.evaluation.benchmarks
        ],
    output:
        train=f"{RESULTS}/problems/{{selection}}/train.parquet",
        test=f"{RESULTS}/problems/{{selection}}/test.parquet",
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
        "{params.scores} {params.options} --seed {params.seed} --benchmarks {input.benchmarks:q} "
        "--out {output.train:q} --out-test {output.test:q} --out-selection {output.selection:q}"
