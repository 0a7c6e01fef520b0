"""Pins: for each hub source the commit that its revision means now, and the sha256 that each of its files has there.

The hub is asked for hashes, and files for which it keeps none are downloaded. The sources file is edited as text, so that
its comments and layout stay.

Differs from ToRL: it names its data sets and no version of them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.hf_api import RepoFile

from torl.errors import ConfigError, DataError
from torl.files import atomic_path, sha256_of
from torl.hub import hub_errors
from torl.problems.sources import HubSource, SourceConfig, read_sources, source_named


class Pin(NamedTuple):
    """What a source is pinned to."""

    commit: str
    sha256: tuple[str, ...]
    """Hashes of its files, in their order."""


class _Edit(NamedTuple):
    start: int
    stop: int
    text: str


def pin_file(path: Path | str, names: Sequence[str] = (), *, cache_dir: Path | str | None = None) -> dict[str, Pin]:
    """Write commits and hashes into the sources file ``path``, of the hub sources ``names`` or of all; return them.

    Nothing is written unless all of them are found.

    Raises:
        ConfigError: ``path`` is no sources file, has none of ``names``, or one that is not on the hub.
        DataError: the hub does not give what is asked, or a file has another hash than ``path`` says.
    """
    sources = read_sources(path)
    pins = {name: pin_of(name, source, cache_dir=cache_dir) for name, source in _chosen(sources, names).items()}
    _write(Path(path), sources, pins)
    return pins


def _write(path: Path, sources: Mapping[str, SourceConfig], pins: Mapping[str, Pin]) -> None:
    wanted = {name: _pinned(source, pins.get(name)) for name, source in sources.items()}
    refusal = ConfigError(
        f"{path} is laid out in a way that pins cannot be written into; write these by hand: "
        f"{json.dumps({name: pin._asdict() for name, pin in pins.items()})}."
    )
    try:
        text = pinned_text(path.read_text(encoding="utf-8"), pins)
    except KeyError as error:  # a key that stands elsewhere and is merged in
        raise refusal from error
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        if read_sources(temporary) != wanted:
            raise refusal


def _chosen(sources: Mapping[str, SourceConfig], names: Sequence[str]) -> dict[str, HubSource]:
    chosen = {name: source_named(sources, name) for name in names or sources}
    others = [name for name, source in chosen.items() if not isinstance(source, HubSource)]
    if names and others:
        raise ConfigError(f"{', '.join(others)} cannot be pinned: only sources of the kind hub can; leave them out.")
    return {name: source for name, source in chosen.items() if isinstance(source, HubSource)}


def pin_of(name: str, source: HubSource, *, cache_dir: Path | str | None = None) -> Pin:
    """The pin of ``source``, as the hub says now.

    Raises:
        DataError: the hub cannot be reached, refuses or lacks the repository, revision or a file, or a file has another
            hash than the source says.
    """
    api = HfApi()
    paths = [file.path for file in source.files]
    with hub_errors(f"{name}: {source.repo} at revision {source.revision}"):
        commit = api.dataset_info(source.repo, revision=source.revision).sha
        entries = api.get_paths_info(source.repo, paths, revision=commit, repo_type="dataset")
    found = {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}
    missing = [path for path in paths if path not in found]
    if missing:
        raise DataError(
            f"{name}: {source.repo} has no file {', '.join(missing)} at revision {source.revision} ({commit}). "
            "Correct the path."
        )
    hashes = []
    for file in source.files:
        digest = _sha256(source.repo, commit, found[file.path], cache_dir)
        if file.sha256 not in (None, digest):
            raise DataError(
                f"{name}: {file.path} has sha256 {digest} at revision {source.revision} ({commit}), but the sources file "
                f"says {file.sha256}. The file changed at its origin: check it, then take the old hash out and pin again."
            )
        hashes.append(digest)
    return Pin(commit, tuple(hashes))


def _sha256(repo: str, commit: str, entry: RepoFile, cache_dir: Path | str | None) -> str:
    """The hub's own hash of a large file; that of a small one, for which it keeps a git hash alone, by download."""
    if entry.lfs:
        return entry.lfs.sha256
    with hub_errors(f"{repo} {entry.path} at revision {commit}"):
        return sha256_of(
            hf_hub_download(
                repo, entry.path, repo_type="dataset", revision=commit, cache_dir=cache_dir and str(cache_dir)
            )
        )


def _pinned(source: SourceConfig, pin: Pin | None) -> SourceConfig:
    """``source`` as it should be read after it was pinned."""
    if pin is None:
        return source
    files = [file.model_copy(update={"sha256": digest}) for file, digest in zip(source.files, pin.sha256, strict=True)]
    return source.model_copy(update={"revision": pin.commit, "files": files})


def pinned_text(text: str, pins: Mapping[str, Pin]) -> str:
    """``text`` of a sources file with the values of ``pins`` in place; everything else stays as it is written."""
    sources = _entries(_entries(yaml.compose(text))["sources"])
    edits = [edit for name, pin in pins.items() for edit in _edits(sources[name], pin)]
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.stop :]
    return text


def _edits(source: yaml.MappingNode, pin: Pin) -> Iterator[_Edit]:
    entries = _entries(source)
    yield _replaced(entries["revision"], pin.commit)
    for file, digest in zip(entries["files"].value, pin.sha256, strict=True):
        known = _entries(file)
        yield _replaced(known["sha256"], digest) if "sha256" in known else _appended(file, "sha256", digest)


def _entries(mapping: yaml.MappingNode) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in mapping.value}


def _replaced(node: yaml.Node, value: str) -> _Edit:
    return _Edit(node.start_mark.index, node.end_mark.index, _scalar(value))


def _appended(mapping: yaml.MappingNode, key: str, value: str) -> _Edit:
    """A new last entry of ``mapping``, in its own style."""
    first_key, last_value = mapping.value[0][0], mapping.value[-1][1]
    between = ", " if mapping.flow_style else "\n" + " " * first_key.start_mark.column
    return _Edit(last_value.end_mark.index, last_value.end_mark.index, f"{between}{key}: {_scalar(value)}")


def _scalar(value: str) -> str:
    """``value`` in quotes where YAML would take it for a number, as it does hashes of digits alone."""
    return value if yaml.safe_load(value) == value else f'"{value}"'
