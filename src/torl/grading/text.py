r"""One spelling for answers that are written alike: delimiters, spacing and LaTeX variants that carry no meaning."""

import re

from torl.problems.text import bare_answer

WITHOUT_MEANING = re.compile(r"\\left(?![a-z])|\\right(?![a-z])|\\[!,;:]|\\ |\\q?quad\b|~|\\displaystyle\b|\\limits\b")
WORDS = re.compile(r"\\(?:text|textbf|textit|textnormal|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}")
DOTS = re.compile(r"\\[lc]?dots[bcim]?(?![A-Za-z])|…")
FRACTION = re.compile(r"\\[dtc]frac(?![a-z])")
SHORT_FRACTION = re.compile(r"\\frac\s*(\d)\s*(\d)")
SPELLINGS = str.maketrans({"−": "-", "–": "-", "，": ",", "∶": ":", "×": "*", "·": "*", "\u00a0": " ", "\u2009": " "})
SPACE_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s+(?=\d)")


def normal_text(answer: str) -> str:
    """``answer`` in its normal spelling. Two answers with the same one are equal; different ones may still be."""
    text = bare_answer(answer.translate(SPELLINGS)).replace(r"\$", "").replace("$", "")
    text = WORDS.sub(r" \1 ", WITHOUT_MEANING.sub(" ", text))
    text = DOTS.sub("...", text)
    text = SHORT_FRACTION.sub(r"\\frac{\1}{\2}", FRACTION.sub(r"\\frac", text)).strip().rstrip(".")
    text = SPACE_BETWEEN_DIGITS.sub("\0", text)
    return "".join(text.split()).replace("\0", " ")


def words_of(answer: str) -> str | None:
    """The answer in lower case where it is nothing but words (of three letters or more in all); None otherwise."""
    text = WORDS.sub(r" \1 ", bare_answer(answer)).replace(",", " and ").rstrip(". ")
    text = " ".join(text.split())
    return text.casefold() if len(text) > 2 and all(part.isalpha() for part in text.split()) else None
