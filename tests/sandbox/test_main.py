"""The command line: ``run`` shows the observation, ``check`` a table, both with an exit code."""

from pathlib import Path

import pytest

from torl.sandbox.__main__ import main


def test_run_prints_what_the_model_would_see(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a snippet.py"
    file.write_text("print('a')\n1 / 0")
    assert main(["run", str(file), "--url", address]) == 0
    assert capsys.readouterr().out == "a\nZeroDivisionError: division by zero (line 2)\n"


def test_check_prints_isolation_and_one_line_a_check(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", address]) == 0
    isolation, *lines = capsys.readouterr().out.splitlines()
    assert isolation == "isolation: namespaces"
    assert len(lines) >= 8
    assert all(line.startswith("ok ") for line in lines)


def test_check_without_a_sandbox_is_an_error_that_names_the_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "http://127.0.0.1:9"]) == 1
    assert "error: no sandbox answers at http://127.0.0.1:9" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, b"print('\xff')"])
def test_a_snippet_that_cannot_be_read_is_an_error_that_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    file = tmp_path / "snippet.py"
    if content is not None:
        file.write_bytes(content)
    assert main(["run", str(file)]) == 1
    assert "snippet.py cannot be read as text" in capsys.readouterr().err


def test_a_sandbox_that_is_not_there_is_an_error_with_a_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "snippet.py").write_text("print(1)")
    assert main(["run", str(tmp_path / "snippet.py"), "--url", "http://127.0.0.1:9"]) == 1
    assert "could not run it" in capsys.readouterr().err
