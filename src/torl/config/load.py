"""From YAML files and the command line to a checked ``RunConfig``.

Order, later wins: scale file, experiment, ``overrides`` of the invocation. ``rollout.protocol`` is the name of a file in
``protocols``, or the path of one; its content takes the name's place. Each error names key, value, what is accepted and the nearest
known key.
"""

import difflib
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from torl.config.models import RunConfig, Settings
from torl.errors import ConfigError
from torl.rollout.prompts import PROMPTS

Model = TypeVar("Model", bound=BaseModel)

DEFAULT_PROTOCOL = "torl"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RESERVED = frozenset({"all", "report", "problems", "base", "raw", "figures"})
"""Targets and folders beside those of the experiments."""
FIXED = ("scale", "experiment", "seed")
"""Keys that are set beside ``overrides``, not in them."""
EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")
"""Numbers such as 1e-6, which YAML takes for a text."""


class UniqueKeys(yaml.SafeLoader):
    """YAML in which a key may stand once in a mapping; otherwise the last would win without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping.

        Raises:
            YAMLError: a key stands twice.
        """
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = [key for number, key in enumerate(keys) if key in keys[:number]]
        if twice:
            raise yaml.YAMLError(f"the key {twice[0]!r} stands twice{node.start_mark}")
        return super().construct_mapping(node, deep)


def scale_names(config_dir: Path) -> list[str]:
    """Names of the scales in ``config_dir``."""
    return sorted(path.stem for path in (config_dir / "scales").glob("*.yaml"))


def experiment_names(config_dir: Path) -> list[str]:
    """Names of the experiments in ``config_dir``, in the order of the file.

    Raises:
        ConfigError: one of them cannot be a target and a folder.
    """
    names = list(_read_yaml(config_dir / "experiments.yaml"))
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name) or name in RESERVED:
            raise ConfigError(
                f"experiments.yaml has an experiment named {name!r}; a name is letters, digits and _, beginning with a letter, and "
                f"none of {', '.join(sorted(RESERVED))}: rename it."
            )
    return names


def protocol_names(config_dir: Path) -> list[str]:
    """Names of the tool protocols in ``config_dir``."""
    return sorted(path.stem for path in (config_dir / "protocols").glob("*.yaml"))


def load_settings(values: Mapping[str, Any], config_dir: Path) -> Settings:
    """Check what Snakemake collected from config.yaml and ``--config``.

    Raises:
        ConfigError: a key or value is not accepted, or a scale or experiment of that name does not exist.
    """
    values = dict(values) | {"overrides": _typed(values.get("overrides", {}))}
    settings = _validate(Settings, values, "config/config.yaml")
    fixed = [key for key in FIXED if key in settings.overrides]
    if fixed:
        raise ConfigError(f"overrides.{fixed[0]} is not accepted; set it beside overrides, or choose another target.")
    _require_name("scale", settings.scale, scale_names(config_dir))
    for name in settings.experiments:
        _require_name("experiments", name, experiment_names(config_dir))
    return settings


def command_for(settings: Settings, target: str, config_dir: Path) -> str:
    """The command line that asks for ``target`` with what ``settings`` have beside config.yaml; the scale is named always."""
    usual = load_settings(_read_yaml(config_dir / "config.yaml"), config_dir).model_dump(mode="json")
    values = settings.model_dump(mode="json")
    changed = {key: value for key, value in values.items() if key == "scale" or value != usual[key]}
    words = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in changed.items()]
    return f"snakemake --config {shlex.join(words)} -- {target}"


