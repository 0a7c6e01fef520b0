"""What the release does that the workflow by default does not: each quirk has a name and a sentence of evidence.

The names are what ``rollout.quirks``, ``reward.quirks`` and ``grading.quirks`` accept; the default is none of them, and the
experiment ``release`` has all. So the cost of each can be measured. ``docs/rollout.md`` holds this table.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class RolloutQuirk(StrEnum):
    """Quirks of the tool loop."""

    LOST_ROUND = "lost_round"
    RETOKENISATION = "retokenisation"
    TURN_RELATIVE_MASK = "turn_relative_mask"
    BUDGET_PER_CALL = "budget_per_call"
    STRICT_EXTRACTION = "strict_extraction"
    SILENT_MARKER = "silent_marker"
    FAKE_OUTPUT = "fake_output"
    BARE_STREAMS = "bare_streams"
    PRINT_THEN_CRASH = "print_then_crash"
    ERROR_IN_STDOUT = "error_in_stdout"
    BLANK_IS_TIMEOUT = "blank_is_timeout"
    CLIENT_TIMEOUT = "client_timeout"


class RewardQuirk(StrEnum):
    """Quirks of the reward."""

    LAST_ROUND_PASS = "last_round_pass"


class GradingQuirk(StrEnum):
    """Quirks of the final answer."""

    ANSWER_ANYWHERE = "answer_anywhere"
    UNDELIMITED = "undelimited"


EVIDENCE: Mapping[StrEnum, str] = MappingProxyType(
    {
        RolloutQuirk.LOST_ROUND: (
            "The round loop is left before it appends anything when no response of the rank asks for execution: "
            "in the first round every response becomes empty, later the text after the last output is lost."
        ),
        RolloutQuirk.RETOKENISATION: (
            "Responses are kept as text, with a line break added to each turn, and are tokenised again for every "
            "round and for training; the sampled ids and their log-probabilities are thrown away."
        ),
        RolloutQuirk.TURN_RELATIVE_MASK: (
            "The range of an observation is counted from the start of its turn but applied to the whole response: "
            "from the second call on the output is trained on and earlier text of the model is not."
        ),
        RolloutQuirk.BUDGET_PER_CALL: (
            "Every turn may use the whole response budget as far as the context length allows; what is over the "
            "budget is cut off at the end, the answer with it."
        ),
        RolloutQuirk.STRICT_EXTRACTION: (
            "A closing fence closes only at the very start of a line, and a turn whose last block is unclosed "
            "runs nothing, whatever complete blocks stand before it."
        ),
        RolloutQuirk.SILENT_MARKER: (
            "A request without a block that could run uses up a call and gets no result; the marker itself "
            "vanishes from the response."
        ),
        RolloutQuirk.FAKE_OUTPUT: (
            "When all calls are used up the marker no longer stops the model, which may write an output block of "
            "its own; it is trained on."
        ),
        RolloutQuirk.BARE_STREAMS: (
            "The model is shown the standard output of a run that passed or the standard error of one that "
            "failed, never both and never how it ended."
        ),
        RolloutQuirk.PRINT_THEN_CRASH: (
            "A program that printed anything counts as passed whatever its return code, and its error is not shown."
        ),
        RolloutQuirk.ERROR_IN_STDOUT: (
            'Any text that has "Error" somewhere is cut to its last line, the output of a program that passed as well.'
        ),
        RolloutQuirk.BLANK_IS_TIMEOUT: "A program that printed nothing is shown as timed out, while it counts as passed.",
        RolloutQuirk.CLIENT_TIMEOUT: (
            "The client gives up after the server's own time-out, queueing included, and never tries again; what "
            'it could not run is shown to the model as "UnknownError" and trained on.'
        ),
        RewardQuirk.LAST_ROUND_PASS: (
            "Whether code passed is one flag a response that every round before the last possible one overwrites: "
            "a response that passed and then answers with a call left counts as one without code."
        ),
        GradingQuirk.ANSWER_ANYWHERE: (
            "The answer is the last box anywhere in the response, in code and in what the tool printed as well, "
            "with braces nested at most three levels deep."
        ),
        GradingQuirk.UNDELIMITED: (
            "Both answers are read without delimiters after words and units were deleted, and are compared in the wrong "
            "order: 8 passes for 8\\pi, and a space more or less may decide."
        ),
    }
)
"""Each quirk with what is known of it, from reading the release and running its functions."""
