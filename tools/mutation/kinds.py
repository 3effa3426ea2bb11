"""What can go wrong in one file: one function a kind of fault."""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

from shrinker.emit.package import NOTE
from shrinker.syntax.native.reader import read_native
from shrinker.syntax.native.tokens import Lines
from shrinker.syntax.parsing import parse, parsed
from shrinker.syntax.ranges import first_line
from shrinker.syntax.walk import BLOCKS, Function
from shrinker.values.relations import grouped

_REGISTERS = "regist"


@dataclass(frozen=True)
class Source:
    """A file of the generated tree, and what it was made of."""

    text: str
    upstream: str = ""
    """Empty where upstream has no such file."""

    @cached_property
    def tree(self) -> ast.Module:
        """Of a file of Python."""
        return parse(self.text)


class Change(NamedTuple):
    """A damaged text, and what was done to it."""

    line: int
    subject: str
    text: str


def functions(source: Source) -> Iterator[Change]:
    """Delete a function of the module."""
    for node in source.tree.body:
        if isinstance(node, Function):
            yield from _deleted(source, node, source.tree.body, node.name)


def methods(source: Source) -> Iterator[Change]:
    """Delete a method."""
    for owner, node in _members(source):
        if isinstance(node, Function):
            yield from _deleted(source, node, owner.body, f"{owner.name}.{node.name}")


def class_attributes(source: Source) -> Iterator[Change]:
    """Delete an attribute of a class, or a field of a dataclass."""
    for owner, node in _members(source):
        match node:
            case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target):
                yield from _deleted(source, node, owner.body, f"{owner.name}.{ast.unparse(target)}")


def registrations(source: Source) -> Iterator[Change]:
    """Delete a decorator or a call that registers something, or a row of a table at
    module level.
    """
    lines, text_of = source.text.split("\n"), partial(ast.get_source_segment, source.text)
    for node in source.tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    if _REGISTERS in ast.unparse(decorator).lower():
                        yield _cut(
                            lines, decorator, decorator, f"@{ast.unparse(decorator)} of {node.name}"
                        )
            case ast.Expr(value=ast.Call() as call) if _REGISTERS in ast.unparse(call.func).lower():
                yield from _deleted(source, node, source.tree.body, ast.unparse(call)[:80])
            case ast.Assign(value=ast.Dict(keys=keys, values=values)) if len(keys) > 1:
                for key, value in zip(keys, values, strict=True):
                    if key is not None and isinstance(value, ast.Name | ast.Attribute):
                        row = "\n".join(lines[key.lineno - 1 : value.end_lineno])
                        if row.strip().rstrip(",") == f"{text_of(key)}: {text_of(value)}":
                            subject = f"row {ast.unparse(key)} of {ast.unparse(node.targets[0])}"
                            yield _cut(lines, key, value, subject)


def imports(source: Source) -> Iterator[Change]:
    """Delete an imported name."""
    for block in _blocks(source.tree):
        for node in block:
            if isinstance(node, ast.Import | ast.ImportFrom) and _stands_alone(source.text, node):
                for alias in node.names:
                    if alias.name == "*" or (
                        isinstance(node, ast.ImportFrom) and node.module == "__future__"
                    ):
                        continue
                    left = copy.copy(node)
                    left.names = [other for other in node.names if other is not alias]
                    instead = [" " * node.col_offset + ast.unparse(left)] if left.names else []
                    yield Change(
                        alias.lineno,
                        alias.asname or alias.name,
                        without(source.text, [node], block, instead),
                    )


def branches(source: Source) -> Iterator[Change]:
    """Decide a condition the other way than it was decided: the other block stands where the
    kept one does.
    """
    if (before := parsed(source.upstream)) is None:
        return
    every = ((block, at) for block in _blocks(source.tree) for at in range(len(block)))
    places = grouped((ast.dump(block[at]), (block, at)) for block, at in every)
    there = {ast.dump(node) for node in ast.walk(source.tree) if isinstance(node, ast.If)}
    for test in ast.walk(before):
        if not isinstance(test, ast.If) or ast.dump(test) in there:
            continue
        for kept, other in ((test.body, test.orelse), (test.orelse, test.body)):
            dumps = [ast.dump(statement) for statement in kept]
            found = places.get(dumps[0], []) if dumps and other else []
            if len(found) != 1:
                continue
            block, at = found[0]
            here = block[at : at + len(kept)]
            instead = _indented(source.upstream, other, here[0].col_offset)
            if instead is None or [ast.dump(statement) for statement in here] != dumps:
                continue
            if _stands_alone(source.text, here[0]) and _stands_alone(source.text, here[-1]):
                subject = f"`{ast.unparse(test.test)[:70]}`"
                yield Change(here[0].lineno, subject, without(source.text, here, block, instead))


def constants(source: Source) -> Iterator[Change]:
    """Change a default or a constant."""
    lines = source.text.split("\n")
    for node in ast.walk(source.tree):
        values: list[ast.expr | None] = []
        if isinstance(node, ast.arguments):
            values = [*node.defaults, *node.kw_defaults]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            values = [node.value]
        for value in values:
            match value:
                case ast.Constant(value=int() | float() as number) if (
                    value.lineno == value.end_lineno
                ):
                    other = not number if isinstance(number, bool) else number + 1
                    line = lines[value.lineno - 1].encode()
                    changed = (
                        line[: value.col_offset]
                        + repr(other).encode()
                        + line[value.end_col_offset :]
                    )
                    text = "\n".join(
                        [*lines[: value.lineno - 1], changed.decode(), *lines[value.lineno :]]
                    )
                    yield Change(value.lineno, f"{number!r} becomes {other!r}", text)


