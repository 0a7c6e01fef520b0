"""The sandbox: shown to work before anything expensive starts. Jobs that run code start one of their own, or use the configured one.

OUTPUTS: sandbox.json
"""


rule check_sandbox:
    output:
        f"{RESULTS}/sandbox.json",
    params:
        url=f"--url {REFERENCE.sandbox.url}" if REFERENCE.sandbox.url else "",
        unsafe="--allow-unsafe" if REFERENCE.sandbox.allow_unsafe else "",
    log:
        f"logs/{SETTINGS.scale}/check_sandbox.log",
    shell:
        "{PYTHON:q} {SCRIPTS:q}/check_sandbox.py {params.url} {params.unsafe} --out {output:q} " + LOGGED
