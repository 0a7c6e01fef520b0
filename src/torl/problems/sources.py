"""Where problems come from: the models that validate ``config/sources.yaml``, one entry a source."""

import difflib
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from torl.errors import ConfigError
from torl.problems.readers import READERS

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ReaderName = Literal[tuple(READERS)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceFile(_Strict):
    """One file of a source."""

    path: Annotated[str, Field(min_length=1, description="Path inside the repository, or relative to data_dir.")]
    reader: Annotated[ReaderName, Field(description="Row format of the file.")]
    sha256: Annotated[
        Sha256 | None, Field(description="Hash that the file must have; without one it is only recorded.")
    ] = None


class HubSource(_Strict):
    """Files of a data set on the Hugging Face hub."""

    kind: Literal["hub"]
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$", description="Data set id, owner/name.")]
    revision: Annotated[str, Field(min_length=1, description="Branch, tag or commit; the manifest records the commit.")]
    licence: Annotated[str, Field(min_length=1, description="Licence as the data set's card words it.")]
    files: Annotated[list[SourceFile], Field(min_length=1, description="Files in the order in which they are read.")]


class FilesSource(_Strict):
    """Files that the user has, under ``data_dir``."""

    kind: Literal["files"]
    licence: Annotated[str, Field(min_length=1, description="Licence under which the user has the files.")]
    files: Annotated[list[SourceFile], Field(min_length=1, description="Files in the order in which they are read.")]


class GeneratedSource(_Strict):
    """Problems of the demo's generator."""

    kind: Literal["generated"]
    split: Annotated[str, Field(min_length=1, description="Split name of the generator; splits share no problem.")]
    licence: Annotated[str, Field(min_length=1, description="Licence of what the generator writes.")]
    count: Annotated[int, Field(ge=1, description="Number of problems when the command line gives none.")]


SourceConfig = Annotated[HubSource | FilesSource | GeneratedSource, Field(discriminator="kind")]


class SourcesFile(_Strict):
    """The whole of ``config/sources.yaml``."""

    sources: dict[Annotated[str, Field(pattern=r"^[a-z0-9_]+$")], SourceConfig]

    @model_validator(mode="after")
    def _some_source(self) -> "SourcesFile":
        if not self.sources:
            raise ValueError("sources is empty")
        return self


def read_sources(path: Path | str) -> dict[str, SourceConfig]:
    """The sources of ``path`` by name.

    Raises:
        ConfigError: the file is missing or not YAML, or has an unknown key or a wrong value; the message names it.
    """
    try:
        raw = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist; pass the path of config/sources.yaml.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not YAML ({error}); mend that line.") from error
    try:
        return TypeAdapter(SourcesFile).validate_python(raw).sources
    except ValidationError as error:
        raise ConfigError(f"{path}: {_problems(error)}") from error


def source_named(sources: dict[str, SourceConfig], name: str) -> SourceConfig:
    """The source ``name``.

    Raises:
        ConfigError: there is none; the message has the nearest known names.
    """
    if name in sources:
        return sources[name]
    near = difflib.get_close_matches(name, sources, n=3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise ConfigError(f"source {name!r} is not known; {hint}Accepted are {', '.join(sorted(sources))}.")


def _problems(error: ValidationError) -> str:
    lines = []
    for item in error.errors():
        where = ".".join(str(part) for part in item["loc"])
        what = (
            "is not a known key; remove it or correct its spelling"
            if item["type"] == "extra_forbidden"
            else item["msg"]
        )
        got = "" if item["type"] in {"extra_forbidden", "missing"} else f" (got {item['input']!r})"
        lines.append(f"{where}: {what}{got}")
    return "; ".join(lines) + "."
