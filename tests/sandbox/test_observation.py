"""What the model reads after its code ran."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.errors import SandboxError
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import Execution
from torl.sandbox.observation import NO_OUTPUT, cut, error_line, observation_text

TRACEBACK = """Traceback (most recent call last):
  File "/tmp/tmpabc/x.py", line 3, in <module>
    f()
  File "/tmp/tmpabc/x.py", line 2, in f
    sympy.sqrt("(")
  File "/opt/packages/0/sympy/core/sympify.py", line 494, in sympify
    raise SympifyError('could not parse %r' % a, exc)
sympy.core.sympify.SympifyError: Sympify of expression failed
"""


def execution(outcome: CallOutcome = CallOutcome.PASSED, **fields: object) -> Execution:
    return Execution(outcome=outcome, **{"return_code": 0, "seconds": 0.1, **fields})


def test_a_passing_snippet_shows_its_output_stripped() -> None:
    assert observation_text(execution(stdout="\n 42\n\n")) == "42"


def test_a_passing_snippet_without_output_is_told_so_and_not_that_it_timed_out() -> None:
    assert observation_text(execution(stdout=" \n")) == NO_OUTPUT


def test_stderr_of_a_passing_snippet_is_hidden() -> None:
    assert observation_text(execution(stdout="1", stderr="DeprecationWarning: x")) == "1"


def test_an_exception_shows_output_then_the_last_line_with_the_snippets_own_line_number() -> None:
    shown = observation_text(execution(CallOutcome.RAISED, stdout="a\n", stderr=TRACEBACK, return_code=1))
    assert shown == "a\nsympy.core.sympify.SympifyError: Sympify of expression failed (line 2)"


def test_the_line_is_of_the_last_of_several_chained_tracebacks() -> None:
    last = 'Traceback (most recent call last):\n  File "/tmp/s.py", line 9, in <module>\nValueError: no\n'
    chained = f"{TRACEBACK}\nDuring handling of the above exception, another exception occurred:\n\n{last}"
    assert error_line(chained) == "ValueError: no (line 9)"


def test_a_syntax_error_has_its_line_although_it_has_no_traceback() -> None:
    stderr = "  File \"/tmp/s.py\", line 1\n    for i in range(3)\n                     ^\nSyntaxError: expected ':'\n"
    assert error_line(stderr) == "SyntaxError: expected ':' (line 1)"


def test_paths_of_the_machine_are_removed() -> None:
    stderr = "ImportError: cannot import name 'x' from 'math' (/home/me/lib-dynload/math.cpython-311.so)"
    assert error_line(stderr) == "ImportError: cannot import name 'x' from 'math'"


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (execution(CallOutcome.TIMED_OUT, return_code=None, seconds=10.0), "TimeoutError: no result after 10 s"),
        (execution(CallOutcome.TIMED_OUT, return_code=None, seconds=0.5), "TimeoutError: no result after 0.5 s"),
        (execution(CallOutcome.KILLED_SIGNAL, return_code=-11), "Segmentation fault (signal 11)"),
        (execution(CallOutcome.KILLED_SIGNAL, return_code=-15), "Killed (signal 15)"),
        (execution(CallOutcome.KILLED_MEMORY, return_code=1, stderr="MemoryError"), "MemoryError"),
        (execution(CallOutcome.RAISED, return_code=3), "exit code 3"),
        (execution(CallOutcome.OUTPUT_TRUNCATED, stdout="x", truncated=True), "x\n[output truncated]"),
    ],
)
def test_each_ending_is_one_plain_line(ended: Execution, text: str) -> None:
    assert observation_text(ended) == text


def test_partial_output_of_a_timed_out_snippet_is_shown() -> None:
    ended = execution(CallOutcome.TIMED_OUT, return_code=None, seconds=2.0, stdout="41\n")
    assert observation_text(ended) == "41\nTimeoutError: no result after 2 s"


def test_255_characters_stay_and_256_are_cut_to_259() -> None:
    assert observation_text(execution(stdout="x" * 255)) == "x" * 255
    cut_text = observation_text(execution(stdout="a" * 128 + "b" * 128))
    assert cut_text == "a" * 128 + "..." + "b" * 128


@given(text=st.text(), limit=st.integers(2, 300))
def test_a_cut_text_keeps_both_ends(text: str, limit: int) -> None:
    shown = cut(text, limit)
    assert len(shown) <= max(limit, 2 * (limit // 2) + 3)
    assert shown == text or (text.startswith(shown[: limit // 2]) and text.endswith(shown[-(limit // 2) :]))


@given(st.text())
def test_no_control_character_reaches_the_tokenizer(text: str) -> None:
    shown = observation_text(execution(stdout=text))
    assert all(character in "\t\n" or ord(character) >= 32 for character in shown)
    assert "\x7f" not in shown


def test_a_sandbox_failure_is_never_shown() -> None:
    with pytest.raises(SandboxError, match="drop the trajectory"):
        observation_text(execution(CallOutcome.SANDBOX_FAILED))
