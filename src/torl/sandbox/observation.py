"""The text that the model is shown after its code ran.

What the snippet printed comes first; how it ended follows in one plain line when it did not end well. The whole is cut
as ToRL cuts it: from 256 characters on, the first 128, "...", and the last 128.

Differs from ToRL: output printed before an error is kept, the error line names the line of the snippet, a snippet that
printed nothing is told so (the release says that it timed out), and a sandbox failure never becomes an observation.
"""

import re

from torl.errors import SandboxError
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import Execution

MAX_CHARACTERS = 256  # from this length on ToRL cuts
NO_OUTPUT = "[no output]"
SIGNALS = {
    4: "Illegal instruction",
    6: "Aborted",
    7: "Bus error",
    8: "Floating point exception",
    9: "Killed",
    11: "Segmentation fault",
}

FRAME = re.compile(r'^ *File "([^"]+)", line (\d+)', re.MULTILINE)
TRACEBACK = "Traceback (most recent call last):\n"
PATH_IN_PARENTHESES = re.compile(r" ?\(/[^()]*\)")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def observation_text(execution: Execution, *, max_characters: int = MAX_CHARACTERS) -> str:
    """The observation for ``execution``, without its fence; always the same text for the same execution.

    ``max_characters`` is the length from which the text is cut to its two ends.

    Raises:
        SandboxError: the execution failed in the sandbox; its trajectory must be dropped instead.
    """
    if execution.outcome is CallOutcome.SANDBOX_FAILED:
        raise SandboxError("a sandbox failure has no observation; drop the trajectory and count it.")
    output = plain(execution.stdout).strip()
    ending = plain(_ending(execution)).strip()
    return cut("\n".join(part for part in (output, ending) if part) or NO_OUTPUT, max_characters)


def plain(text: str) -> str:
    """``text`` with line ends made one and control characters removed, since a tokenizer may give them a meaning."""
    return CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def cut(text: str, max_characters: int) -> str:
    """``text``, or its two halves around "..." when it has ``max_characters`` or more."""
    half = max_characters // 2
    return text if len(text) < max_characters else f"{text[:half]}...{text[len(text) - half :]}"


def _ending(execution: Execution) -> str:
    """How the snippet ended, in plain lines; empty when there is nothing to say."""
    lines = [_outcome_line(execution)]
    if execution.truncated:
        lines.append("[output truncated]")
    return "\n".join(line for line in lines if line)


def _outcome_line(execution: Execution) -> str:
    match execution.outcome:
        case CallOutcome.TIMED_OUT:
            return f"TimeoutError: no result after {execution.seconds:g} s"
        case CallOutcome.KILLED_SIGNAL:
            number = -(execution.return_code or 0)
            return f"{SIGNALS.get(number, 'Killed')} (signal {number})"
        case CallOutcome.RAISED | CallOutcome.KILLED_MEMORY:
            return error_line(execution.stderr) or f"exit code {execution.return_code}"
        case _:
            return ""


def error_line(stderr: str) -> str:
    """The last line of ``stderr``, with the snippet's own line number where it has one and without the machine's
    paths."""
    last = stderr.strip().rpartition("\n")[2]
    frames = FRAME.findall(stderr.rpartition(TRACEBACK)[2])
    line_number = ""
    if frames:
        # The first frame is the snippet's own; the last one of the same file is where it went wrong.
        own = [line for path, line in frames if path == frames[0][0]]
        line_number = f" (line {own[-1]})"
    return PATH_IN_PARENTHESES.sub("", last) + line_number
