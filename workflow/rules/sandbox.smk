"""The sandbox: shown to work before anything expensive starts. Jobs that run code start one of their own, or use the configured one.

OUTPUTS: sandbox.json
"""


rule check_sandbox:
    output:
        f"{RESULTS}/sandbox.json",
    log:
        f"logs/{SETTINGS.scale}/check_sandbox.log",
    priority: 100  # before the minutes that the base model takes
    params:
        url=option("--url", REFERENCE.sandbox.url),
        unsafe="--allow-unsafe" if REFERENCE.sandbox.allow_unsafe else "",
    shell:
        "exec logged.sh {log:q} check_sandbox.py {params.url} {params.unsafe} --out {output:q}"