def model_classes(source: Source) -> Iterator[Change]:
    """Register a class of a model no more: the generic one takes its place."""
    for node in source.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="EntryClass")], value=ast.List(elts=elements)) if (
                len(elements) > 1
            ):
                for element in elements:
                    left = ", ".join(
                        ast.unparse(other) for other in elements if other is not element
                    )
                    text = without(
                        source.text, [node], source.tree.body, [f"EntryClass = [{left}]"]
                    )
                    yield Change(element.lineno, ast.unparse(element), text)
            case ast.Assign(targets=[ast.Name(id="EntryClass")], value=value):
                yield Change(
                    node.lineno, ast.unparse(value), without(source.text, [node], source.tree.body)
                )


def _deleted(
    source: Source, node: ast.stmt, block: list[ast.stmt], subject: str
) -> Iterator[Change]:
    if _stands_alone(source.text, node):
        yield Change(node.lineno, subject, without(source.text, [node], block))


def _cut(lines: list[str], first: ast.expr, last: ast.expr, subject: str) -> Change:
    """Cut the lines from one expression to another."""
    kept = lines[: first.lineno - 1] + lines[last.end_lineno or last.lineno :]
    return Change(first.lineno, subject, "\n".join(kept))


def _members(source: Source) -> Iterator[tuple[ast.ClassDef, ast.stmt]]:
    owners = (node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef))
    return ((owner, node) for owner in owners for node in owner.body)


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Return every list of statements below a node, outermost first."""
    found = (getattr(node, name, None) for node in ast.walk(tree) for name in BLOCKS)
    return (
        block
        for block in found
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt)
    )


def _stands_alone(text: str, node: ast.stmt) -> bool:
    """Tell whether a statement shares none of its lines with another one."""
    lines = text.split("\n")
    before = lines[first_line(node) - 1][: node.col_offset]
    after = (
        lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset or 0 :].decode()
    )
    return not before.strip() and (not after.strip() or after.lstrip().startswith("#"))


def without(
    text: str, nodes: Sequence[ast.stmt], block: Sequence[ast.stmt], instead: Sequence[str] = ()
) -> str:
    """Return the text without statements that follow each other in a block: `pass` stands in for
    them when no other is left, or lines `instead`, with their indentation.
    """
    lines = text.split("\n")
    start, end = first_line(nodes[0]) - 1, nodes[-1].end_lineno or nodes[-1].lineno
    lines[start:end] = [*instead] or (
        [" " * nodes[0].col_offset + "pass"] if len(nodes) == len(block) else []
    )
    return "\n".join(lines)


def _indented(text: str, nodes: Sequence[ast.stmt], column: int) -> list[str] | None:
    """Return lines of statements that follow each other, moved to a column; None where a line
    cannot be moved.
    """
    lines = text.split("\n")[first_line(nodes[0]) - 1 : nodes[-1].end_lineno]
    by = column - nodes[0].col_offset
    if any(line[: max(0, -by)].strip() for line in lines):
        return None
    return [" " * by + line if by > 0 and line.strip() else line[max(0, -by) :] for line in lines]


def native_registrations(source: Source) -> Iterator[Change]:
    """Delete a statement that offers a function to Python."""
    rows = source.text.splitlines()
    for each in read_native(source.text.encode()).registrations:
        yield from _without_lines(source.text, each.lines, rows[each.line - 1].strip()[:80])


def native_definitions(source: Source) -> Iterator[Change]:
    """Delete a function, a class or a constant at the level of namespaces."""
    for each in read_native(source.text.encode()).definitions:
        yield from _without_lines(source.text, each.lines, each.name)


def native_includes(source: Source) -> Iterator[Change]:
    """Delete a line that takes in another file."""
    for number, line in enumerate(source.text.splitlines(), 1):
        if line.lstrip().startswith("#include"):
            yield from _without_lines(source.text, Lines(number, number), line.strip())


def _without_lines(text: str, lines: Lines, subject: str) -> Iterator[Change]:
    if lines.first:
        kept = text.splitlines(keepends=True)
        del kept[lines.first - 1 : lines.last]
        # What is to be noticed is what went, not that the file does not say so.
        first = "" if NOTE in text.partition("\n")[0] else f"// {NOTE}\n"
        yield Change(lines.first, subject, first + "".join(kept))


Damage = Callable[[Source], Iterator[Change]]
ON_PYTHON: dict[str, Damage] = {
    "function deleted": functions,
    "method deleted": methods,
    "class attribute deleted": class_attributes,
    "registration deleted": registrations,
    "import deleted": imports,
    "other branch taken": branches,
    "constant changed": constants,
    "model class not registered": model_classes,
}
ON_NATIVE: dict[str, Damage] = {
    "native registration deleted": native_registrations,
    "native definition deleted": native_definitions,
    "native include deleted": native_includes,
}
DATA_FILE, NATIVE_FILE = "data file deleted", "native source deleted"
SUFFIXES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp")
