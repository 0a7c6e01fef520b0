"""Analysis, figures and report. A report compares the experiments that `REPORTS` names for it.

INPUTS:  {experiment}/{config,done}.json, the run's trajectories, {experiment}/evaluation/
OUTPUTS: {experiment}/metrics.parquet, figures/{report}/, {report}.html, {report}.json, provenance.json
"""


localrules:
    analyse_run,
    draw_figures,
    write_report,
    record_provenance,


rule analyse_run:
    input:
        done=f"{RESULTS}/{{experiment}}/done.json",
        evaluations=lambda wildcards: evaluations(wildcards.experiment),
    output:
        f"{RESULTS}/{{experiment}}/metrics.parquet",
    log:
        f"logs/{SETTINGS.scale}/analyse_run/{{experiment}}.log",
    shell:
        "exec logged.sh {log:q} analyse_run.py --done {input.done:q} --evaluations {input.evaluations:q} "
        "--experiment {wildcards.experiment} --out {output:q}"


rule record_provenance:
    input:
        config=f"{RESULTS}/torl/config.json",
    output:
        f"{RESULTS}/provenance.json",
    log:
        f"logs/{SETTINGS.scale}/record_provenance.log",
    shell:
        "exec logged.sh {log:q} record_provenance.py --config {input.config:q} --out {output:q}"


rule draw_figures:
    input:
        metrics=of_report(f"{RESULTS}/{{experiment}}/metrics.parquet"),
        evaluations=evaluations_of_report,
        funnel=f"{RESULTS}/problems/funnel.json",
        paper=CONFIG_DIR / "paper" / "reference.json",
    output:
        f"{RESULTS}/figures/{{report}}/figures.json",
    log:
        f"logs/{SETTINGS.scale}/draw_figures/{{report}}.log",
    shell:
        "exec logged.sh {log:q} draw_figures.py --metrics {input.metrics:q} --evaluations {input.evaluations:q} "
        '--funnel {input.funnel:q} --paper "$(dirname {input.paper:q})" --out-dir "$(dirname {output:q})"'


rule write_report:
    input:
        metrics=of_report(f"{RESULTS}/{{experiment}}/metrics.parquet"),
        evaluations=evaluations_of_report,
        figures=f"{RESULTS}/figures/{{report}}/figures.json",
        funnel=f"{RESULTS}/problems/funnel.json",
        selection=f"{RESULTS}/problems/{REFERENCE.data.selection}/selection.json",
        configs=of_report(f"{RESULTS}/{{experiment}}/config.json"),
        done=of_report(f"{RESULTS}/{{experiment}}/done.json"),
        provenance=f"{RESULTS}/provenance.json",
        claims=CONFIG_DIR / "paper" / "claims.yaml",
    output:
        html=report(
            f"{RESULTS}/{{report}}.html",
            caption="../report/report.rst",
            category="Report",
        ),
        json=f"{RESULTS}/{{report}}.json",
    log:
        f"logs/{SETTINGS.scale}/write_report/{{report}}.log",
    params:
        title=lambda wildcards: f"ToRL at scale {SETTINGS.scale}"
        + (
            ""
            if wildcards.report == "report"
            else f": {', '.join(experiments_of(wildcards.report))}"
        ),
        command=lambda wildcards: command_for(
            SETTINGS, wildcards.report.removeprefix("report_"), CONFIG_DIR
        ),
    shell:
        "exec logged.sh {log:q} write_report.py --title {params.title:q} --metrics {input.metrics:q} "
        "--evaluations {input.evaluations:q} --figures {input.figures:q} --funnel {input.funnel:q} "
        "--selection {input.selection:q} --configs {input.configs:q} --done {input.done:q} "
        "--provenance {input.provenance:q} --claims {input.claims:q} --rerun {params.command:q} "
        "--out-html {output.html:q} --out-json {output.json:q}"
