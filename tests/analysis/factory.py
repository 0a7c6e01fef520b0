"""Synthetic rows of ``TRAJECTORY_SCHEMA`` and whole synthetic runs, for the tests of analysis and report."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from torl.analysis.curves import evaluation_metrics, training_metrics
from torl.analysis.paper import read_ledger
from torl.analysis.report import Material
from torl.analysis.results import read_evaluations
from torl.files import read_json, read_table, write_json, write_jsonl, write_table
from torl.rollout.trajectory import TRAJECTORY_SCHEMA

ROOT = Path(__file__).parents[2]


def make_call(outcome: str = "passed", before_answer: bool = True, code: str = "print(1 + 1)") -> dict[str, Any]:
    """A call with its outcome; everything else is plausible filler."""
    shown = "2" if outcome == "passed" else "ZeroDivisionError: division by zero"
    return {
        "turn": 0,
        "code": code,
        "outcome": outcome,
        "stdout": shown if outcome == "passed" else "",
        "observation": shown,
        "seconds": 0.05,
        "tokens_before": 12,
        "before_answer": before_answer,
    }


def make_row(**changes: Any) -> dict[str, Any]:
    """A right, plain response; change any field by name. ``calls`` sets code blocks and segments unless given."""
    calls = changes.get("calls", [])
    segments = [{"kind": "model", "text": "I think it is \\boxed{2}."}]
    for call in reversed(calls):
        segments.insert(0, {"kind": "observation", "text": f"\n```output\n{call['observation']}\n```\n"})
        segments.insert(0, {"kind": "model", "text": f"Let me compute.\n```python\n{call['code']}\n```"})
    row = {
        "experiment": "torl",
        "step": 30,
        "benchmark": "heldout",
        "problem_id": "p0",
        "sample_index": 0,
        "seed": 1,
        "question": "What is one plus one?",
        "gold": "2",
        "segments": segments,
        "stop_reason": "answered",
        "calls": calls,
        "code_blocks": len(calls),
        "unanswered_markers": 0,
        "answer": "2",
        "correct": True,
        "reward": None,
        "prompt_tokens": 20,
        "response_tokens": 40,
        "model_tokens": 34,
        "seconds": 0.4,
    } | changes
    return {name: row[name] for name in TRAJECTORY_SCHEMA.names}


def make_rows(
    rng: np.random.Generator,
    *,
    accuracy: float,
    code: float,
    passes: float,
    questions: int,
    samples: int = 1,
    **context: Any,
) -> list[dict[str, Any]]:
    """``questions`` x ``samples`` responses with about these rates; harder questions have higher numbers."""
    rows = []
    for question in range(questions):
        hardness = 1.6 * question / questions + 0.2  # mean 1 over questions
        for sample in range(samples):
            uses_code = rng.random() < code
            passed = rng.random() < passes
            correct = bool(rng.random() < min(1.0, accuracy / hardness * (1.1 if uses_code and passed else 0.9)))
            calls = (
                [make_call("passed" if passed else "raised", before_answer=rng.random() < 0.95)] if uses_code else []
            )
            answered = correct or rng.random() < 0.9
            rows.append(
                make_row(
                    problem_id=f"p{question:03d}",
                    sample_index=sample,
                    question=f"What is the remainder of {question + 7}^12 divided by 17?",
                    calls=calls,
                    code_blocks=len(calls) + int(uses_code and rng.random() < 0.3),
                    correct=correct,
                    answer=("2" if correct else "3") if answered else None,
                    stop_reason="answered" if answered else "length",
                    response_tokens=int(rng.integers(20, 120)),
                    **context,
                )
            )
    return rows


class Run:
    """Files of a synthetic run under ``folder``, laid out as the workflow does."""

    STEPS = 30

    def __init__(self, folder: Path, experiment: str, benchmarks: tuple[str, ...] = ("heldout",)) -> None:
        self.experiment = experiment
        self.folder = folder / experiment
        self.run_dir = self.folder / "run"
        self.config = self.folder / "config.json"
        self.done = self.folder / "done.json"
        rng = np.random.default_rng(list(experiment.encode()))
        self._write_training(rng)
        self.evaluations = [
            self._write_evaluation(rng, step, benchmark) for step in (0, 10, 20, 30) for benchmark in benchmarks
        ]
        write_json(self.config, self._configuration())
        write_json(
            self.done,
            {
                "experiment": experiment,
                "run_dir": str(self.run_dir),
                "steps": self.STEPS,
                "seconds": 206.4 if self._uses_tool else 171.9,
                "checkpoints": [10, 20, 30],
                "final_checkpoint": 30,
                "attempts": 1,
                "config_sha256": "0" * 64,
            },
        )

    def _configuration(self) -> dict[str, Any]:
        rollout = {"max_tool_calls": int(self._uses_tool)}
        sections = {"model": {"base": "scale-model"}, "data": {"generate": 2000}, "rollout": rollout}
        return {"experiment": self.experiment, "scale": "demo", "seed": 1, **sections}

    @property
    def _uses_tool(self) -> bool:
        return self.experiment != "no_tool"

    def _rates(self, step: int) -> dict[str, float]:
        progress = 1 - np.exp(-step / 9)
        if not self._uses_tool:
            return {"accuracy": 0.17 + 0.06 * progress, "code": 0.0, "passes": 0.0}
        return {"accuracy": 0.3 + 0.5 * progress, "code": 0.42 + 0.5 * progress, "passes": 0.76 + 0.16 * progress}

    def _write_training(self, rng: np.random.Generator) -> None:
        for step in range(self.STEPS):
            rows = make_rows(
                rng,
                **self._rates(step),
                questions=8,
                samples=8,
                step=step,
                experiment=self.experiment,
                benchmark="train",
            )
            for row in rows:
                row["reward"] = 1.0 if row["correct"] else -1.0
            write_jsonl(self.run_dir / "trajectories" / f"step_{step + 1:06d}.jsonl", rows)

    def _write_evaluation(self, rng: np.random.Generator, step: int, benchmark: str) -> Path:
        path = self.folder / "evaluation" / f"step_{step}" / f"{benchmark}.parquet"
        rows = make_rows(
            rng, **self._rates(step), questions=96, step=step, experiment=self.experiment, benchmark=benchmark
        )
        write_table(path, rows, TRAJECTORY_SCHEMA)
        return path


def write_funnel(path: Path) -> Path:
    """The counts of a small filter run."""
    reasons = [("proof", "asks for a proof", 180, 3820), ("no_answer", "has no short answer", 120, 3700)]
    reasons += [
        ("duplicate", "says the same as a kept problem", 150, 3550),
        ("overlap", "occurs in a benchmark", 12, 3538),
    ]
    steps = [
        {
            "reason": reason,
            "sentence": sentence,
            "dropped": dropped,
            "dropped_by_source": {"pool": dropped},
            "left": left,
        }
        for reason, sentence, dropped, left in reasons
    ]
    funnel = {"rows": 4000, "rows_by_source": {"pool": 4000}, "steps": steps, "kept": 3538}
    write_json(path, funnel | {"kept_by_source": {"pool": 3538}, "overlap": [], "settings": {"keep_overlap": False}})
    return path


def write_provenance(path: Path) -> Path:
    """A machine that does not exist."""
    document = {
        "git": {"revision": "a" * 40, "dirty": False},
        "python": "3.11.7",
        "packages": {"torch": "2.13.0", "verl": "0.9.1"},
        "machine": {"cpu": "Imaginary CPU", "cores": 2, "memory_gib": 8.0, "os": "Linux", "gpus": []},
    }
    write_json(path, document)
    return path


def text_line(text: str, correct: bool | None = None) -> str:
    """A line of a text-only JSONL file."""
    return json.dumps({"text": text} | ({} if correct is None else {"correct": correct})) + "\n"


def make_material(folder: Path, *runs: Run, **changes: Any) -> Material:
    """What a report of ``runs`` is made from, files written under ``folder``."""
    metrics = []
    for run in runs:
        metrics += training_metrics(run.run_dir, run.experiment)
        for path in run.evaluations:
            metrics += evaluation_metrics(read_table(path), run.experiment, path)
    values = {
        "title": "A synthetic report",
        "metrics": metrics,
        "evaluations": read_evaluations(path for run in runs for path in run.evaluations),
        "figures": [],
        "ledger": read_ledger(ROOT / "config" / "paper" / "claims.yaml"),
        "funnel": read_json(write_funnel(folder / "funnel.json")),
        "configs": [read_json(run.config) for run in runs],
        "runs": [read_json(run.done) for run in runs],
        "provenance": read_json(write_provenance(folder / "provenance.json")),
        "rerun": ["make again"],
    }
    return Material(**(values | changes))


def run_script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a program of the workflow as a rule does."""
    program = ROOT / "workflow" / "scripts" / f"{name}.py"
    return subprocess.run([sys.executable, program, *map(str, arguments)], capture_output=True, text=True, check=False)


