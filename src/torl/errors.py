"""Errors by boundary. Each message names the thing, the value, what is accepted, and ends with the cure.

A failed tool call or a wrong answer is data and never raised; these are the failures that must stop a job.
"""


class TorlError(Exception):
    """Base of every error that the workflow raises on purpose."""


class ConfigError(TorlError):
    """The configuration is wrong: unknown key, wrong type, impossible combination."""


class DataError(TorlError):
    """A data file is missing, malformed, or does not hold what it should."""


class SandboxError(TorlError):
    """The sandbox could not run code. Never an observation and never a reward."""


class GraderError(TorlError):
    """The grader could not decide (crashed or ran out of time); not the same as a wrong answer."""


class ModelServerError(TorlError):
    """The model could not be loaded or did not generate."""


class TrainerError(TorlError):
    """Training cannot start, continue or finish."""
