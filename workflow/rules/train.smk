"""Training: one run an experiment. Checkpoints lie in the run folder, which is no output, so that a retry finds them.

INPUTS:  problems/{selection}/train.parquet, base/, sandbox.json
OUTPUTS: {experiment}/config.json, {experiment}/done.json, {experiment}/model/step_{step}/export.json and the model beside it
"""


localrules:
    resolve_config,
    export_policy,


rule resolve_config:
    output:
        f"{RESULTS}/{{experiment}}/config.json",
    params:
        config=lambda wildcards: RUNS[wildcards.experiment].model_dump_json(indent=2),
    run:
        Path(output[0]).write_text(params.config + "\n", encoding="utf-8")


rule train_policy:
    input:
        config=ancient(f"{RESULTS}/{{experiment}}/config.json"),
        problems=lambda wildcards: train_problems(wildcards.experiment),
        base=f"{RESULTS}/base/config.json",
        sandbox=ancient(f"{RESULTS}/sandbox.json"),
    output:
        f"{RESULTS}/{{experiment}}/done.json",
    params:
        runs_dir=f"{RESULTS}/{{experiment}}/run",
        deciding=lambda wildcards: section(wildcards.experiment, "seed", "model", "data", "rollout", "reward", "train"),
    log:
        f"logs/{SETTINGS.scale}/train_policy/{{experiment}}.log",
    benchmark:
        f"benchmarks/{SETTINGS.scale}/train_policy/{{experiment}}.tsv"
    threads: 1
    shell:
        "{PYTHON:q} {SCRIPTS:q}/train_policy.py --config {input.config:q} --model $(dirname {input.base:q}) "
        "--problems {input.problems:q} --runs-dir {params.runs_dir:q} --out {output:q} " + LOGGED


rule export_policy:
    input:
        done=f"{RESULTS}/{{experiment}}/done.json",
        base=f"{RESULTS}/base/config.json",
    output:
        f"{RESULTS}/{{experiment}}/model/step_{{step}}/export.json",
    log:
        f"logs/{SETTINGS.scale}/export_policy/{{experiment}}_{{step}}.log",
    shell:
        "{PYTHON:q} {SCRIPTS:q}/export_policy.py --done {input.done:q} --base $(dirname {input.base:q}) "
        "--step {wildcards.step} --out {output:q} " + LOGGED
