"""The final answer of a response, and whether two answers are equal, decided in processes that can be killed.

Knows nothing of rewards. Differs from ToRL: only the model's own text outside code counts, both answers are read as
mathematics with delimiters, and a grader that did not finish is an outcome of its own instead of a wrong answer.
"""

from torl.grading.equality import Verdict, equal, quick
from torl.grading.extract import extract_answer
from torl.grading.pool import Grade, Grader

__all__ = ["Grade", "Grader", "Verdict", "equal", "extract_answer", "quick"]
