"""Evaluation: every evaluated checkpoint on every benchmark, one job each.

INPUTS:  {experiment}/model/step_{step}/, raw/{benchmark}.parquet
OUTPUTS: {experiment}/evaluation/step_{step}/{benchmark}.parquet, one row a question and sample
"""


rule evaluate_policy:
    input:
        config=ancient(f"{RESULTS}/{{experiment}}/config.json"),
        settings=f"{RESULTS}/{{experiment}}/settings/evaluation.json",
        export=f"{RESULTS}/{{experiment}}/model/step_{{step}}/export.json",
        problems=f"{RESULTS}/raw/{{benchmark}}.parquet",
        sandbox=ancient(f"{RESULTS}/sandbox.json"),
    output:
        f"{RESULTS}/{{experiment}}/evaluation/step_{{step}}/{{benchmark}}.parquet",
    log:
        f"logs/{SETTINGS.scale}/evaluate_policy/{{experiment}}_{{step}}_{{benchmark}}.log",
    benchmark:
        f"benchmarks/{SETTINGS.scale}/evaluate_policy/{{experiment}}_{{step}}_{{benchmark}}.tsv"
    threads: 1
    resources:
        gpu=lambda wildcards: (
            RUNS[wildcards.experiment].compute.tensor_parallel
            if gpus(wildcards.experiment)
            else 0
        ),
    shell:
        "exec logged.sh {log:q} evaluate_policy.py --config {input.config:q} --export {input.export:q} "
        "--benchmark {wildcards.benchmark} --problems {input.problems:q} --threads {threads} --out {output:q}"
