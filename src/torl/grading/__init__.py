"""The final answer of a response, and whether two answers are equal, decided in processes that can be killed.

Knows nothing of rewards. The policy is in ``docs/grading.md``, its rules in ``torl.grading.rules``. Differs from ToRL: only the
model's own text outside code counts, both answers are read as mathematics with delimiters, and a grader that did not finish is
an outcome of its own instead of a wrong answer.
"""

from torl.grading.equality import Verdict, equal, explain, quick
from torl.grading.extract import extract_answer
from torl.grading.pool import Grade, Grader, Method, Pair
from torl.grading.release import release_answer
from torl.grading.rules import Policy, Rule

__all__ = [
    "Grade",
    "Grader",
    "Method",
    "Pair",
    "Policy",
    "Rule",
    "Verdict",
    "equal",
    "explain",
    "extract_answer",
    "quick",
    "release_answer",
]
