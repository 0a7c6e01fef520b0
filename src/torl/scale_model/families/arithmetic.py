"""Families where code helps: sums, products, sums over a range, linear equations."""

from random import Random

from torl.scale_model.families.base import Family, Level, Phrasing, Values


class Addition(Family):
    """Two numbers of two digits, or three of three."""

    name = "addition"
    code_helps = True
    phrasings = (
        Phrasing("What is {sum}?", 0.20),
        Phrasing("Compute {sum}.", 0.60),
        Phrasing("Find the sum {sum}.", 0.56),
        Phrasing("Add up: {sum}.", 0.20),
    )

    def draw(self, random: Random, level: Level) -> Values:
        if level is Level.EASY:
            return random.randint(11, 99), random.randint(11, 99)
        return tuple(random.randint(100, 999) for _ in range(3))

    def canonical(self, values: Values) -> Values:
        return tuple(sorted(values))

    def answer(self, values: Values) -> int:
        return sum(values)

    def fields(self, values: Values) -> dict[str, int | str]:
        return {"sum": " + ".join(map(str, values))}

    def worked(self, values: Values) -> str | None:
        if len(values) > 2:
            return None
        (tens_a, units_a), (tens_b, units_b) = (divmod(value, 10) for value in values)
        carry = (units_a + units_b) // 10
        return f"{units_a}+{units_b}={units_a + units_b}, {tens_a}+{tens_b}+{carry}={tens_a + tens_b + carry}"

    def right_code(self, values: Values) -> tuple[str, ...]:
        return f"print({'+'.join(map(str, values))})", f"print(sum([{','.join(map(str, values))}]))"

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        return (f"print({'-'.join(map(str, values))})",)


class Multiplication(Family):
    """A number of two digits times one digit, or two numbers of two digits."""

    name = "multiplication"
    code_helps = True
    phrasings = (
        Phrasing("What is {a} * {b}?", 0.22),
        Phrasing("Compute {a} * {b}.", 0.64),
        Phrasing("Find the product of {a} and {b}.", 0.58),
        Phrasing("Multiply {a} by {b}.", 0.20),
    )

    def draw(self, random: Random, level: Level) -> Values:
        if level is Level.EASY:
            return random.randint(12, 99), random.randint(2, 9)
        return random.randint(12, 99), random.randint(12, 99)

    def canonical(self, values: Values) -> Values:
        return tuple(sorted(values))

    def answer(self, values: Values) -> int:
        return values[0] * values[1]

    def fields(self, values: Values) -> dict[str, int | str]:
        return {"a": values[0], "b": values[1]}

    def worked(self, values: Values) -> str | None:
        a, b = values
        if b > 9:
            return None
        tens, units = divmod(a, 10)
        carry = units * b // 10
        return f"{units}*{b}={units * b}, {tens}*{b}={tens * b}, {tens * b}+{carry}={tens * b + carry}"

    def right_code(self, values: Values) -> tuple[str, ...]:
        a, b = values
        return f"print({a}*{b})", f"a={a}\nb={b}\nprint(a*b)"

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        return (f"print({values[0]}+{values[1]})",)


class RangeSum(Family):
    """The sum of the multiples of a number within a range: two or three of them, or many."""

    name = "range_sum"
    code_helps = True
    phrasings = (
        Phrasing("What is the sum of the multiples of {d} from {low} to {high}?", 0.45),
        Phrasing("Add the multiples of {d} from {low} to {high}.", 0.18),
        Phrasing("Compute the sum of all multiples of {d} between {low} and {high}.", 0.60),
    )

    def draw(self, random: Random, level: Level) -> Values:
        if level is Level.HARD:
            return random.randint(2, 9), random.randint(11, 99), random.randint(200, 999)
        d, first, terms = random.randint(2, 6), random.randint(1, 4), random.randint(2, 3)
        low, high = d * first - random.randint(0, d - 1), d * (first + terms - 1) + random.randint(0, d - 1)
        return d, max(low, 2), high

    def answer(self, values: Values) -> int:
        return sum(self.terms(values))

    def terms(self, values: Values) -> list[int]:
        """The multiples within the range, ascending."""
        d, low, high = values
        return [number for number in range(low, high + 1) if number % d == 0]

    def fields(self, values: Values) -> dict[str, int | str]:
        return dict(zip(("d", "low", "high"), values, strict=True))

    def worked(self, values: Values) -> str | None:
        terms = self.terms(values)
        if len(terms) > 3:
            return None
        steps, total = [", ".join(map(str, terms))], terms[0]
        for term in terms[1:]:
            steps.append(f"{total}+{term}={total + term}")
            total += term
        return ", ".join(steps)

    def right_code(self, values: Values) -> tuple[str, ...]:
        d, low, high = values
        return (
            f"print(sum(n for n in range({low},{high}+1) if n%{d}==0))",
            f"s=0\nfor n in range({low},{high}+1):\n  if n%{d}==0:\n    s+=n\nprint(s)",
        )

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        d, low, high = values
        return (f"print(sum(n for n in range({low},{high}+1) if n%{d}==1))",)


class LinearEquation(Family):
    """An equation in x: with coefficient 1 and two digits, or with a coefficient and three digits."""

    name = "linear_equation"
    code_helps = True
    phrasings = (
        Phrasing("Solve {equation} for x.", 0.58),
        Phrasing("Find x if {equation}.", 0.20),
        Phrasing("Which x satisfies {equation}?", 0.20),
        Phrasing("If {equation}, compute x.", 0.60),
    )

    def draw(self, random: Random, level: Level) -> Values:
        if level is Level.EASY:
            x = random.randint(11, 88)
            a = random.randint(11, 99 - x)
            return 1, a, a + x
        m, a, x = random.randint(2, 9), random.randint(11, 99), random.randint(21, 99)
        return m, a, m * x + a

    def answer(self, values: Values) -> int:
        m, a, b = values
        return (b - a) // m

    def fields(self, values: Values) -> dict[str, int | str]:
        m, a, b = values
        return {"equation": f"{'' if m == 1 else m}x + {a} = {b}"}

    def worked(self, values: Values) -> str | None:
        m, a, b = values
        if m > 1:
            return None
        borrow = int(b % 10 < a % 10)
        units, tens = b % 10 + 10 * borrow, b // 10
        return f"{units}-{a % 10}={units - a % 10}, {tens}-{a // 10}-{borrow}={tens - a // 10 - borrow}"

    def right_code(self, values: Values) -> tuple[str, ...]:
        m, a, b = values
        return (f"print({b}-{a})",) if m == 1 else (f"print(({b}-{a})//{m})",)

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        m, a, b = values
        return (f"print({b}+{a})",) if m == 1 else (f"print(({b}+{a})//{m})",)
