"""The base model as a folder: trained here for the scales that use the scale model, fetched from the hub otherwise.

OUTPUTS: base/config.json and the model beside it
"""

if REFERENCE.model.is_scale_model:

    rule make_base_model:
        output:
            config=f"{RESULTS}/base/config.json",
        log:
            f"logs/{SETTINGS.scale}/make_base_model.log",
        benchmark:
            f"benchmarks/{SETTINGS.scale}/make_base_model.tsv"
        threads: 2
        params:
            seed=SETTINGS.seed,
            size=option("--documents", REFERENCE.model.pretrain_documents)
            + option("--steps", REFERENCE.model.pretrain_steps),
        shell:
            "exec logged.sh {log:q} make_base_model.py --seed {params.seed} {params.size} "
            '--threads {threads} --out "$(dirname {output.config:q})"'

else:

    rule fetch_base_model:
        output:
            config=f"{RESULTS}/base/config.json",
        log:
            f"logs/{SETTINGS.scale}/fetch_base_model.log",
        params:
            model=REFERENCE.model.base,
            revision=option("--revision", REFERENCE.model.revision),
        shell:
            "exec logged.sh {log:q} fetch_base_model.py --model {params.model} {params.revision} "
            '--out "$(dirname {output.config:q})"'
