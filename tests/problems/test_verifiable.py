import time
from collections import Counter
from pathlib import Path

import pytest

from tests.problems.factory import problem
from torl.problems.readers import ReadCounts, read_file
from torl.problems.schema import Problem
from torl.problems.verifiable import MAX_CHARACTERS, RULES, DropReason, first_reason

OPTIONS = "\nA) 45\nB) 46\nC) 47\nD) 48"

DROPPED = [
    (DropReason.CORRUPT_TEXT, "Evaluate $8-\x0crac{6}{4-2}$.", "5"),
    (DropReason.CORRUPT_TEXT, "Compute $2+3 \times 5$.", "17"),
    (DropReason.CORRUPT_TEXT, "Find $\x08oxed{x}$ if $x = 1$.", "1"),
    (DropReason.CORRUPT_TEXT, "If $x \neq 4$ and $2x = 6$, find $x$.", "3"),
    (DropReason.CORRUPT_TEXT, "Find the root of frac{x}{2} = frac{1}{3}{5}.", "1"),
    (DropReason.CORRUPT_TEXT, "What is the square of 4\ufffd?", "16"),
    (DropReason.PROOF, "Prove that $a^2 + b^2 \\geq 2ab$.", ""),
    (DropReason.PROOF, "Let $n > 1$. Show that $n^2 > n$.", "n^2 > n"),
    (DropReason.PROOF, "Find all primes $p$ for which $p^2 + 2$ is prime.", "proof"),
    (DropReason.PROOF, "For each $k$, show the following inequality: $k < k + 1$.", "k"),
    (DropReason.EMPTY_ANSWER, "Find $x$ if $x = 1$.", ""),
    (DropReason.EMPTY_ANSWER, "Find $x$ if $x = 1$.", "--"),
    (DropReason.MULTIPLE_CHOICE, "Which curve is it? Enter the letter of the correct option.", "\\text{(D)}"),
    (DropReason.MULTIPLE_CHOICE, f"How many points are there?{OPTIONS}", "C) 47"),
    (DropReason.MULTIPLE_CHOICE, f"How many points are there?{OPTIONS}", "The correct answer is **C) 47**."),
    (DropReason.MULTIPLE_CHOICE, f"How many points are there?{OPTIONS}", "\\textbf{(C)}\\ 47"),
    (DropReason.MULTIPLE_CHOICE, f"How many points are there?{OPTIONS}", "47 \\textbf{(C)}"),
    (DropReason.MULTIPLE_CHOICE, f"Which of these are even?{OPTIONS}", "BD"),
    (DropReason.YES_OR_NO, "Is 1986 a sum of six odd squares?", "\\text{No}"),
    (DropReason.YES_OR_NO, "Does such a polygon exist?", "\\text{No, such a polygon does not exist.}"),
    (DropReason.YES_OR_NO, "Is the claim right?", "True"),
    (DropReason.SEVERAL_QUESTIONS, "(1) Find angle $A$.\n(2) If $a=2$, find the largest area.", "\\sqrt{3}"),
    (DropReason.SEVERAL_QUESTIONS, "Let $f(x)=x$.\n1. What is $f(2)$?\n2. If $f(a)=1$, what is $a$?", "1"),
    (DropReason.SEVERAL_QUESTIONS, "$(I)$ Calculate $1+1$; $(II)$ Solve $x+1=3$.", "2"),
    (DropReason.SEVERAL_QUESTIONS, "Solve the following systems:\n(1) $x+y=3$, $x=1$;\n(2) $x-y=3$, $x=4$", "y=2"),
    (DropReason.SEVERAL_QUESTIONS, "Calculate: (1) $3 - 5$; (2) $4 \\cdot 7$.", "28"),
    (DropReason.MISSING_FIGURE, "The tiles are laid as shown below. How many are grey?", "5"),
    (DropReason.MISSING_FIGURE, "What is the area of the shaded part in the figure?", "5"),
    (DropReason.MISSING_FIGURE, "Find the area. ![Image](https://example.org/a.png)", "5"),
    (DropReason.MISSING_FIGURE, "In the figure below, $AB = 2$. Find $BC$.", "5"),
    (DropReason.MISSING_FIGURE, "The following bar graph shows how many pets each pupil has. What is the median?", "5"),
    (DropReason.MISSING_FIGURE, "The graph of $f$ is shown in red below. For how many $x$ is $f(x) = x$?", "2"),
    (DropReason.MISSING_FIGURE, "The pie charts below show what pupils like. How many like tennis?", "32"),
    (DropReason.MISSING_FIGURE, "Look at the picture and count the blocks that were used.", "128"),
    (DropReason.MISSING_FIGURE, "How many dark cells are there? ![Grid](https://example.org/g.png)", "12"),
    (DropReason.MISSING_FIGURE, "Is the sum shown in the table even or what is it?", "12"),
    (
        DropReason.MISSING_FIGURE,
        "The diagram below shows part of a city map. A student walks from point $A$ to point $B$ and can only walk east or "
        "south. At each intersection, each is chosen with probability $\\frac{1}{2}$. What is the probability of point $C$?",
        "\\frac{21}{32}",
    ),
    (
        DropReason.MISSING_FIGURE,
        "The diagram shows five circles of the same radius touching each other. A square is drawn so that its vertices are at "
        "the centres of the four outer circles. What is the ratio of the shaded to the unshaded parts?",
        "2:3",
    ),
    (
        DropReason.MISSING_FIGURE,
        "Two rectangles, each measuring 7 cm in length and 3 cm in width, overlap to form the shape shown on the right. What is "
        "the perimeter of this shape?",
        "28",
    ),
    (DropReason.PROSE_ANSWER, "What can be said of $a$?", "\\text{Any natural number greater than 2}"),
    (DropReason.PROSE_ANSWER, "What is the nature of $f$?", "Odd function with a period of $2\\pi$"),
]

