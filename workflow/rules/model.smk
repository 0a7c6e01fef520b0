"""The base model as a folder: trained here for the scales that use the scale model, fetched from the hub otherwise.

OUTPUTS: base/config.json and the model beside it
"""

if REFERENCE.model.is_scale_model:

    rule make_base_model:
        output:
            config=f"{RESULTS}/base/config.json",
        params:
            seed=SETTINGS.seed,
            documents=REFERENCE.model.pretrain_documents,
            steps=REFERENCE.model.pretrain_steps,
        log:
            f"logs/{SETTINGS.scale}/make_base_model.log",
        benchmark:
            f"benchmarks/{SETTINGS.scale}/make_base_model.tsv"
        threads: 2
        shell:
            "{PYTHON:q} {SCRIPTS:q}/make_base_model.py --seed {params.seed} --documents {params.documents} "
            "--steps {params.steps} --threads {threads} --out $(dirname {output.config:q}) " + LOGGED

else:

    rule fetch_base_model:
        output:
            config=f"{RESULTS}/base/config.json",
        params:
            model=REFERENCE.model.base,
            revision=f"--revision {REFERENCE.model.revision}" if REFERENCE.model.revision else "",
        log:
            f"logs/{SETTINGS.scale}/fetch_base_model.log",
        shell:
            "{PYTHON:q} {SCRIPTS:q}/fetch_base_model.py --model {params.model} {params.revision} "
            "--out $(dirname {output.config:q}) " + LOGGED
