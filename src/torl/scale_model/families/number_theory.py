"""Families where code helps: powers modulo a number, greatest common divisors, counts of divisors."""

from math import gcd
from random import Random

from torl.scale_model.families.base import Family, Level, Phrasing, Values, spoil


class ModularPower(Family):
    """The remainder of a power: by 10, or by a larger number with a larger exponent."""

    name = "modular_power"
    code_helps = True
    phrasings = (
        Phrasing("What is the remainder when {a}^{k} is divided by {m}?", 0.56),
        Phrasing("Find {a}^{k} mod {m}.", 0.20),
        Phrasing("Compute the remainder of {a}^{k} modulo {m}.", 0.64),
    )

    def draw(self, random: Random, level: Level) -> Values:
        if level is Level.EASY:
            return random.randint(12, 199), random.randint(2, 3), 10
        return random.randint(11, 99), random.randint(4, 29), random.randint(11, 99)

    def answer(self, values: Values) -> int:
        return pow(*values)

    def fields(self, values: Values) -> dict[str, int | str]:
        return dict(zip(("a", "k", "m"), values, strict=True))

    def worked(self, values: Values) -> str | None:
        a, k, m = values
        if m != 10:
            return None
        digit, steps = a % 10, []
        power = digit
        for _ in range(k - 1):
            steps.append(f"{power}*{digit}={power * digit}")
            power = power * digit % 10
        return ", ".join([*steps, f"last digit {power}"])

    def right_code(self, values: Values) -> tuple[str, ...]:
        a, k, m = values
        return f"print(pow({a},{k},{m}))", f"print({a}**{k}%{m})"

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        a, k, m = values
        return (f"print({a}*{k}%{m})",)

    def guesses(self, values: Values) -> tuple[int, ...]:
        return tuple((self.answer(values) + shift) % values[2] for shift in (1, 2, 3, 5, 7))


class GreatestCommonDivisor(Family):
    """Two multiples of a small number, or two large numbers; the larger one first."""

    name = "gcd"
    code_helps = True
    phrasings = (
        Phrasing("What is the greatest common divisor of {a} and {b}?", 0.20),
        Phrasing("Compute gcd({a}, {b}).", 0.64),
        Phrasing("Find the largest number that divides both {a} and {b}.", 0.30),
    )

    def draw(self, random: Random, level: Level) -> Values:
        small = level is Level.EASY
        divisor = random.randint(2, 12) if small else random.randint(4, 24)
        while True:
            p, q = (random.randint(1, 9) if small else random.randint(28, 41) for _ in range(2))
            if p > q and gcd(p, q) == 1:
                return divisor * p, divisor * q

    def answer(self, values: Values) -> int:
        return gcd(*values)

    def fields(self, values: Values) -> dict[str, int | str]:
        return {"a": values[0], "b": values[1]}

    def worked(self, values: Values) -> str | None:
        large, small = values
        if large > 108:
            return None
        steps = []
        while small:
            steps.append(f"{large} mod {small}={large % small}")
            large, small = small, large % small
        return ", ".join(steps)

    def right_code(self, values: Values) -> tuple[str, ...]:
        return (f"from math import gcd\nprint(gcd({values[0]},{values[1]}))",)

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        return (f"print({values[0]}//{values[1]})",)

    def raising_code(self, values: Values) -> tuple[str, ...]:
        return f"print(gcd({values[0]},{values[1]}))", *spoil(self.right_code(values)[0])

    def guesses(self, values: Values) -> tuple[int, ...]:
        return tuple(guess for guess in (1, 2, 3, 4, 6, 12) if guess != self.answer(values))


PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)


class DivisorCount(Family):
    """How many divisors a number has: given as two prime powers, or in full."""

    name = "divisor_count"
    code_helps = True
    phrasings = (
        Phrasing("How many divisors does {n} have?", 0.30),
        Phrasing("Count the divisors of {n}.", 0.60),
        Phrasing("Find the number of divisors of {n}.", 0.18),
    )

    def draw(self, random: Random, level: Level) -> Values:
        if level is Level.HARD:
            return (random.randint(100, 2999),)
        while True:
            p, q = random.sample(PRIMES, 2)
            i, j = random.randint(1, 6), random.randint(1, 6)
            if p**i * q**j < 20_000:
                return p, i, q, j

    def number(self, values: Values) -> int:
        """The number whose divisors are counted."""
        return values[0] if len(values) == 1 else values[0] ** values[1] * values[2] ** values[3]

    def canonical(self, values: Values) -> Values:
        return (self.number(values),)

    def answer(self, values: Values) -> int:
        number = self.number(values)
        return sum(1 for d in range(1, number + 1) if number % d == 0)

    def fields(self, values: Values) -> dict[str, int | str]:
        return {"n": values[0] if len(values) == 1 else "{}^{} * {}^{}".format(*values)}

    def worked(self, values: Values) -> str | None:
        if len(values) == 1:
            return None
        _, i, _, j = values
        return f"({i}+1)*({j}+1)={i + 1}*{j + 1}={(i + 1) * (j + 1)}"

    def expression(self, values: Values) -> str:
        """The number as Python writes it."""
        return str(values[0]) if len(values) == 1 else "{}**{}*{}**{}".format(*values)

    def right_code(self, values: Values) -> tuple[str, ...]:
        return (f"n={self.expression(values)}\nprint(sum(n%d==0 for d in range(1,n+1)))",)

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        return (f"n={self.expression(values)}\nprint(sum(n%d==0 for d in range(1,n)))",)

    def raising_code(self, values: Values) -> tuple[str, ...]:
        zero = f"n={self.expression(values)}\nprint(sum(n%d==0 for d in range(n+1)))"
        return zero, *spoil(self.right_code(values)[0])
