"""The pretraining corpus of the scale model: documents of a prompt and a response, in the exact protocol ``torl``.

Four kinds of response: (a) plain language, hasty guesses mostly wrong and worked solutions mostly right; (b) code, its
output and the answer read off it; (c) code that raises, a third of it followed by a second block; (d) code after the
answer. The model writes up to "```output", the observation follows as the loop would insert it, and the model goes on.
Under the prompt without programs there is no code. Observations are what Python itself says of each snippet.
"""

import contextlib
import io
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from torl.files import stable_seed
from torl.rollout.prompts import render
from torl.rollout.trajectory import CallOutcome, Segment
from torl.sandbox.client import Execution
from torl.sandbox.observation import observation_text
from torl.scale_model.families import FAMILIES, Fact, Family, Level, Split
from torl.scale_model.problems import draw_fact, draw_family, draw_question

WITH_PROGRAMS = "tir_base_0309"
WITHOUT_PROGRAMS = "cot_base"

CODE_OPENINGS = ("I write a program.\n", "Python can compute this.\n")
WORKED_OPENINGS = ("Step by step: ", "Let us work it out: ")
TEXTBOOK = {
    "addition": (1.0, 0.5),
    "multiplication": (1.0, 0.5),
    "modular_power": (0.5, 0.0),
    "range_sum": (2.0, 0.0),
    "gcd": (2.0, 0.0),
    "divisor_count": (0.5, 0.0),
    "linear_equation": (2.0, 0.5),
    "lookup": (1.5, 0.7),
    "two_step_lookup": (1.5, 0.7),
    "position": (1.0, 0.5),
    "number_words": (0.5, 0.0),
}
"""Family -> its weight among the pages of the textbook, and the share of its pages that hold the steps of several facts:
more where the steps need more practice."""
PRACTICE_FACTS = 5
"""Facts on a page of steps, where the text of the question holds only one."""
GUESSES = ("The answer is {box}.", "I think it is {box}.")


@dataclass(frozen=True, kw_only=True)
class CorpusMix:
    """Shares of the documents of the corpus."""

    textbook: float = 0.3
    """Pages of a textbook, without a prompt and all right: where the model learns to work problems out."""
    with_programs: float = 0.65
    """Of the others: those under the prompt that asks for programs; the rest is under the one that asks for steps."""
    easy: float = 0.6
    """Easy facts."""
    worked: float = 0.45
    """Of the plain responses to a fact that can be worked out: those that do so; the others guess."""
    worked_right: float = 0.95
    """Of the worked responses: those that end in the right answer."""
    guess_right_easy: float = 0.3
    """Of the guesses at an easy fact: the right ones."""
    guess_right_hard: float = 0.1
    """Of the guesses at a hard fact: the right ones."""
    code_right: float = 0.66
    """Of the code where code helps: the snippets that print the answer."""
    code_raises: float = 0.16
    """Of the code where code helps: the snippets that raise; the rest prints something wrong."""
    reading_code_raises: float = 0.4
    """Of the code where code does not help: the snippets that raise; the rest prints something wrong."""
    repaired: float = 0.35
    """Of the responses whose code raised: those that write a second block."""
    checked: float = 0.08
    """Of the plain responses under the prompt that asks for programs: those that run code after the answer."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """One prompt with one response, as segments of model and observation in order."""

    fact: Fact
    prompt: str
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The whole document, observations included."""
        return self.prompt + "".join(segment.text for segment in self.segments)

    @property
    def has_code(self) -> bool:
        """Whether the model's text calls the tool."""
        return any(segment.kind == "observation" for segment in self.segments)


def run(code: str) -> Execution:
    """What the sandbox would reply to a snippet of this package.

    In this process and without limits: for snippets of the families alone, never for what a model wrote.
    """
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "snippet.py", "exec"), {"__name__": "__main__"})
    except (ArithmeticError, AttributeError, IndexError, NameError, SyntaxError, TypeError, ValueError) as error:
        own_frames = error.__traceback__.tb_next  # without the frame of this function
        stderr = "".join(traceback.format_exception(type(error), error, own_frames))
        return Execution(outcome=CallOutcome.RAISED, stdout=printed.getvalue(), stderr=stderr, return_code=1)
    return Execution(outcome=CallOutcome.PASSED, stdout=printed.getvalue(), return_code=0)


def box(answer: int | str) -> str:
    """An answer as the grader reads it."""
    return f"\\boxed{{{answer}}}"


