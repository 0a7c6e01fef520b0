"""One comparison of two answers that were read: what is tried in which order, and which rules were needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torl.grading.expressions import Node
from torl.grading.rules import Policy, Rule

MOST_PARTS = 64


@dataclass(kw_only=True)
class Comparison:
    """One comparison; ``used`` are the rules that were needed, in order."""

    policy: Policy
    tolerance: float | None
    """The largest difference of an answer from a gold number that is still equal; None asks for the rules' own."""
    steps: "tuple[Step, ...]"
    """What is tried, in order; the first step that decides does."""
    used: list[Rule] = field(default_factory=list)

    def same(self, gold: Node, answer: Node) -> bool:
        """Whether ``answer`` equals ``gold``.

        Raises:
            UnreadError: a part has no value that could be compared.
        """
        if gold == answer:
            return True
        for compare in self.steps:
            verdict = compare(self, gold, answer)
            if verdict is not None:
                return verdict
        return False

    def tried(self, comparison: Callable[[], bool | None]) -> bool | None:
        """The outcome of ``comparison``; rules that it used count only where it succeeds."""
        mark = len(self.used)
        verdict = comparison()
        if not verdict:
            del self.used[mark:]
        return verdict

    def needs(self, rule: Rule, comparison: Callable[[], bool | None]) -> bool | None:
        """The outcome of ``comparison`` where ``rule`` is on; False where it is off."""
        if not self.policy.allows(rule):
            return False
        verdict = self.tried(comparison)
        if verdict:
            self.used.append(rule)
        return verdict

    def in_order(self, golds: Sequence[Node], answers: Sequence[Node]) -> bool:
        """Whether there are as many answers and each equals the gold in its place."""
        return len(golds) == len(answers) and all(map(self.same, golds, answers))

    def matched(self, golds: Sequence[Node], answers: Sequence[Node]) -> bool:
        """Whether each gold has an answer of its own, in any order."""
        if len(golds) != len(answers) or len(golds) > MOST_PARTS:
            return False
        if self.tried(lambda: self.in_order(golds, answers)):
            return True
        equal = [[bool(self.tried(lambda g=g, a=a: self.same(g, a))) for a in answers] for g in golds]
        if not self.policy.allows(Rule.ORDER) or not perfect_matching(equal):
            return False
        self.used.append(Rule.ORDER)
        return True


Step = Callable[[Comparison, Node, Node], bool | None]
"""Decides on two nodes; None leaves them to the next step."""


def perfect_matching(equal: list[list[bool]]) -> bool:
    """Whether every row can have a column of its own that holds True (augmenting paths)."""
    owner: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column, possible in enumerate(equal[row]):
            if possible and column not in seen:
                seen.add(column)
                if column not in owner or place(owner[column], seen):
                    owner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(equal)))
