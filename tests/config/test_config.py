"""Every scale and experiment is accepted, and every mistake is named with its cure."""

import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import PROJECT
from torl.config import command_for, experiment_names, load_settings, resolve, scale_names
from torl.errors import ConfigError

CONFIG = PROJECT / "config"
EVERY = [(scale, name) for scale in scale_names(CONFIG) for name in experiment_names(CONFIG)]


def overridden(**overrides: Any) -> Any:
    return resolve(load_settings({"overrides": overrides}, CONFIG), "torl", CONFIG)


def test_the_command_for_a_report_has_all_that_was_asked_for_and_nothing_else() -> None:
    assert command_for(load_settings({}, CONFIG), "report", CONFIG) == "snakemake --config scale=demo -- report"
    values = {"scale": "real", "data_dir": "my files", "experiments": ["torl"], "overrides": {"train": {"steps": 2}}}
    words = shlex.split(command_for(load_settings(values, CONFIG), "C2", CONFIG))
    given = dict(word.split("=", 1) for word in words[2:-2])
    assert (words[:2], words[-2:]) == (["snakemake", "--config"], ["--", "C2"])
    assert {key: yaml.safe_load(value) for key, value in given.items()} == values


@pytest.mark.parametrize(("scale", "experiment"), EVERY)
def test_every_experiment_is_accepted_at_every_scale(scale: str, experiment: str) -> None:
    config = resolve(load_settings({"scale": scale}, CONFIG), experiment, CONFIG)
    assert (config.scale, config.experiment) == (scale, experiment)
    assert config.evaluated_steps[0] == 0
    assert config.evaluated_steps[-1] == (0 if config.train.epochs else config.train.steps)
    assert config.kept_steps[-1] == config.train.steps


def test_epochs_become_steps_when_the_number_of_problems_is_known() -> None:
    config = overridden(train={"epochs": 3, "prompts_per_step": 8}).for_problems(2_005)
    assert config.train.steps == 3 * 250
    assert config.evaluated_steps == [0]
    assert config.kept_steps == [0, 750]
    assert overridden().for_problems(2_005) == overridden()
    for epochs in (3, None):
        with pytest.raises(ValueError, match="7 problems make no batch"):
            overridden(train={"epochs": epochs, "prompts_per_step": 8}).for_problems(7)


def test_the_shipped_config_file_holds_the_defaults() -> None:
    shipped = load_settings(yaml.safe_load((CONFIG / "config.yaml").read_text()), CONFIG)
    assert shipped == load_settings({}, CONFIG)


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        ({"train": {"step": 5}}, ["train.step", "unknown key", "5", "did you mean 'steps'"]),
        ({"trian": {"steps": 5}}, ["trian", "unknown key", "did you mean 'train'"]),
        ({"train": {"steps": "many"}}, ["train.steps", "'many'", "integer"]),
        ({"train": {"steps": 0}}, ["train.steps", "greater than 0"]),
        ({"compute": {"engine": "vlm"}}, ["compute.engine", "'vlm'", "'transformers' or 'vllm'"]),
        ({"rollout": {"max_tool_calls": 0}, "reward": {"penalty": "release"}}, ["reward.penalty", "max_tool_calls 0"]),
        ({"train": {"save_every": 31}}, ["train.save_every 31", "train.steps 30"]),
        ({"evaluation": {"every": 15}}, ["evaluation.every 15", "save_every 10"]),
        ({"evaluation": {"samples": 4}}, ["temperature 0", "samples"]),
        ({"data": {"selection": "lim", "count": None}}, ["lim", "minimum_score", "count"]),
        ({"data": {"pass_rate_band": [0.9, 0.1]}}, ["pass_rate_band [0.9, 0.1]", "lower rate first"]),
        ({"compute": {"platform": "cuda"}}, ["cuda", "vllm"]),
        ({"grading": {"rules_off": ["unit"]}}, ["'unit' is not known", "units"]),
        ({"grading": {"rules_off": ["units"], "quirks": ["undelimited"]}}, ["rules_off", "undelimited"]),
        ({"compute": {"nodes": 2}}, ["compute.nodes is 2", "sandbox.url"]),
    ],
)
def test_a_mistake_is_named_with_key_value_and_cure(overrides: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        overridden(**overrides)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"scale": "demoo"}, ["'demoo'", "torl-1.5b", "Did you mean 'demo'"]),
        ({"experiments": ["torl", "C3"]}, ["'C3'", "C2"]),
        ({"experiments": "torl"}, ["experiments", "list", "'torl'"]),
        ({"scales": "demo"}, ["scales", "unknown key", "did you mean 'scale'"]),
        ({"seed": -1}, ["seed", "-1"]),
    ],
)
def test_a_mistake_on_the_command_line_is_named(values: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(values, CONFIG)
    for part in parts:
        assert part in str(caught.value)


def test_overrides_win_over_the_experiment_and_leave_its_siblings() -> None:
    settings = load_settings({"overrides": {"rollout": {"max_tool_calls": 3}}}, CONFIG)
    config = resolve(settings, "no_tool", CONFIG)
    assert config.rollout.max_tool_calls == 3
    assert config.rollout.prompt == "cot_base"


def test_nested_values_of_the_command_line_get_their_types() -> None:
    config = overridden(
        train={"steps": "40", "learning_rate": "1.0e-3"}, sandbox={"url": "null", "allow_unsafe": "true"}
    )
    assert (config.train.steps, config.train.learning_rate) == (40, 1e-3)
    assert overridden(train={"learning_rate": "1e-05"}).train.learning_rate == 1e-5
    assert (config.sandbox.url, config.sandbox.allow_unsafe) == (None, True)


def test_a_missing_scale_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="accepted"):
        load_settings({"scale": "demo"}, tmp_path)


def test_every_field_has_a_sentence() -> None:
    from torl.config import models

    sections = [
        value for value in vars(models).values() if isinstance(value, type) and issubclass(value, models.Section)
    ]
    for section in sections:
        for name, field in section.model_fields.items():
            if field.annotation not in sections:
                assert field.description, f"{section.__name__}.{name}"


@pytest.mark.parametrize(
    ("experiments", "message"),
    [
        ("a b/c: {}", "'a b/c'"),
        ("all: {}", "none of all"),
        ("problems: {}", "none of all"),
        ("7: {}", "7"),
        ("torl: text", "no mapping"),
        ("torl: [1]", "no mapping"),
        ("torl: {\n", "not YAML"),
        ("torl: {}\nC2: {}\ntorl: {}", "'torl' stands twice"),
        ("torl: {train: {steps: 1, steps: 2}}", "'steps' stands twice"),
    ],
)
def test_an_experiment_is_a_mapping_under_a_name_that_can_be_a_target_and_a_folder(
    tmp_path: Path, experiments: str, message: str
) -> None:
    shutil.copytree(CONFIG, tmp_path / "config")
    (tmp_path / "config" / "experiments.yaml").write_text(experiments)
    with pytest.raises(ConfigError, match=message):
        resolve(load_settings({"experiments": ["torl"]}, tmp_path / "config"), "torl", tmp_path / "config")


def test_what_is_set_beside_overrides_is_not_set_in_them() -> None:
    with pytest.raises(ConfigError, match=r"overrides.seed is not accepted"):
        load_settings({"overrides": {"seed": 7}}, CONFIG)


def test_an_override_that_is_not_yaml_is_named() -> None:
    with pytest.raises(ConfigError, match="not YAML"):
        load_settings({"overrides": {"data": {"scores": "{a: ["}}}, CONFIG)