def analyse(run: Run) -> Path:
    """``metrics.parquet`` of a run, made by analyse_run."""
    out = run.folder / "metrics.parquet"
    arguments = ["--done", run.done, "--evaluations", *run.evaluations, "--experiment", run.experiment]
    done = run_script("analyse_run", *arguments, "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def draw(folder: Path, runs: list[Run]) -> Path:
    """``figures.json`` of some analysed runs, made by draw_figures."""
    evaluations = [path for run in runs for path in run.evaluations]
    inputs = ["--metrics", *[analyse(run) for run in runs], "--evaluations", *evaluations]
    inputs += ["--funnel", write_funnel(folder / "funnel.json"), "--paper", ROOT / "config" / "paper"]
    done = run_script("draw_figures", *inputs, "--out-dir", folder / "figures")
    assert done.returncode == 0, done.stderr
    return folder / "figures" / "figures.json"


def report(folder: Path, runs: list[Run], name: str = "report") -> tuple[Path, Path]:
    """``report.html`` and ``report.json`` of some runs, made by the whole chain of programs."""
    figures = draw(folder, runs)
    inputs = ["--metrics", *[run.folder / "metrics.parquet" for run in runs]]
    inputs += ["--evaluations", *[path for run in runs for path in run.evaluations]]
    inputs += ["--figures", figures, "--funnel", folder / "funnel.json", "--configs", *[run.config for run in runs]]
    inputs += ["--done", *[run.done for run in runs], "--provenance", write_provenance(folder / "provenance.json")]
    inputs += ["--claims", ROOT / "config" / "paper" / "claims.yaml", "--title", "A synthetic report"]
    outs = folder / f"{name}.html", folder / f"{name}.json"
    done = run_script("write_report", *inputs, "--rerun", "make again", "--out-html", outs[0], "--out-json", outs[1])
    assert done.returncode == 0, done.stderr
    return outs
