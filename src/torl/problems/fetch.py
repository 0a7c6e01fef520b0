"""One source to one parquet file of problems, with a manifest of where every byte and row came from.

Downloads go through huggingface_hub: they resume, are kept in its cache, and respect HF_ENDPOINT, HF_TOKEN and
HF_HUB_OFFLINE.

Differs from ToRL: its training file was made by unpublished means; here the manifest records commit, sha256, licence
and the rows that each reader could not use.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download

from torl.errors import ConfigError, DataError
from torl.files import sha256_of
from torl.hub import hub_errors
from torl.problems.readers import ReadCounts, read_file
from torl.problems.schema import Problem, write_problems
from torl.problems.sources import FilesSource, GeneratedSource, HubSource, SourceConfig, SourceFile


@dataclass(frozen=True, kw_only=True)
class FetchedFile:
    """A file of a source on this machine."""

    file: SourceFile
    local: Path
    commit: str | None
    """Commit of the hub repository that the file belongs to; ``None`` for a local file."""


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """What the manifest says of a file."""

    path: str
    reader: str
    bytes: int
    sha256: str
    rows: int
    rejected: dict[str, int]


def fetch(
    name: str,
    source: SourceConfig,
    *,
    out: Path | str,
    data_dir: Path | str,
    cache_dir: Path | str | None = None,
    seed: int = 0,
    count: int | None = None,
    whole: bool = False,
) -> dict[str, Any]:
    """Write the problems of ``source`` to ``out`` and return the manifest.

    Args:
        name: becomes the ``source`` of each problem.
        data_dir: folder that the paths of a ``files`` source are relative to.
        cache_dir: cache of the hub; its own default when ``None``.
        seed: seed of the generator; other kinds ignore it.
        count: problems to generate; only for a ``generated`` source.
        whole: refuse a file with a row that is not usable, as fits a benchmark.

    Raises:
        ConfigError: ``count`` for a source that is not generated, or a generator that is not installed.
        DataError: a file cannot be had, has another hash than the source says, or cannot be read.
    """
    if count is not None and not isinstance(source, GeneratedSource):
        raise ConfigError(
            f"count is {count}, but {name} is a {source.kind} source; count is for generated ones: leave it out."
        )
    manifest = {"name": name, "kind": source.kind, "licence": source.licence}
    if isinstance(source, GeneratedSource):
        rows = write_problems(out, _generate(name, source, seed, count or source.count))
        return manifest | {
            "split": source.split,
            "seed": seed,
            "rows": rows,
            "accepted": rows,
            "rejected": {},
            "files": [],
        }
    fetched = _from_hub(source, cache_dir) if isinstance(source, HubSource) else _from_folder(source, Path(data_dir))
    records: list[FileRecord] = []
    accepted = write_problems(out, _read_all(name, fetched, records, whole))
    if isinstance(source, HubSource):
        commits = sorted({item.commit for item in fetched if item.commit})
        manifest |= {"repo": source.repo, "revision": source.revision, "commit": ", ".join(commits)}
    return manifest | {
        "rows": sum(record.rows for record in records),
        "accepted": accepted,
        "rejected": dict(sum((Counter(record.rejected) for record in records), Counter())),
        "files": [asdict(record) for record in records],
    }


def _read_all(name: str, fetched: list[FetchedFile], records: list[FileRecord], whole: bool) -> Iterator[Problem]:
    """Problems of all files; ``records`` has an entry for each file that was read to its end."""
    for item in fetched:
        digest = _checked_hash(item)
        counts = ReadCounts()
        yield from read_file(item.local, reader=item.file.reader, source=name, counts=counts)
        if whole and counts.rejected:
            reasons = ", ".join(f"{reason} {count}" for reason, count in counts.rejected.items())
            raise DataError(
                f"{item.file.path}: {counts.rejected.total()} of {counts.rows} rows of {name} are not usable ({reasons}), and a "
                "benchmark is evaluated whole; get the file again, or mend these rows."
            )
        records.append(
            FileRecord(
                path=item.file.path,
                reader=item.file.reader,
                bytes=item.local.stat().st_size,
                sha256=digest,
                rows=counts.rows,
                rejected=dict(counts.rejected),
            )
        )


def _checked_hash(item: FetchedFile) -> str:
    digest = sha256_of(item.local)
    if item.file.sha256 not in (None, digest):
        raise DataError(
            f"{item.local} has sha256 {digest}, but the sources file says {item.file.sha256}. A broken copy: delete "
            f"it and run "
            "again. A file that changed at its origin: check it, then pin its old revision or write the new hash."
        )
    return digest


def _from_folder(source: FilesSource, data_dir: Path) -> list[FetchedFile]:
    fetched = [FetchedFile(file=file, local=data_dir / file.path, commit=None) for file in source.files]
    missing = [str(item.local) for item in fetched if not item.local.is_file()]
    if missing:
        raise DataError(
            f"{', '.join(missing)} not found; copy the file(s) there, or set data_dir to the folder that has them."
        )
    return fetched


def _from_hub(source: HubSource, cache_dir: Path | str | None) -> list[FetchedFile]:
    fetched = []
    for file in source.files:
        local = Path(_download(source, file, cache_dir))
        # The cache keeps a file as snapshots/<commit>/<path in the repository>.
        commit = local.parts[-1 - len(Path(file.path).parts)]
        fetched.append(FetchedFile(file=file, local=local, commit=commit))
    return fetched


def _download(source: HubSource, file: SourceFile, cache_dir: Path | str | None) -> str:
    with hub_errors(f"{source.repo} {file.path} at revision {source.revision}"):
        return hf_hub_download(
            source.repo,
            file.path,
            repo_type="dataset",
            revision=source.revision,
            cache_dir=cache_dir and str(cache_dir),
        )


def _generate(name: str, source: GeneratedSource, seed: int, count: int) -> Iterator[Problem]:
    try:
        from torl.scale_model.problems import generate
    except ImportError as error:
        raise ConfigError(
            f"{name}: the generator torl.scale_model.problems cannot be imported ({error}); install torl."
        ) from error
    for problem in generate(source.split, count, seed):
        yield replace(problem, source=name)