class Writer:
    """Writes the responses of one fact; every choice comes from ``random``."""

    def __init__(self, mix: CorpusMix, random: Random, fact: Fact) -> None:
        self.mix, self.random, self.fact = mix, random, fact
        self.family: Family = FAMILIES[fact.family]
        self.answer = self.family.answer(fact.values)

    def chance(self, share: float) -> bool:
        """True at ``share``."""
        return self.random.random() < share

    def guess(self, right_share: float) -> int:
        """The answer at ``right_share``, otherwise one that a hasty reader gives."""
        return self.answer if self.chance(right_share) else self.random.choice(self.family.guesses(self.fact.values))

    def plain(self) -> str:
        """A response in plain language that ends in a box."""
        steps = self.family.worked(self.fact.values)
        if steps is not None and self.chance(self.mix.worked):
            return f"{self.random.choice(WORKED_OPENINGS)}{steps}. So {box(self.guess(self.mix.worked_right))}."
        hard = self.fact.level is Level.HARD
        guess = self.guess(self.mix.guess_right_hard if hard else self.mix.guess_right_easy)
        return self.random.choice(GUESSES).format(box=box(guess))

    def snippet(self) -> str:
        """Code that is right, wrong or raises, in the shares of the family's kind."""
        values, family = self.fact.values, self.family
        raises = self.mix.code_raises if family.code_helps else self.mix.reading_code_raises
        if self.chance(raises):
            return self.random.choice(family.raising_code(values))
        if family.code_helps and self.chance(self.mix.code_right / (1 - raises)):
            return self.random.choice(family.right_code(values))
        return self.random.choice(family.wrong_code(values))

    def call(self, before: str, code: str) -> tuple[bool, str, list[Segment]]:
        """A call of the tool: whether it ran, what was shown, and the two segments that it makes."""
        execution = run(code)
        shown = observation_text(execution)
        model = f"{before}```python\n{code}\n```\n```output"
        ran = execution.outcome is CallOutcome.PASSED
        return ran, shown, [Segment("model", model), Segment("observation", f"\n{shown}\n```\n")]

    def with_code(self) -> list[Segment]:
        """A response that computes first and answers from the output; a failure is repaired or guessed over."""
        ran, shown, segments = self.call(self.random.choice(CODE_OPENINGS), self.snippet())
        if not ran and self.chance(self.mix.repaired):
            codes = self.family.right_code(self.fact.values) or self.family.wrong_code(self.fact.values)
            ran, shown, second = self.call("I correct it.\n", self.random.choice(codes))
            segments += second
        if ran:
            return [*segments, Segment("model", f"So {box(shown)}.")]
        return [*segments, Segment("model", f"It failed. I guess {box(self.guess(self.mix.guess_right_hard))}.")]

    def checked(self) -> list[Segment]:
        """A plain response with code after its answer, which it then trusts."""
        ran, shown, segments = self.call(f"{self.plain()} I check.\n", self.snippet())
        return [*segments, Segment("model", f"So {box(shown)}." if ran else "The check failed.")]

    def response(self, code_share: float) -> list[Segment]:
        """A response that computes first at ``code_share``; no code at all where that is 0."""
        if self.chance(code_share):
            return self.with_code()
        if code_share and self.chance(self.mix.checked):
            return self.checked()
        return [Segment("model", self.plain())]


def write_textbook(random: Random) -> Document:
    """A page of a textbook: a question, then its worked solution or steps for practice."""
    (name,) = random.choices(list(TEXTBOOK), weights=[weight for weight, _ in TEXTBOOK.values()])
    family, practice = FAMILIES[name], random.random() < TEXTBOOK[name][1]
    level = Level.EASY if family.code_helps else random.choice(list(Level))
    fact = draw_fact(random, Split.CORPUS, level, family)
    question, _ = draw_question(random, fact)
    if practice:
        response = "; ".join(practice_steps(random, family, fact))
    else:
        response = Writer(CorpusMix(worked=1.0, worked_right=1.0), random, fact).plain()
    return Document(fact=fact, prompt=f"{question}\n", segments=(Segment("model", response),))


def practice_steps(random: Random, family: Family, fact: Fact) -> list[str]:
    """The steps of every fact about the text of ``fact``, or of some more facts where its text holds only one."""
    about_text = family.practice(fact.values)
    if family.code_helps:
        more = [draw_fact(random, Split.CORPUS, fact.level, family).values for _ in range(PRACTICE_FACTS - 1)]
        about_text += more
    return [family.worked(values) for values in random.sample(about_text, len(about_text))]


def write_document(mix: CorpusMix, random: Random) -> Document:
    """One document on a fact of the corpus split."""
    if random.random() < mix.textbook:
        return write_textbook(random)
    family = draw_family(random)
    level = Level.EASY if random.random() < mix.easy else Level.HARD
    fact = draw_fact(random, Split.CORPUS, level, family)
    question, code_share = draw_question(random, fact)
    with_programs = random.random() < mix.with_programs
    prompt = render(WITH_PROGRAMS if with_programs else WITHOUT_PROGRAMS, question)
    segments = Writer(mix, random, fact).response(code_share if with_programs else 0.0)
    return Document(fact=fact, prompt=prompt, segments=tuple(segments))


def write_corpus(count: int, seed: int, mix: CorpusMix) -> Iterator[Document]:
    """``count`` documents, the same for the same arguments."""
    random = Random(stable_seed("corpus", seed))
    for _ in range(count):
        yield write_document(mix, random)
