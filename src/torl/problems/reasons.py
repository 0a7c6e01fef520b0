"""Why a problem is not in the pool, in the order in which reasons are tried: the first that applies is the one."""

from torl.enums import ExplainedEnum


class DropReason(ExplainedEnum):
    """One named reason for each row that is left out; ``sentence`` says what it means."""

    CORRUPT_TEXT = "corrupt_text", "The text or answer has control characters or lost backslashes."
    PROOF = "proof", "The problem asks for a proof, not for a value."
    EMPTY_ANSWER = "empty_answer", "The source has no answer."
    MULTIPLE_CHOICE = "multiple_choice", "The answer is the letter of an option."
    YES_OR_NO = "yes_or_no", "The answer is yes, no, true or false: half of all guesses would be right."
    SEVERAL_QUESTIONS = "several_questions", "Several numbered questions share one gold answer."
    MISSING_FIGURE = "missing_figure", "The problem needs a figure or table that the text does not hold."
    PROSE_ANSWER = "prose_answer", "The answer is a sentence, not a value."
    UNPARSED_ANSWER = (
        "unparsed_answer",
        "The grader finds no mathematical value in the answer, does not take it for equal to itself in another "
        "spelling, or ran out of time on it.",
    )
    CONFLICTING_ANSWERS = "conflicting_answers", "Copies of one problem disagree about its answer; all are dropped."
    DUPLICATE = "duplicate", "Another copy of the problem is kept."
    NEAR_DUPLICATE = (
        "near_duplicate",
        "A problem with the same numbers, the same answer and nearly the same words is kept.",
    )
    BENCHMARK_OVERLAP = "benchmark_overlap", "The problem is, or is nearly, a problem of a benchmark."
    TOO_LONG = "too_long", "The prompt would not fit the token budget."
