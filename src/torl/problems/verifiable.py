"""Why a problem cannot be graded by rule, from its text and answer alone: one pure function a reason, in order.

Differs from ToRL: the paper says that proofs and problems with ambiguous answers were removed and releases neither
rules nor rows; these rules are this project's own. They are conservative: a row is dropped only on a clear sign. An
``[asy]`` drawing is part of the text, so a problem that has one is not without its figure.
"""

import re
from collections.abc import Callable

from torl.problems.figures import missing_figure
from torl.problems.reasons import DropReason
from torl.problems.schema import Problem
from torl.problems.text import without_drawings

MAX_CHARACTERS = 20_000
"""Characters of a text above which it is too long for any prompt budget and no other rule looks at it."""


MAX_ANSWER_CHARACTERS = 1_000
"""Characters of an answer above which it is no value; the longest values among 72,000 real ones have about 400."""

_CONTROL = re.compile(
    r"[\x00-\x07\x08\x0e-\x1f\x7f\ufffd]"
    r"|\x0c(?:rac|loor|orall|box|lat|rown)|\x0b(?:ec|arphi|dots|artheta|ee)"
    r"|\t(?:imes|heta|ext|frac|riangle|herefore|ilde|an\b|au\b|o\b)"
    r"|\r(?:ight|angle|ceil|floor|ho\b|m\{)|\n(?:eq\b|abla\b|e\s*[0-9])"
)
_LOST_BACKSLASH = re.compile(
    r"(?<![\\A-Za-z])(?:[dt]?frac\{[^{}]*\}\{|boxed\{|mathbb\{|overline\{|binom\{|rac\{|oxed\{|imes\{)"
)

_ASKS_PROOF = re.compile(
    r"(?:(?<![a-z])(?:prove|show|verify|demonstrate|establish|justify)\b(?:[^.?!$]|\$[^$]*\$){0,80}?\b(?:that|the|:|if|for|there|this)\b)"
    r"|(?<![a-z])prove\b|\bproof\b",
    re.IGNORECASE,
)
_ASKS_VALUE = re.compile(
    r"\b(?:find|determine|compute|calculate|evaluate|solve|express|simplify|what|"
    r"how (?:many|much|long|far|fast|old)|which|who|when|"
    r"where does|give|state|list|identify|estimate|maximum|minimum|smallest|largest|least|greatest)\b",
    re.IGNORECASE,
)
_NO_PROOF_NEEDED = re.compile(r"\b(?:no|not|without)\b[^.]{0,30}\b(?:prove|proof|show)\b", re.IGNORECASE)
_PROOF_ANSWER = re.compile(
    r"\W*(?:proof|proved|proven|see (?:the )?(?:proof|solution)|q\.?e\.?d\.?|notfound)\W*", re.IGNORECASE
)

_LETTER = r"(?:\\(?:text|textbf|mathrm|mathbf|mbox|rm|bf)\s*\{?\s*)*[\\({\s*]*[A-H](?![A-Za-z])[\s.,:;)}*\\]*"
_LETTER_ANSWER = re.compile(_LETTER)
_LETTERS_ANSWER = re.compile(r"(?:\\text\{)?[A-E](?:\s*(?:,|and|\\text\{ and \})?\s*[A-E])+\}?\.?")
_OPTION_ANSWER = re.compile(
    r"[^A-Za-z]*(?:(?:the )?(?:correct )?(?:final )?(?:answer|option|choice)\b[^.:]{0,20}?(?:is|:)\s*)?"
    r"(?:\\text(?:bf)?\{)?[\s*({]*"
    r"[A-E][\s}*]*[).:]",
    re.IGNORECASE,
)
_OPTION_MENTION = re.compile(r"\*\*[A-E][).\s]|\\textbf\{ ?\(?[A-E]\)?|\b(?:option|choice|answer is)\s*\**\(?[A-E]\b")
_OPTIONS = re.compile(
    r"(?:^|[\s$({*\\])(?:text(?:bf|rm)?\s*\{\s*|mathrm\s*\{\s*|bf\s*)?\(?A\s*[).:}](?P<rest>.{1,1500}?)[\s$({*\\](?:text(?:bf|rm)?\s*\{\s*|mathrm\s*\{\s*|bf\s*)?"
    r"\(?B\s*[).:}]",
    re.DOTALL,
)

