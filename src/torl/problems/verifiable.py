"""Why a problem cannot be graded by rule, from its text and answer alone: one pure function a reason, in order.

Differs from ToRL: the paper says that proofs and problems with ambiguous answers were removed and releases neither
rules nor rows; these rules are this project's own. They are conservative: a row is dropped only on a clear sign. An
``[asy]`` drawing is part of the text, so a problem that has one is not without its figure.
"""

import re
from collections.abc import Callable
from enum import StrEnum

from torl.problems.schema import Problem
from torl.problems.text import without_drawings

MAX_CHARACTERS = 20_000
"""Characters of a text above which it is too long for any prompt budget and no other rule looks at it."""


class DropReason(StrEnum):
    """Why a problem is not in the pool, in the order in which reasons are tried: the first that applies is the one."""

    def __new__(cls, value: str, sentence: str) -> "DropReason":
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    CORRUPT_TEXT = "corrupt_text", "The text or answer has control characters or lost backslashes."
    PROOF = "proof", "The problem asks for a proof, not for a value."
    EMPTY_ANSWER = "empty_answer", "The source has no answer."
    MULTIPLE_CHOICE = "multiple_choice", "The answer is the letter of an option."
    YES_OR_NO = "yes_or_no", "The answer is yes, no, true or false: half of all guesses would be right."
    SEVERAL_QUESTIONS = "several_questions", "Several numbered questions share one gold answer."
    MISSING_FIGURE = "missing_figure", "The problem needs a figure that the text does not hold."
    PROSE_ANSWER = "prose_answer", "The answer is a sentence, not a value."
    UNPARSED_ANSWER = (
        "unparsed_answer",
        "The grader finds no mathematical value in the answer, or ran out of time on it.",
    )
    CONFLICTING_ANSWERS = "conflicting_answers", "Copies of one problem disagree about its answer; all are dropped."
    DUPLICATE = "duplicate", "Another copy of the problem is kept."
    BENCHMARK_OVERLAP = "benchmark_overlap", "The problem is, or shares 13 words in a row with, a benchmark problem."
    TOO_LONG = "too_long", "The prompt would not fit the token budget."


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
_LATER_ASK = re.compile(
    r"\b(?:find|determine|compute|calculate|evaluate|solve|prove|what (?:is|are)|how (?:many|much|long|far))\b",
    re.IGNORECASE,
)

_IMAGE = re.compile(r"!\[[^\]]*\]\(|\\includegraphics|<img\b|\.(?:png|jpe?g|gif|svg)\b", re.IGNORECASE)
_HAS_TABLE = re.compile(
    r"\\begin\{(?:tabular|array|[pbv]?matrix|tikzpicture)\}|\[asy\]|\|\s*:?-{2,}|^\s*\|.*\|\s*$", re.MULTILINE
)
_FIGURE_NOUN = r"(?:figure|diagram|picture|drawing|image|graph|sketch|illustration|grid|chart|map)"
_SIDE = r"(?:below|above|here|at (?:the )?(?:right|left)|(?:on|to) the (?:right|left))"
_SHOWN = r"(?:shown|pictured|illustrated|depicted|drawn)"
_NEEDS_FIGURE = re.compile(
    rf"\bas (?:is )?(?:{_SHOWN}|indicated|seen)(?: (?:in|on|by|at|to|below|above|here)\b|[.,;]|$)"
    rf"|\b{_SHOWN} {_SIDE}|\b(?:{_SHOWN}|marked|labell?ed|given) in (?:the|this) (?:\w+ )?{_FIGURE_NOUN}"
    rf"|\b(?:the|following) {_FIGURE_NOUN} {_SIDE}|\b{_FIGURE_NOUN} (?:shown|{_SIDE})\b"
    rf"|\bin fig(?:\.|ure) ?\d|\b(?:see|refer to) (?:the )?(?:fig|diagram|picture)",
    re.IGNORECASE,
)
_NAMES_FIGURE = re.compile(rf"\b(?:in the (?:\w+ )?{_FIGURE_NOUN}s?|the {_FIGURE_NOUN} shows?)\b", re.IGNORECASE)
_SHADED = re.compile(r"\bshaded\b", re.IGNORECASE)
_FIGURE_NOT_NEEDED = re.compile(
    r"(?:figure|diagram)s? (?:was|is|were|are) not (?:given|drawn|needed|necessary)", re.IGNORECASE
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
    several = asking and asking[0] in _PART_FIRSTS and any(name in _PART_SECONDS for name in asking[1:])
    return f"parts {', '.join(asking[:4])} each ask" if several else None


def _asks(part: str) -> bool:
    return bool(_PART_ASKS.match(part) or _LATER_ASK.search(part))


def _missing_figure(problem: Problem) -> str | None:
    text = problem.text
    image = _IMAGE.search(text)
    if image:
        return f"image {image.group()!r}"
    if _HAS_TABLE.search(text) or _FIGURE_NOT_NEEDED.search(text):
        return None
    match = _NEEDS_FIGURE.search(text) or (_SHADED.search(text) and _NAMES_FIGURE.search(text))
    return f"says {match.group()!r}" if match else None


def _prose_answer(problem: Problem) -> str | None:
    """Words in text groups, and words of four letters outside them: shorter ones are products or points."""
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
    for reason, rule in RULES:
        detail = rule(problem)
        if detail is not None:
            return reason, detail
    return None
