r"""One spelling for answers that are written alike: delimiters, spacing and LaTeX variants that carry no meaning."""

import re

from torl.problems.text import bare_answer

WITHOUT_MEANING = re.compile(r"\\left(?![a-z])|\\right(?![a-z])|\\[!,;:]|\\ |\\q?quad\b|~|\\displaystyle\b|\\limits\b")
WORDS = re.compile(r"\\(?:text|textbf|textit|textnormal|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}")
FRACTION = re.compile(r"\\[dtc]frac(?![a-z])")
SHORT_FRACTION = re.compile(r"\\frac\s*(\d)\s*(\d)")
SPELLINGS = str.maketrans({"−": "-", "–": "-", "，": ",", "∶": ":", "×": "*", "·": "*", "\u00a0": " ", "\u2009": " "})
SPACE_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s+(?=\d)")
OPENING, CLOSING = "([{", ")]}"
SEPARATOR_WORD = re.compile(r"\s+(?:and|or)\s+", re.IGNORECASE)


def normal_text(answer: str) -> str:
    """``answer`` in its normal spelling. Two answers with the same one are equal; different ones may still be."""
    text = bare_answer(answer.translate(SPELLINGS)).replace(r"\$", "")
    if text.count("$") == 1:
        text = text.replace("$", "")  # a currency sign
    text = WORDS.sub(r" \1 ", WITHOUT_MEANING.sub(" ", text))
    text = SHORT_FRACTION.sub(r"\\frac{\1}{\2}", FRACTION.sub(r"\\frac", text)).strip().rstrip(".")
    text = SPACE_BETWEEN_DIGITS.sub("\0", text)
    return "".join(text.split()).replace("\0", " ")


def words_of(answer: str) -> str | None:
    """The answer in lower case where it is nothing but words (of three letters or more in all); None otherwise."""
    text = WORDS.sub(r" \1 ", bare_answer(answer)).replace(",", " and ").rstrip(". ")
    text = " ".join(text.split())
    return text.casefold() if len(text) > 2 and all(part.isalpha() for part in text.split()) else None


def parts_of(answer: str) -> list[str]:
    """The answers that ``answer`` lists: split at commas, semicolons, "and" and "or" outside brackets."""
    text = bare_answer(answer)
    if (inner := _inside_set(text)) is not None:
        text = inner
    text = text.replace("$", " ").replace(r"\ ", " ").replace(r"\quad", " ").replace(r"\,", " ")
    text = re.sub(r"\\text\s*\{\s*,?\s*(and|or)\s*\}", r" \1 ", text)
    text = re.sub(r",\s*(?:and|or)\s+", ", ", text)
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in OPENING) - (character in CLOSING)
        if depth == 0 and character in ",;":
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    pieces = [piece for part in parts for piece in _split_words(part)]
    return [piece.strip() for piece in pieces if piece.strip()]


def _split_words(part: str) -> list[str]:
    return [part] if any(bracket in part for bracket in OPENING) else SEPARATOR_WORD.split(part)


def _inside_set(text: str) -> str | None:
    match = re.fullmatch(r"(?:\\left)?\\\{(.*)(?:\\right)?\\\}", text.strip(), re.DOTALL)
    return match[1] if match and r"\}" not in match[1] and "|" not in match[1] and r"\mid" not in match[1] else None