_YES_NO = re.compile(
    r"\W*(?:\\(?:text|textbf|mathrm|mbox)\s*\{)?\s*(?:yes|no|true|false|correct|incorrect|possible|impossible|right|wrong|always|never)"
    r"\s*\}?\W*|\W*(?:\\text\{)?\s*(?:yes|no)\s*[,.;}](?:.*)",
    re.IGNORECASE | re.DOTALL,
)

_PART = re.compile(r"(?:(?<=[\s$;.:?。])|^)\\?[(（]\s*(\d|I{1,3}V?|i{1,3}v?|[a-e])\s*\\?[)）]|(?:^|\n)\s*(\d)[.)]\s")
_PART_FIRSTS = {"1", "I", "i", "a"}
_PART_SECONDS = {"2", "II", "ii", "b"}
_PART_ASKS = re.compile(
    r"\s*\$?\s*(?:find|determine|compute|calculate|evaluate|solve|express|simplify|what|how|which|who|when|prove|show|is|are|does|"
    r"write|give|state|list|discuss|explain|draw|complete|fill|factor)\b|[^.]{0,400}\?",
    re.IGNORECASE,
)
_ASKS_EACH = re.compile(
    r"^\W*(?:calculate|compute|evaluate|simplify|factor\w*|solve)(?: (?:the|these))?(?: following)?(?: \w+){0,4}:\s*$"
    r"|\b(?:calculate|compute|evaluate|simplify|factor\w*|solve|find|determine|differentiate)(?: each of)? the following"
    r" (?!conditions|properties)[^.:]{0,60}:\s*$",
    re.IGNORECASE,
)
"""What stands before numbered parts that are all questions though none of them asks."""
_LATER_ASK = re.compile(
    r"\b(?:find|determine|compute|calculate|evaluate|solve|prove|what (?:is|are)|how (?:many|much|long|far))\b",
    re.IGNORECASE,
)

_TEXT_GROUP = re.compile(r"\\(?:text|textbf|textit|mbox|textnormal|textrm)\s*\{([^{}]*)\}")
_LATEX_WORD = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+")
_TEXT_WORD = re.compile(r"[A-Za-z]{2,}")
_LONG_WORD = re.compile(r"(?<![A-Za-z])(?=[A-Za-z]*[aeiou])[A-Za-z]?[a-z]{3,}(?![A-Za-z])")
_UNITS_AND_CONNECTIVES = """
    and or pi sin cos tan cot sec csc log ln lg exp max min gcd lcm deg mod sqrt frac square sq cubic cu per
    inch inches foot feet ft yard yards mile miles mph meter meters metre metres cm mm km dm kg mg ml gram
    grams kilogram kilograms ton tons pound pounds ounce ounces liter liters litre litres gallon gallons cup
    cups unit units second seconds sec minute minutes min hour hours hr hrs day days week weeks month months
    year years degree degrees radian radians percent cent cents dollar dollars euro euros yuan ruble rubles
    rupees pence am pm people person students times ways kilometers kilometer centimeters centimeter
    millimeters revolutions points kj mol kilowatt kwh kmh
    """
_UNIT_WORDS = frozenset(_UNITS_AND_CONNECTIVES.split())
_COUNTED = re.compile(r"\s*[-+]?\d[\d,.]*\s*\\(?:text|mbox|textrm)\s*\{\s*(?:[A-Za-z'-]+\s*){1,3}\}\s*")
"""A number and what it counts: the words are its unit."""
PROSE_WORDS = 2
"""Words beside units and connectives from which an answer is prose; one is a name, a noun or ``where``."""


def _corrupt_text(problem: Problem) -> str | None:
    for name, text in (("text", problem.text), ("answer", problem.answer)):
        prose = without_drawings(text)
        match = _CONTROL.search(prose) or _LOST_BACKSLASH.search(prose)
        if match:
            return f"{name} has {match.group()!r}"
    return None


def _proof(problem: Problem) -> str | None:
    if (problem.level or "").lower() == "proof":
        return "the source calls it a proof"
    if problem.answer and _PROOF_ANSWER.fullmatch(problem.answer):
        return f"the answer is {problem.answer!r}"
    prose = without_drawings(problem.text)
    match = _ASKS_PROOF.search(prose)
    if not match or _NO_PROOF_NEEDED.search(prose):
        return None
    if not problem.answer:
        return f"asks {match.group()[:40]!r} and has no answer"
    return None if _ASKS_VALUE.search(prose) or "?" in prose else f"asks only {match.group()[:40]!r}"


