"""Each rule accepts what it is for, only while it is on, and none of the near misses beside it."""

import pytest

from torl.errors import ConfigError
from torl.grading.equality import equal, quick
from torl.grading.rules import Policy, Rule

Pairs = list[tuple[str, str]]

ACCEPTED: dict[Rule, Pairs] = {
    Rule.ROUNDED_GOLD: [("12.55", r"\frac{640}{51}"), ("3.14", r"\pi"), ("180.67", "180.6667"), ("-0.67", "-2/3")],
    Rule.CUT_OFF_GOLD: [("41.494", r"17+10\sqrt{6}"), ("0.666", r"\frac{2}{3}"), ("-0.666", "-2/3")],
    Rule.ROUNDED_ANSWER: [(r"\frac{1}{12}", "0.083333"), (r"\sqrt{2}", "1.414214"), (r"\frac{1}{3}", "0.333333...")],
    Rule.PERCENT: [("10", r"10\%"), (r"62.5\%", r"\frac{5}{8}"), ("0.28", "28 percent"), ("28 pct", "28")],
    Rule.UNITS: [
        ("204", r"204 \text{ minutes}"),
        (r"15\mbox{ cm}^2", "15"),
        ("7", "7 stuffed goats"),
        ("15th Day", "15"),
    ],
    Rule.DEGREES: [(r"\frac{\pi}{6}", r"30^\circ"), (r"\frac{\pi}{2}", "90°"), ("60°30'", r"\frac{121\pi}{360}")],
    Rule.DECIMAL_COMMA: [("1000.99", "1000,99"), ("0,111", "0.111")],
    Rule.NAMED: [
        ("k=3", "3"),
        ("f(x)=2x", "2x"),
        ("(x, y) = (1, 2)", "(1, 2)"),
        ("a=1, b=2", "(1, 2)"),
        (r"\frac{NO}{BO}=\frac{1}{3}", r"\frac{1}{3}"),
        ("x_1=-2, x_2=3", "3, -2"),
    ],
    Rule.DOMAIN: [
        (r"x = k\pi, k \in \mathbb{Z}", r"x = k\pi"),
        ("f(x)=x", r"f(x) = x \text{ for all } x \in \mathbb{R}"),
    ],
    Rule.LAST_OF_CHAIN: [
        ("x=y=z=2", "2"),
        (r"\frac{6^6-5^6}{6^5} \approx 3.99", r"\frac{31031}{7776}"),
        ("11", r"x\approx11"),
    ],
    Rule.SOLVED: [("y + 1 = -(2x-1)^2", "-4x^2+4x-2"), ("2a - 10 = 0", "5")],
    Rule.RENAMED: [("f(n)=2n+1", "f(m)=2m+1"), (r"x = k\pi", r"n\pi"), ("2Cx^2+C", "2cx^2+c")],
    Rule.EQUATIONS: [("x-2y+z-1=0", "2x-4y+2z=2"), ("x+y<1", "-x-y>-1")],
    Rule.ORDER: [("1, 2, 3", r"\{3, 2, 1\}"), ("(1,2),(3,4)", "(3,4), (1,2)"), ("8 or 9", "9, 8")],
    Rule.ORDERING: [("a < b < c", "a, b, c"), ("c > b > a", "c, b, a")],
    Rule.BRACKETS: [("(3, 2)", "3, 2"), ("5, 1", "(5, 1)")],
    Rule.VECTOR: [
        (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", "(1, 2)"),
        ("(1,2,3)", "[1,2,3]"),
        (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    ],
    Rule.INTERVAL: [
        (r"\{x|-1 < x < 1\}", "(-1, 1)"),
        (r"a \leq -2 \text{ or } a = 1", r"(-\infty, -2] \cup \{1\}"),
        ("0<f(x)<1", "(0,1)"),
        ("x > 5", r"(5, \infty)"),
        (r"x \neq 2", r"(-\infty,2) \cup (2,\infty)"),
    ],
    Rule.PLUS_MINUS: [
        (r"1 \pm \sqrt{19}", r"1 + \sqrt{19}, 1 - \sqrt{19}"),
        (r"0, \pm 1", r"\{-1, 0, 1\}"),
        (r"(\pm 1, \pm 2)", "(1,2),(1,-2),(-1,2),(-1,-2)"),
    ],
    Rule.RATIO: [("5:8", r"\frac{5}{8}"), ("1 : (4/3)", r"\frac{3}{4}"), ("1:2:3", "2:4:6")],
    Rule.CIRCLED: [("②③", "2, 3"), ("(1)(3)", "①③")],
    Rule.COMMON_DOMAIN: [(r"\ln(xy)", r"\ln x + \ln y"), (r"\ln(x^2)", r"2\ln x")],
    Rule.SENTENCE: [
        ("9", r"Answer $ 9 $"),
        ("8", "The final answer is 8. I hope it is correct."),
        ("B", "The answer is surely (B)"),
        ("-3", "Adding them, the total comes to -3"),
    ],
}

NEAR_MISSES: dict[Rule, Pairs] = {
    Rule.ROUNDED_GOLD: [
        ("12.55", "12.56"),
        ("12.56", r"\frac{640}{51}"),
        ("0.3", r"\frac{1}{3}"),
        ("0.46", "0.5"),
        ("3.14", r"-\pi"),
        ("0.67", "0.6"),
        ("0.30", "0.305"),
    ],
    Rule.CUT_OFF_GOLD: [
        ("41.493", r"17+10\sqrt{6}"),
        ("0.66", r"\frac{2}{3}"),
        ("0.665", r"\frac{2}{3}"),
        ("-0.667", "-0.6"),
    ],
    Rule.ROUNDED_ANSWER: [(r"\frac{1}{3}", "0.333"), (r"\frac{1}{3}", "0.333334"), ("5", "5.000001"), (r"\pi", "3.14")],
    Rule.PERCENT: [
        ("10", r"11\%"),
        (r"62.5\%", "6.25"),
        (r"5\%", r"0.5\%"),
        (r"12\%", "1.2"),
        ("0.1", r"1\%"),
        (r"60\%", "60 degrees"),
        (r"16\%", "16:1"),
    ],
    Rule.UNITS: [
        (r"5 \text{ cm}", r"5 \text{ m}"),
        (r"3 \text{ apples}", r"3 \text{ pears}"),
        ("6m", "6"),
        ("5", r"5 \text{ more}"),
        ("3", r"3 \text{ million}"),
        (r"5 \text{ cm}", r"5 \text{ cm}^2"),
        (r"204 \text{ minutes}", "205"),
        (r"\$20", "20 minutes"),
        (r"2\text{ km/h}", r"2\text{ km}"),
        ("8", r"8\pi"),
    ],
    Rule.DEGREES: [
        (r"\frac{\pi}{6}", r"60^\circ"),
        (r"\frac{\pi}{6}", "30"),
        (r"30^\circ", r"30\pi"),
        ("60°", "60°30'"),
    ],
    Rule.DECIMAL_COMMA: [
        ("1000.99", "1000,98"),
        ("13", "1,3"),
        ("1,3", "1,4"),
        ("1.5, 2", "1,5, 2"),
        ("1.234", "1,234"),
    ],
    Rule.NAMED: [
        ("x=3", "y=3"),
        ("x=3", "-3"),
        ("a+b=3", "3"),
        ("3", "a=2, b=3"),
        ("a=1, b=2", "(2, 1)"),
        ("a=2, b=3", "3, 2"),
        ("xy=6", "6"),
        ("BD=CD", "CD"),
        ("f(x)=2x", "g(x)=2x"),
    ],
    Rule.DOMAIN: [
        (r"x = k\pi, k \in \mathbb{Z}", r"x = 2k\pi"),
        (r"k\pi, k \in \mathbb{Z}", r"k\pi, k \in \mathbb{N}"),
        (r"x \in [0,1]", "x"),
    ],
    Rule.LAST_OF_CHAIN: [
        ("x=y=z=2", "3"),
        ("a=1=2", "1"),
        (r"\frac{1}{3} \approx 0.3", "0.3"),
        ("x = 2", "x = 3 = 2 + 1"),
        ("a=b=2", "x=y=2"),
    ],
    Rule.SOLVED: [
        ("y + 1 = -(2x-1)^2", "-4x^2+4x"),
        ("a^2 = 4", "2"),
        ("a + 3z = 0", "0"),
        ("2a - 10 = 0", "-5"),
        ("y^2 = x", r"\sqrt{x}"),
        ("(x+1)^2 = x^2+2x+1", r"4\sqrt{2}"),
    ],
    Rule.RENAMED: [
        ("f(n)=2n+1", "f(m)=2m+2"),
        ("x+1", "y+1"),
        (r"k\pi", r"2n\pi"),
        ("a+2", "b+2"),
        ("f(n)=n+m", "f(m)=m+m"),
        (r"\pi r", r"\pi k"),
    ],
    Rule.EQUATIONS: [
        ("x+y=1", "x+y=2"),
        ("x+y=1", "x-y=1"),
        ("x+y<1", "x+y>1"),
        ("x+y<1", "-x-y<-1"),
        ("x^2+y=1", "x+y=1"),
        ("y=11.47+2.62x", "y=2^{2010}x"),
        ("8=3+5", "8=2+6"),
        (r"x+y \le 1", "x+y<1"),
    ],
    Rule.ORDER: [
        ("1, 2, 3", "1, 2, 4"),
        ("1, 2, 2", "1, 1, 2"),
        ("1, 2, 3", "1, 2"),
        ("(1, 2)", "(2, 1)"),
        ("(1,2),(3,4)", "(2,1),(3,4)"),
        (r"\{1,2\}", r"\{1,2,3\}"),
        ("1,3", "13"),
        ("1, -2", "-1, 2"),
    ],
    Rule.ORDERING: [
        ("a < b < c", "b, a, c"),
        ("a < b < c", "c, b, a"),
        ("a < b < c", "a, b"),
        ("a < b < c", "a < c < b"),
        ("a < b < c", "a > b > c"),
    ],
    Rule.BRACKETS: [
        ("(3, 2)", "2, 3"),
        ("(3, 2)", r"\{3, 2\}"),
        ("[3, 4]", "3, 4"),
        ("(2, 4)", "2, 4"),
        ("(3, 2, 1)", "3, 2"),
    ],
    Rule.VECTOR: [
        (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", "(2, 1)"),
        ("(1,2)", "[1,2]"),
        ("(0,1)", "[0,1)"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix}"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "(1,2,3,4)"),
    ],
    Rule.INTERVAL: [
        (r"\{x|x \geq 1\}", r"(1, \infty)"),
        (r"\{x|x \geq 1\}", "1"),
        ("x > 5", "x < 5"),
        ("x > 5", "5"),
        (r"-4 < m \leq 0", "(-4, 4]"),
        ("x < 1", "y < 1"),
        ("a = 2 or a = -2", "m = -2 or m = 2"),
        ("(0,1)", "(0,1]"),
        ("(1, 2)", r"(1,2) \cup (3,4)"),
        ("x < 0", r"(0, -\infty)"),
        (r"x \neq 2", r"(2, \infty)"),
    ],
    Rule.PLUS_MINUS: [
        (r"1 \pm \sqrt{19}", r"1 + \sqrt{19}"),
        (r"3 \pm 2", "5, 2"),
        (r"0, \pm 1", r"\{0, 1\}"),
        (r"\pm 2", "2"),
        (r"(\pm 1, 2)", "(1, 2), (1, -2)"),
    ],
    Rule.RATIO: [("5:8", "8:5"), ("5:8", "5"), ("1:2:3", "1:3:2"), ("1:2:3", "2:4"), ("1:2", "2")],
    Rule.CIRCLED: [("②③", "2"), ("②③", "2, 4"), ("②③", "23"), ("①", "2"), ("(2)", "(1)(2)")],
    Rule.COMMON_DOMAIN: [(r"\sqrt{x^2}", "x"), (r"\arcsin a", r"\arccos a"), ("|x|", "x"), (r"\ln(x^2)", r"\ln x")],
    Rule.SENTENCE: [
        ("5", "The number is less than 5"),
        ("5", "at least 5 people"),
        ("5", "It is not 5"),
        ("3", "5 apples and 3 oranges"),
        ("3", "The values are $2$ or $5$"),
        ("A", "The answer is B, not A"),
        ("2019", "any natural number from 2010 to 2019"),
        ("6", "moving 6m west"),
        (r"13 \text{ cm}", "Three weighings are sufficient to find the one among 13 coins."),
        ("-1", "the line x = -1"),
    ],
}
ROUNDING = (Rule.ROUNDED_GOLD, Rule.CUT_OFF_GOLD, Rule.ROUNDED_ANSWER)  # the only ones that tell gold from answer
CASES = [(rule, *pair) for rule, pairs in ACCEPTED.items() for pair in pairs]
MISSES = [(rule, *pair) for rule, pairs in NEAR_MISSES.items() for pair in pairs]


def test_every_rule_has_pairs_and_near_misses() -> None:
    assert set(ACCEPTED) == set(NEAR_MISSES) == set(Rule)
    assert all(len(pairs) >= 3 for pairs in NEAR_MISSES.values())


@pytest.mark.parametrize(("rule", "gold", "answer"), CASES)
def test_the_rule_accepts_what_it_is_for_and_says_so(rule: Rule, gold: str, answer: str) -> None:
    verdict = quick(gold, answer)
    assert verdict is not None
    assert verdict.correct
    assert rule in verdict.rule.split("+")


@pytest.mark.parametrize(("rule", "gold", "answer"), CASES)
def test_without_the_rule_the_pair_is_not_accepted(rule: Rule, gold: str, answer: str) -> None:
    verdict = quick(gold, answer, policy=Policy(without=frozenset({rule})))
    assert verdict is None or not verdict.correct


@pytest.mark.parametrize(("rule", "gold", "answer"), MISSES)
def test_near_misses_are_rejected(rule: Rule, gold: str, answer: str) -> None:
    assert not equal(gold, answer).correct


@pytest.mark.parametrize(("gold", "answer"), [pair for rule, *pair in MISSES if rule not in ROUNDING])
def test_near_misses_are_rejected_the_other_way_round(gold: str, answer: str) -> None:
    assert not equal(answer, gold).correct


def test_an_unknown_rule_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'units_2' is not known.*units"):
        Policy.from_names(["units_2"])
    assert not Policy.from_names(["units"]).allows(Rule.UNITS)
