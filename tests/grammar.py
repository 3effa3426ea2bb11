"""Random programs of a grammar: a text in which each alternative reads as the code that it makes.

`== NAME WORD...` begins alternatives of a name: a line each, or a paragraph each below an empty
line. Of its words a number is what these weigh together (one each, otherwise), `deep=NUMBER` how
often they may stand within each other, and any other one a place in which alone they stand.

`<NAME>` is replaced by one of that name, `<NAME +PLACE>` by one of that place as well, `<NAME
=PLACE>` by one of that place and no other, and `<KEY:NAME>` by one that `<KEY>` repeats from there
on. `<n>` is a number, and `<nothing>` leaves no line behind; `⇤` does, at the margin. `␤` breaks a
line whatever the indentation around it, `␠` and `␉` are blanks where they would not be seen.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

_BLANKS = str.maketrans("␠␉", " \t")
_HOLE = re.compile(r"<(?:(\w+):)?([\w-]+)(?: ([+=])([\w-]*))?>")


@dataclass(frozen=True, slots=True)
class _Alternatives:
    weight: float
    deep: int
    places: frozenset[str]
    texts: tuple[str, ...]


class Grammar:
    """The alternatives of a file."""

    def __init__(self, path: Path) -> None:
        self._of: dict[str, list[_Alternatives]] = {}
        for section in path.read_text("utf-8").split("\n== ")[1:]:
            head, _, text = section.partition("\n")
            texts = (
                text.strip("\n").translate(_BLANKS).split("\n\n" if text.startswith("\n") else "\n")
            )
            name, *words = head.split()
            weight = sum(int(word) for word in words if word.isdigit()) or len(texts)
            deep = sum(
                int(word.removeprefix("deep=")) for word in words if word.startswith("deep=")
            )
            places = frozenset(word for word in words if word.isalpha())
            self._of.setdefault(name, []).append(_Alternatives(weight, deep, places, tuple(texts)))

    def text(self, random: Random, name: str, /, *places: str, less: int = 0, **values: str) -> str:
        """A random text.

        Args:
            random: where choices come from.
            name: of its alternatives.
            places: where it stands.
            less: by how much fewer of those of this name may stand within each other than
                elsewhere.
            values: what other names stand for.
        """
        made = self._made(random, name, frozenset(places), {name: less}, {"nothing": "", **values})
        return re.sub(r"(?m)(^[ \t]*)?⇤", "", f"{made}\n").replace("␤", "\n")

    def _made(
        self,
        random: Random,
        name: str,
        places: frozenset[str],
        depth: Mapping[str, int],
        values: dict[str, str],
    ) -> str:
        if name in values:
            return values[name]
        if name == "n":
            return str(random.randint(2, 99))
        deep = depth.get(name, 0)
        fit = [
            some
            for some in self._of[name]
            if some.places <= places and (not some.deep or some.deep > deep)
        ]
        [some] = random.choices(fit, [some.weight for some in fit])
        if some.deep:
            depth = {**depth, name: deep + 1}
        values, lines = dict(values), []
        for row in random.choice(some.texts).split("\n"):
            line, at = "", 0
            for hole in _HOLE.finditer(row):
                key, inner, change, place = hole.groups()
                inside = (
                    places
                    if change is None
                    else frozenset({place} - {""}) | (places if change == "+" else set())
                )
                part = self._made(random, inner, inside, depth, values)
                if key is not None:
                    values[key] = part
                line += row[at : hole.start()]
                line += part.replace("\n", "\n" + line[: len(line) - len(line.lstrip())])
                at = hole.end()
            line += row[at:]
            if line.strip() or not at:
                lines.append(line)
        return "\n".join(lines)
