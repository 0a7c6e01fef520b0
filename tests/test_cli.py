"""How programs end, and which arguments they take."""

import argparse
from pathlib import Path

import pytest

from torl import cli
from torl.errors import DataError


def raising(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    "error", [DataError("no rows; add some."), FileNotFoundError(2, "No such file", "x"), OSError(28, "full")]
)
def test_an_expected_error_is_a_message(error: Exception) -> None:
    with pytest.raises(SystemExit, match=type(error).__name__):
        cli.run(lambda: raising(error))


def test_an_unexpected_error_keeps_its_traceback() -> None:
    with pytest.raises(KeyError):
        cli.run(lambda: raising(KeyError("x")))


def test_an_interrupt_says_that_the_same_command_continues(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.run(lambda: raising(KeyboardInterrupt()))
    assert ended.value.code == 130
    assert "the same command continues" in capsys.readouterr().err


def test_a_program_that_ends_well_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(lambda: Path())
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("kind", "text"),
    [(cli.positive, "0"), (cli.positive, "-3"), (cli.positive, "x"), (cli.port, "65536"), (cli.port, "-1")]
    + [(cli.positive_seconds, text) for text in ("0", "-1", "nan", "x")],
)
def test_an_argument_out_of_its_range_is_named(kind: object, text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=text):
        kind(text)


def test_arguments_in_their_range_are_taken() -> None:
    assert (cli.positive("3"), cli.port("0"), cli.positive_seconds("0.5")) == (3, 0, 0.5)