def _empty_answer(problem: Problem) -> str | None:
    return None if re.search(r"\w", problem.answer) else "no letter or digit in the answer"


def _multiple_choice(problem: Problem) -> str | None:
    if (problem.level or "").upper() == "MCQ":
        return "the source calls it multiple choice"
    answer = problem.answer
    if _LETTER_ANSWER.fullmatch(answer):
        return f"the answer is the letter {answer!r}"
    if not _OPTIONS.search(problem.text):
        return None
    if _LETTERS_ANSWER.fullmatch(answer) or _OPTION_ANSWER.match(answer) or _OPTION_MENTION.search(answer):
        return f"options in the text and the answer {answer[:40]!r}"
    return None


def _yes_or_no(problem: Problem) -> str | None:
    return f"the answer is {problem.answer[:40]!r}" if _YES_NO.fullmatch(problem.answer) else None


def _several_questions(problem: Problem) -> str | None:
    """Numbered parts, the first and a later one of which ask for something."""
    text = without_drawings(problem.text)
    marks = [(match, match[1] or match[2]) for match in _PART.finditer(text)]
    starts = [i for i, (_, name) in enumerate(marks) if name in _PART_FIRSTS]
    if not starts:
        return None
    parts = marks[starts[0] :]
    asking = []
    for index, (match, name) in enumerate(parts):
        end = parts[index + 1][0].start() if index + 1 < len(parts) else len(text)
        if _asks(text[match.end() : end]):
            asking.append(name)
    stem = text[: parts[0][0].start()]
    if len(parts) > 1 and parts[1][1] in _PART_SECONDS and _ASKS_EACH.search(stem):
        return f"parts {', '.join(name for _, name in parts[:4])} of one order"
    several = asking and asking[0] in _PART_FIRSTS and any(name in _PART_SECONDS for name in asking[1:])
    return f"parts {', '.join(asking[:4])} each ask" if several else None


def _asks(part: str) -> bool:
    return bool(_PART_ASKS.match(part) or _LATER_ASK.search(part))


def _missing_figure(problem: Problem) -> str | None:
    return missing_figure(problem.text)


def _prose_answer(problem: Problem) -> str | None:
    """Words in text groups, and words of four letters outside them: shorter ones are products or points."""
    if _COUNTED.fullmatch(problem.answer):
        return None
    inside = [word for group in _TEXT_GROUP.findall(problem.answer) for word in _TEXT_WORD.findall(group)]
    outside = _LONG_WORD.findall(_LATEX_WORD.sub(" ", _TEXT_GROUP.sub(" ", problem.answer)))
    found = [word for word in inside + outside if word.lower() not in _UNIT_WORDS]
    return f"words {' '.join(found[:6])!r}" if len(found) >= PROSE_WORDS else None


RULES: tuple[tuple[DropReason, Callable[[Problem], str | None]], ...] = (
    (DropReason.CORRUPT_TEXT, _corrupt_text),
    (DropReason.PROOF, _proof),
    (DropReason.EMPTY_ANSWER, _empty_answer),
    (DropReason.MULTIPLE_CHOICE, _multiple_choice),
    (DropReason.YES_OR_NO, _yes_or_no),
    (DropReason.SEVERAL_QUESTIONS, _several_questions),
    (DropReason.MISSING_FIGURE, _missing_figure),
    (DropReason.PROSE_ANSWER, _prose_answer),
)
"""The rules on one row, in order. Each gives the detail that made it fire, or ``None``."""


def first_reason(problem: Problem) -> tuple[DropReason, str] | None:
    """The first rule that ``problem`` breaks with its detail, or ``None`` when text and answer are sound."""
    if len(problem.text) > MAX_CHARACTERS:
        return DropReason.TOO_LONG, f"{len(problem.text)} characters, at most {MAX_CHARACTERS}"
    if len(problem.answer) > MAX_ANSWER_CHARACTERS:
        return DropReason.UNPARSED_ANSWER, f"{len(problem.answer)} characters, at most {MAX_ANSWER_CHARACTERS}"
    for reason, rule in RULES:
        detail = rule(problem)
        if detail is not None:
            return reason, detail
    return None
