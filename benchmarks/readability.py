"""Measure how code reads, beside well-kept projects: `python -m benchmarks.readability`.

    python -m benchmarks.readability shrinker equivalence tools > benchmarks/READABILITY.md

A mirror, not a limit: no test holds a number of it. The projects beside it are those that the
development environment has installed, in the versions of `uv.lock`.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import importlib.util
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_WIDTH = 100
"""Columns; a wider line counts."""
_BRANCHY = 10
"""A function with more decisions than this is complex."""
_MODELS = {
    "grimp": "grimp",
    "import-linter": "importlinter",
    "LibCST": "libcst",
    "vulture": "vulture",
    "mypyc": "mypyc",
}
"""Distribution or name that people use → package."""
_DISTRIBUTIONS = {"mypyc": "mypy"}
_GENERATED = ("_generated", "/tests/", "/test/", "/test-data/", "/codegen/", "/_vendor/")
"""Parts of paths of what nobody writes by hand, or of tests."""
_VERBS = frozenset(Path(__file__).with_name("verbs.txt").read_text("utf-8").split())
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_DECISIONS = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.comprehension,
    ast.match_case,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What was counted in one project."""

    name: str
    lines: int
    figures: dict[str, float]
    """What a row is called → its value."""


def measure(name: str, files: Sequence[Path]) -> Reading:
    """Count in the files of one project.

    Args:
        name: of the project, as the table shows it.
        files: its Python files, at least one.

    Raises:
        SyntaxError: a file is no Python of this version.
    """
    texts = [file.read_text("utf-8") for file in files]
    trees = [ast.parse(text) for text in texts]
    lines = [line for text in texts for line in text.splitlines()]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    classes = Counter(n.name for n in nodes if isinstance(n, ast.ClassDef))
    thousand = len(lines) / 1000
    return Reading(
        name,
        len(lines),
        {
            f"lines wider than {_WIDTH}, %": _share(len(line) > _WIDTH for line in lines),
            "docstring begins with a verb, %": _share(
                _begins_with_verb(text) for text in _docstrings(functions)
            ),
            "function's name begins with a verb, %": _share(
                _is_verb(node.name.strip("_").partition("_")[0])
                for node in functions
                if not _is_property(node) and not node.name.startswith("__")
            ),
            "ternaries in 1,000 lines": _count(nodes, ast.IfExp) / thousand,
            "comprehensions in 1,000 lines": _count(nodes, _COMPREHENSIONS) / thousand,
            "`a, b = x, y` in 1,000 lines": sum(map(_assigns_in_parallel, nodes)) / thousand,
            f"functions of complexity over {_BRANCHY}, %": _share(
                _complexity(node) > _BRANCHY for node in functions
            ),
            "class names that stand twice": sum(count > 1 for count in classes.values()),
        },
    )


def table(readings: Sequence[Reading]) -> str:
    """Render the readings as a table of Markdown, a project a column."""
    head = ["", *(reading.name for reading in readings)]
    rows = [head, ["---", *("---:" for _ in readings)]]
    rows.append(["lines", *(f"{reading.lines:,}" for reading in readings)])
    for figure in readings[0].figures:
        rows.append([figure, *(f"{reading.figures[figure]:.3g}" for reading in readings)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _docstrings(functions: Sequence[ast.FunctionDef | ast.AsyncFunctionDef]) -> Iterator[str]:
    for node in functions:
        text = ast.get_docstring(node)
        if text:
            yield text


def _begins_with_verb(text: str) -> bool:
    return _is_verb(text.split()[0].strip(".,:;`'\"").lower())


def _is_verb(word: str) -> bool:
    """Tell whether a word is a verb in its plain form, or one that ends in -s as in `Returns`."""
    return word in _VERBS or word.removesuffix("s") in _VERBS or word.removesuffix("es") in _VERBS


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def _assigns_in_parallel(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple()):
            return True
    return False


def _complexity(function: ast.AST) -> int:
    """Count the decisions of a function, as McCabe does: one, and one more for each branch."""
    result = 1
    for node in ast.walk(function):
        if isinstance(node, _DECISIONS):
            result += 1
        elif isinstance(node, ast.BoolOp):
            result += len(node.values) - 1
    return result


def _count(nodes: Sequence[ast.AST], kind: type | object) -> int:
    return sum(isinstance(node, kind) for node in nodes)  # type: ignore[arg-type]


def _share(answers: Iterator[bool]) -> float:
    """Give how many of the answers are true, in per cent; 0 of none."""
    given = list(answers)
    return 100 * sum(given) / len(given) if given else 0.0


def _files(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.py"))
    return [file for file in found if not any(part in file.as_posix() for part in _GENERATED)]


def _installed(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the page for some folders, and for the projects that are installed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readability", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[Path("shrinker")])
    given = parser.parse_args(arguments)
    readings = [measure(folder.name, _files(folder)) for folder in given.folders]
    for name, package in _MODELS.items():
        place = _installed(package)
        if place is not None:
            version = importlib.metadata.version(_DISTRIBUTIONS.get(name, name))
            readings.append(measure(f"{name} {version}", _files(place)))
    print("# How the code reads, beside the field's\n")
    print("Written by `python -m benchmarks.readability`: a mirror, not a limit.\n")
    print(table(readings))


if __name__ == "__main__":
    main()