KEPT = [
    ("Five dice are rolled. What is the probability that at least three show the same value?", "\\frac{23}{108}"),
    ("Find the least length. There is no need to prove the answer.", "65"),
    ("The length of the cuts is ____. No proof is required.", "65"),
    ("Determine the largest $k$ such that the sum is bounded, and prove it.", "4"),
    ("By what factor does it grow? The price rises\tand $\\times$ marks stay.", "2"),
    ("What is the maximum possible \x0cfinal result?", "14"),
    (f"How many points are there?{OPTIONS}", "47"),
    ("What is $A + B$ if $A = 1$ and $B = 2$?", "3"),
    ("Let $f(1) = 1$ and $f(2) = 3$. Find $f(1) + f(2)$.", "4"),
    ("A sequence satisfies (i) $a_1 = 1$, and (ii) $a_{2n} = n a_n$. What is $a_{8}$?", "8"),
    ("The following statements hold: (1) $x > 0$; (2) $x^2 = 4$. Find $x$.", "2"),
    ("What is the area of the shaded region? [asy] fill((0,0)--(1,0)--(1,1)--cycle); [/asy]", "0.5"),
    ("The prices are shown below.\n| a | b |\n|---|---|\n| 1 | 2 |\nWhat is the sum?", "3"),
    ("Find the distance $MN$. Note: the diagram was not given during the contest.", "9"),
    ("In the diagram, $PQR$ is a straight line with $PQ = 1$ and $QR = 2$. Find $PR$.", "3"),
    (
        "As shown in the figure, $ABCD$ is a square with $AB = 4$ and $E$ is the midpoint of $BC$. Find $DE$.",
        "2\\sqrt{5}",
    ),
    (
        "A cone of height 6 stands on a circle of radius 12. How long is its side? ![Image](https://example.org/c.png)",
        "7",
    ),
    (
        "In the diagram, three identical circles touch each other, and each circle has a circumference of 24. Calculate the "
        "perimeter of the shaded region within the triangle formed by the centers of the circles.",
        "12",
    ),
    (
        "A sphere is inscribed in a truncated right circular cone as shown. The volume of the truncated cone is twice that of the "
        "sphere. What is the ratio of the radius of the bottom base to the radius of the top base?",
        "\\frac{3 + \\sqrt{5}}{2}",
    ),
    (
        "As shown in the figure below, six semicircles lie in the interior of a regular hexagon with side length 2 so that the "
        "diameters of the semicircles coincide with the sides of the hexagon. What is the area of the shaded region inside the "
        "hexagon but outside all of the semicircles?",
        "6\\sqrt{3} - 3\\pi",
    ),
    ("The first numbers are shown below. What is the tenth? \\[1, 4, 9, 16\\]", "100"),
    ("Shift the resulting graph to the left by $\\pi$. What is $g(0)$?", "0"),
    ("What is the area? ```asy\ndraw((0,0)--(1,1));\n``` Use the diagram above.", "3"),
    ("Find the number of functions with the following properties: (1) $f(1) = 1$; (2) $f(2) = 4$.", "6"),
    ("How many of the triangles are right?", "14 \\text{ right triangles}"),
    ('Enter a square root as "sqrt(14)" or "sqrt{14}". What is $\\sqrt{14}$?', "\\sqrt{14}"),
    ("What is the area of the ribbon in square feet?", "5\\pi \\text{ square feet}"),
    ("On what day of the week does it fall?", "\\text{Saturday}"),
    ("Express the dot product.", "\\overrightarrow{PB} \\cdot \\overrightarrow{PD} = -3"),
    ("Expand $(x-5)(y+2)(z+4)$.", "xyz + 2xz - 5yz - 10z + 4xy + 8x - 20y - 40"),
    ("Solve for all $x$.", "[k\\pi, k\\pi + \\frac{\\pi}{3}), \\text{ where } k \\in \\mathbb{Z}"),
]


