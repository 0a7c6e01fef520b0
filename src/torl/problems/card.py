"""The card of a pool of problems, as Markdown: what it was made of, under which licences, and what was left out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torl.files import sha256_of

LICENCE_NOTE = (
    "Problems keep the licence of the source that they come from; a source whose licence is not stated may not allow "
    "passing them on."
)


def pool_card(funnel: Mapping[str, Any], manifests: Sequence[Mapping[str, Any]], files: Sequence[Path]) -> str:
    """The card.

    Args:
        funnel: content of ``funnel.json``.
        manifests: content of the manifest of each source and benchmark, as ``torl.problems.fetch`` returns it.
        files: files of the pool, whose hashes the card gives.
    """
    sources = [manifest for manifest in manifests if manifest["name"] in funnel["rows_by_source"]]
    benchmarks = [manifest for manifest in manifests if manifest not in sources]
    parts = [
        "# Pool of verifiable problems",
        f"{funnel['kept']:,} problems of {funnel['rows']:,} rows. {LICENCE_NOTE}",
        "## Sources",
        _table(["source", "from", "licence", "rows", "unreadable", "kept"], [_source(m, funnel) for m in sources]),
        "## Source files",
        _table(["source", "file", "sha256"], [row for manifest in manifests for row in _files(manifest)]),
        "## Left out",
        _table(["reason", "rows", "left", "meaning"], _steps(funnel)),
        "## Benchmarks that were compared with",
        _table(
            ["benchmark", "from", "licence", "problems", "overlapping"], [_benchmark(m, funnel) for m in benchmarks]
        ),
        _overlap_note(funnel),
        "## Files",
        _table(
            ["file", "bytes", "sha256"], [[path.name, f"{path.stat().st_size:,}", sha256_of(path)] for path in files]
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _source(manifest: Mapping[str, Any], funnel: Mapping[str, Any]) -> list[str]:
    name = manifest["name"]
    unreadable = sum(manifest["rejected"].values())
    kept = funnel["kept_by_source"].get(name, 0)
    return [name, _origin(manifest), manifest["licence"], f"{manifest['rows']:,}", f"{unreadable:,}", f"{kept:,}"]


def _benchmark(manifest: Mapping[str, Any], funnel: Mapping[str, Any]) -> list[str]:
    name = manifest["name"]
    hits = [f"{hit['problems']} {hit['kind']}" for hit in funnel["overlap"] if hit["benchmark"] == name]
    return [name, _origin(manifest), manifest["licence"], f"{manifest['accepted']:,}", ", ".join(hits) or "none"]


def _overlap_note(funnel: Mapping[str, Any]) -> str:
    kept = funnel["settings"]["keep_overlap"]
    return (
        f"Overlapping problems are {'kept: data.keep_overlap is set' if kept else 'removed'}; overlap.parquet has each."
    )


def _origin(manifest: Mapping[str, Any]) -> str:
    if manifest["kind"] == "hub":
        return f"{manifest['repo']} at {manifest['commit']}"
    return "generated" if manifest["kind"] == "generated" else "local files"


def _files(manifest: Mapping[str, Any]) -> list[list[str]]:
    return [[manifest["name"], file["path"], file["sha256"]] for file in manifest["files"]]


def _steps(funnel: Mapping[str, Any]) -> list[list[str]]:
    steps = [step for step in funnel["steps"] if step["dropped"]]
    return [[step["reason"], f"{step['dropped']:,}", f"{step['left']:,}", step["sentence"]] for step in steps]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "None."
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
