"""Training: one run an experiment. Checkpoints lie in the run folder, which is no output, so that a retry finds them.

INPUTS:  problems/{selection}/train.parquet, base/, sandbox.json
OUTPUTS: {experiment}/config.json, {experiment}/done.json, {experiment}/model/step_{step}/export.json and the model beside it
"""


localrules:
    resolve_config,
    resolve_settings,
    export_policy,


rule resolve_config:
    output:
        f"{RESULTS}/{{experiment}}/config.json",
    log:
        f"logs/{SETTINGS.scale}/resolve_config/{{experiment}}.log",
    params:
        config=lambda wildcards: RUNS[wildcards.experiment].model_dump_json(indent=2),
    shell:
        "printf '%s\\n' {params.config:q} > {output:q} 2> {log:q}"


rule resolve_settings:
    output:
        f"{RESULTS}/{{experiment}}/settings/{{part}}.json",
    log:
        f"logs/{SETTINGS.scale}/resolve_settings/{{experiment}}_{{part}}.log",
    params:
        settings=lambda wildcards: section(wildcards.experiment, *PARTS[wildcards.part]),
    shell:
        "printf '%s\\n' {params.settings:q} > {output:q} 2> {log:q}"


rule train_policy:
    input:
        config=ancient(f"{RESULTS}/{{experiment}}/config.json"),
        settings=f"{RESULTS}/{{experiment}}/settings/training.json",
        problems=lambda wildcards: train_problems(wildcards.experiment),
        base=f"{RESULTS}/base/config.json",
        sandbox=ancient(f"{RESULTS}/sandbox.json"),
    output:
        f"{RESULTS}/{{experiment}}/done.json",
    log:
        f"logs/{SETTINGS.scale}/train_policy/{{experiment}}.log",
    benchmark:
        f"benchmarks/{SETTINGS.scale}/train_policy/{{experiment}}.tsv"
    threads: lambda wildcards: RUNS[wildcards.experiment].compute.threads
    resources:
        gpu=lambda wildcards: gpus(wildcards.experiment),
    params:
        runs_dir=f"{RESULTS}/{{experiment}}/run",
        minutes=lambda wildcards, resources: option(
            "--minutes", resources.get("runtime")
        ),
    shell:
        'exec logged.sh {log:q} train_policy.py --config {input.config:q} --model "$(dirname {input.base:q})" '
        "--problems {input.problems:q} --runs-dir {params.runs_dir:q} {params.minutes} --out {output:q}"


rule export_policy:
    input:
        done=f"{RESULTS}/{{experiment}}/done.json",
        base=f"{RESULTS}/base/config.json",
    output:
        f"{RESULTS}/{{experiment}}/model/step_{{step}}/export.json",
    log:
        f"logs/{SETTINGS.scale}/export_policy/{{experiment}}_{{step}}.log",
    shell:
        'exec logged.sh {log:q} export_policy.py --done {input.done:q} --base "$(dirname {input.base:q})" '
        "--step {wildcards.step} --out {output:q}"