@pytest.mark.parametrize(("reason", "text", "answer"), DROPPED)
def test_a_row_that_cannot_be_graded_is_dropped_for_its_reason(reason: DropReason, text: str, answer: str) -> None:
    found = first_reason(problem(text, answer))
    assert found is not None
    assert found[0] is reason
    assert found[1]


@pytest.mark.parametrize(("text", "answer"), KEPT)
def test_a_row_that_only_looks_like_it_is_kept(text: str, answer: str) -> None:
    assert first_reason(problem(text, answer)) is None


def test_what_the_source_calls_a_row_is_believed() -> None:
    assert first_reason(problem("Find $x$.", "1", level="proof"))[0] is DropReason.PROOF
    assert first_reason(problem("Find $x$.", "1", level="MCQ"))[0] is DropReason.MULTIPLE_CHOICE


def test_the_first_reason_in_the_documented_order_wins() -> None:
    order = [reason for reason, _ in RULES]
    assert order == [reason for reason in DropReason if reason in order]
    assert first_reason(problem("Prove that $\x0crac{1}{2} > 0$.", ""))[0] is DropReason.CORRUPT_TEXT


def test_every_reason_has_a_sentence() -> None:
    assert all(reason.sentence.endswith(".") for reason in DropReason)


@pytest.mark.parametrize("filler", ["a ", "(1) ", "\\text{", "$x$ show ", "A) b ", "in the figure ", "frac{", "| "])
def test_a_huge_text_is_refused_at_once_and_the_longest_allowed_is_quick(filler: str) -> None:
    text = (filler * MAX_CHARACTERS)[:MAX_CHARACTERS]
    start = time.perf_counter()
    first_reason(problem(text, text))
    assert time.perf_counter() - start < 5
    assert first_reason(problem(filler * 500_000, "1"))[0] is DropReason.TOO_LONG


def real(path: Path, reader: str) -> list[Problem]:
    return list(read_file(path, reader=reader, source="real", counts=ReadCounts()))


def test_the_real_proof_rows_are_dropped_as_proof(shared_data: Path) -> None:
    folder = shared_data / "sources"
    numina = real(folder / "ineqmath_numina_sampled_example.json", "numina_cot")
    numina += real(folder / "numina15_two_rows_transcribed.jsonl", "numina_1_5")
    proof_set = [row for row in real(folder / "imobench_proofbench_v2.csv", "csv") if not row.answer]
    assert (len(numina), len(proof_set)) == (12, 33)
    for row in numina + proof_set:
        assert first_reason(row)[0] is DropReason.PROOF, row.text


def test_the_known_empty_golds_of_deepscaler_are_found(shared_data: Path) -> None:
    rows = real(shared_data / "sources/fastcurl_train_L3.parquet", "verl")
    reasons = Counter(found[0] for row in rows if (found := first_reason(row)))
    assert reasons[DropReason.EMPTY_ANSWER] == 6


def test_nearly_all_benchmark_problems_count_as_verifiable(shared_data: Path) -> None:
    rows = real(shared_data / "benchmarks/math500_oneshot.jsonl", "plain")
    rows += real(shared_data / "benchmarks/amc23_qwen.jsonl", "plain")
    rows += real(shared_data / "benchmarks/aime25_mathruler.jsonl", "plain")
    dropped = [(row.text, found) for row in rows if (found := first_reason(row))]
    assert len(dropped) <= 0.02 * len(rows), dropped