def resolve(settings: Settings, experiment: str, config_dir: Path) -> RunConfig:
    """The configuration of ``experiment`` at the scale of ``settings``.

    Raises:
        ConfigError: the merged configuration is not accepted.
    """
    _require_name("scale", settings.scale, scale_names(config_dir))
    experiments = _read_yaml(config_dir / "experiments.yaml")
    _require_name("experiments", experiment, list(experiments))
    merged: dict[str, Any] = {"scale": settings.scale, "experiment": experiment, "seed": settings.seed}
    for layer in (
        _read_yaml(config_dir / "scales" / f"{settings.scale}.yaml"),
        experiments[experiment],
        settings.overrides,
    ):
        if not isinstance(layer or {}, Mapping):
            raise ConfigError(f"experiment {experiment!r} is {layer!r}, no mapping; write `section: {{key: value}}`.")
        merged = _overlay(merged, layer or {})
    if isinstance(merged.get("rollout"), Mapping):
        merged = _overlay(merged, {"rollout": {"protocol": _protocol(merged["rollout"], config_dir)}})
    run = _validate(RunConfig, merged, f"experiment {experiment!r} at scale {settings.scale!r}")
    _require_name("rollout.prompt", run.rollout.prompt, sorted(PROMPTS))
    return run


def _protocol(rollout: Mapping[str, Any], config_dir: Path) -> Any:
    """The content of the protocol that ``rollout`` names; what is no name stays for the model to judge."""
    name = rollout.get("protocol", DEFAULT_PROTOCOL)
    if not isinstance(name, str):
        return name
    path = Path(name)
    if path.suffix != ".yaml":
        _require_name("rollout.protocol", name, protocol_names(config_dir))
        path = config_dir / "protocols" / f"{name}.yaml"
    return _read_yaml(path) | {"name": path.stem}


def _typed(value: Any) -> Any:
    """``value`` with its texts read as YAML: Snakemake hands over nested values of ``--config`` as texts."""
    if isinstance(value, Mapping):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if not isinstance(value, str):
        return value
    try:
        return float(value) if EXPONENT.fullmatch(value) else yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"overrides has the value {value!r}, which is not YAML; quote or mend it.") from error


def _overlay(base: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """``layer`` over ``base``: mappings are merged, everything else is replaced."""
    merged = dict(base)
    for key, value in layer.items():
        nested = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _overlay(merged[key], value) if nested else value
    return merged


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), UniqueKeys)
    except FileNotFoundError as error:
        raise ConfigError(
            f"{path} does not exist; correct the path, or restore the file from the repository."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not YAML in UTF-8: {error}; mend that line.") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} holds {type(content).__name__}, not a mapping; write `key: value` lines.")
    return content


def _require_name(key: str, name: str, known: list[str]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{key} is {name!r}; accepted: {', '.join(known)}.{hint}")


def _validate(model: type[Model], values: Mapping[str, Any], origin: str) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = [_explain(model, details) for details in error.errors()]
        raise ConfigError(f"{origin} is not accepted:\n  " + "\n  ".join(lines)) from error


def _explain(model: type[BaseModel], details: ErrorDetails) -> str:
    """One line for one error: key, value, what is accepted, the nearest known key."""
    location = [part for part in details["loc"] if isinstance(part, str)]
    key = ".".join(str(part) for part in details["loc"]) or "(combination)"
    if details["type"] == "extra_forbidden":
        known = list(_section(model, location[:-1]).model_fields)
        near = difflib.get_close_matches(location[-1], known, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{key}: unknown key (value {details['input']!r}); known here: {', '.join(known)}{hint}"
    if details["type"] == "missing":
        return f"{key}: missing; add it ({_describe(model, location)})"
    message = details["msg"].removeprefix("Value error, ")
    value = "" if details["type"] == "value_error" else f" but is {details['input']!r}"
    return f"{key}: {message}{value}{_describe(model, location, ' -- ')}"


def _section(model: type[BaseModel], location: list[str]) -> type[BaseModel]:
    """The model of the section that ``location`` leads to."""
    for name in location:
        annotation = model.model_fields[name].annotation if name in model.model_fields else None
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            model = annotation
    return model


def _describe(model: type[BaseModel], location: list[str], lead: str = "") -> str:
    field = _section(model, location[:-1]).model_fields.get(location[-1]) if location else None
    return f"{lead}{field.description}" if field is not None and field.description else ""
