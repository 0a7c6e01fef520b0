"""The configuration: typed, merged from scale, experiment and command line, and checked before anything runs."""

from torl.config.load import command_for, experiment_names, load_settings, resolve, scale_names
from torl.config.models import RunConfig, Settings

__all__ = ["RunConfig", "Settings", "command_for", "experiment_names", "load_settings", "resolve", "scale_names"]
