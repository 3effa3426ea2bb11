"""Small random programs with the formatting that no formatter would leave."""

import random

NAMES = ("a", "b", "c", "_hip", "naïve")
ATOMS = (*NAMES, "1", "'s'", '"""two\n  lines"""', "None", "f'{a}'", "x.y", "f()")


class Generator:
    """Writes a program; every choice comes from `rng`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.depth = 0

    def program(self) -> str:
        """A module."""
        return "".join(self.statement("") for _ in range(self.rng.randint(1, 5)))

    # Expressions

    def gap(self, inside: bool) -> str:
        """White space between tokens; may break the line inside brackets."""
        choice = self.rng.random()
        if inside and choice < 0.15:
            return self.rng.choice(["\n        ", "  # c\n      ", "\n  # own\n  "])
        return "  " if choice < 0.25 else " "

    def expression(self, inside: bool = False) -> str:
        """Any expression, valid in an argument."""
        self.depth += 1
        try:
            if self.depth > 4:
                return self.rng.choice(ATOMS)
            kind = self.rng.choice(
                ["atom", "atom", "bool", "bool", "ternary", "not", "display", "call", "compare", "union"]
            )
            text: str = getattr(self, f"_{kind}")(inside)
            return text
        finally:
            self.depth -= 1

    def _atom(self, inside: bool) -> str:
        return self.rng.choice(ATOMS)

    def group(self, inside: bool) -> str:
        """An operand: an atom or something in parentheses."""
        if self.depth > 3 or self.rng.random() < 0.5:
            return self.rng.choice(ATOMS)
        left, right = self.rng.choice([("(", ")"), ("(", ")"), ("( ", " )"), ("(\n     ", "\n )"), ("(  # p\n  ", ")")])
        return left + self.expression(True) + right

    def _bool(self, inside: bool) -> str:
        word = self.rng.choice(["and", "or"])
        parts = [self.group(inside) for _ in range(self.rng.randint(2, 4))]
        out = parts[0]
        for part in parts[1:]:
            out += f"{self.gap(inside)}{word}{self.gap(inside)}{part}"
        return out

    def _union(self, inside: bool) -> str:
        return f"{self.gap(inside)}|{self.gap(inside)}".join(self.group(inside) for _ in range(self.rng.randint(2, 3)))

    def _ternary(self, inside: bool) -> str:
        a, b, c = (self.group(inside) for _ in range(3))
        return f"{a}{self.gap(inside)}if{self.gap(inside)}{b}{self.gap(inside)}else{self.gap(inside)}{c}"

    def _not(self, inside: bool) -> str:
        operand = self.group(inside)
        return f"not{operand}" if operand.startswith("(") else f"not {operand}"

    def _compare(self, inside: bool) -> str:
        return f"{self.group(inside)}{self.gap(inside)}{self.rng.choice(['==', 'is', 'in'])} {self.group(inside)}"

    def listing(self, parts: list[str], end: str = "") -> str:
        """Elements with commas, breaks and comments."""
        out = self.rng.choice(["", "", "\n    ", " # o\n  ", "\n    # first\n    "])
        for index, part in enumerate(parts):
            out += part
            if index + 1 < len(parts) or (self.rng.random() < 0.5 and not end):
                out += self.rng.choice([", ", ",", " , ", ",\n    ", ",  # of it\n    ", ",\n    # above\n    "])
        return out + end

    def _display(self, inside: bool) -> str:
        parts = [self.expression(True) for _ in range(self.rng.randint(2, 4))]
        kind = self.rng.randrange(5)
        if kind == 0:
            return f"[{self.listing(parts)}]"
        if kind == 1:
            return f"({self.listing(parts)})"
        if kind == 2:
            return f"{{{self.listing([*parts, '*a'])}}}"
        if kind == 3:
            return f"{{{self.listing([f'{self.group(True)}: {p}' for p in parts] + ['**a'])}}}"
        return f"[{self.group(True)} for a in {self.group(True)} if {self.group(True)} if {self.group(True)}]"

    def _call(self, inside: bool) -> str:
        parts = [self.expression(True), "*" + self.group(True), f"k={self.expression(True)}", "**b"]
        return f"f({self.listing(parts[: self.rng.randint(0, 4)])})"

    # Statements

    def note(self) -> str:
        """A comment at the end of a line, or none."""
        return self.rng.choice(["", "", "", "  # note", "   "])

    def above(self, indent: str) -> str:
        """Lines above a statement."""
        choices = [
            "",
            "",
            "",
            "\n",
            "\n\n",
            f"{indent}# above\n",
            f"\n{indent}# section\n\n{indent}# above\n",
            "# left\n",
        ]
        return self.rng.choice(choices)

    def simple(self) -> str:
        """One small statement."""
        return self.rng.choice(
            [
                lambda: f"a = {self.expression()}",
                lambda: f"return {self.expression()}",
                lambda: f"{self.rng.choice(NAMES)}",
                lambda: "pass",
                lambda: f"b: {self.rng.choice(['A | B | None', 'Union[A, B]', 'int'])} = {self.expression()}",
                lambda: f"import a{self.gap(False)}, b as c, d.e",
                lambda: f"from .x import ({self.listing(['a', 'b as c', 'd'])})",
                lambda: "from x import a, b",
                lambda: f"assert {self.expression()}, {self.expression()}",
            ]
        )()

    def statement(self, indent: str) -> str:
        """A statement with the lines above it."""
        self.depth += 1
        try:
            compound = self.depth <= 3 and self.rng.random() < 0.6
            return self.above(indent) + (self.compound(indent) if compound else self.line(indent))
        finally:
            self.depth -= 1

    def line(self, indent: str) -> str:
        """A line of small statements."""
        parts = [self.simple() for _ in range(self.rng.choice([1, 1, 1, 1, 2, 3]))]
        return indent + "; ".join(parts) + self.rng.choice(["", "", "", ";"]) + self.note() + "\n"

    def block(self, indent: str) -> str:
        """What follows a colon."""
        if self.rng.random() < 0.15:
            return " " + "; ".join(self.simple() for _ in range(self.rng.randint(1, 2))) + self.note() + "\n"
        inner = indent + self.rng.choice(["    ", "    ", "  ", "\t"])
        footer = self.rng.choice(["", "", "", f"{inner}# foot\n", f"\n{inner}# foot\n"])
        return self.note() + "\n" + "".join(self.statement(inner) for _ in range(self.rng.randint(1, 3))) + footer

    def compound(self, indent: str) -> str:
        """A compound statement."""
        kind = self.rng.choice(["if", "if", "if", "try", "while", "for", "def", "class", "with", "match"])
        block = self.block
        if kind == "if":
            out = f"{indent}if {self.expression()}:{block(indent)}"
            for _ in range(self.rng.choice([0, 0, 1, 2])):
                out += f"{self.above(indent)}{indent}elif {self.expression()}:{block(indent)}"
            if self.rng.random() < 0.5:
                out += f"{self.above(indent)}{indent}else:{block(indent)}"
            return out
        if kind == "try":
            out = f"{indent}try:{block(indent)}{indent}except (A, B) as e:{block(indent)}"
            out += f"{indent}except C:{block(indent)}" if self.rng.random() < 0.5 else ""
            out += f"{indent}else:{block(indent)}" if self.rng.random() < 0.3 else ""
            return out + (f"{indent}finally:{block(indent)}" if self.rng.random() < 0.3 else "")
        if kind == "while":
            return f"{indent}while {self.expression()}:{block(indent)}"
        if kind == "for":
            out = f"{indent}for a in {self.expression()}:{block(indent)}"
            return out + (f"{indent}else:{block(indent)}" if self.rng.random() < 0.3 else "")
        if kind == "with":
            return f"{indent}with {self.group(False)} as b:{block(indent)}"
        if kind == "match":
            inner = indent + "    "
            return f"{indent}match {self.group(False)}:\n{inner}case 1:{block(inner)}{inner}case _:{block(inner)}"
        decorators = "".join(
            f"{indent}@{self.rng.choice(['a', 'b.c', 'd(1)'])}\n" for _ in range(self.rng.randint(0, 2))
        )
        if kind == "def":
            arguments = self.listing(
                ["x: int", "y: A = " + self.expression(True), "*z: B", "w=1"][: self.rng.randint(1, 4)]
            )
            returns = self.rng.choice(["", " -> A", " -> (A)"])
            return f"{decorators}{indent}def f({arguments}){returns}:{block(indent)}"
        bases = self.rng.choice(["", f"({self.listing(['A', 'B'])})", f"({self.listing(['A', 'metaclass=M'])})"])
        return f"{decorators}{indent}class A{bases}:{block(indent)}"
