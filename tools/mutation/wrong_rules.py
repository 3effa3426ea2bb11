"""Wrong rules, drawn from the names of upstream within the kept code: what a person could get wrong
when writing one.
"""

import ast
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parse
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import PACKAGE, UpstreamTree, module_name
from tools.mutation.faults import in_turn

_WHY = "Planted to see whether the evidence notices a wrong rule."
_ASKS = re.compile(r"_?(is|has|use|uses|should|can|enable|supports?|need|needs)_\w+")
_NAMES = ("calls", "attributes", "environment")
_WORD = re.compile(r"[^\W\d]\w*")
_CLASS = re.compile(rb"^class (\w+)", re.MULTILINE)
_VARIABLE = re.compile(r"SGLANG_\w+")
_MAKES = re.compile(r"_?(init|initialize|setup|set_up|prepare|register|load|start)_\w+")
(
    PREDICATE,
    ATTRIBUTE,
    ENVIRONMENT,
    DOMAIN,
    MODULE,
    ARCHITECTURE,
    ROW,
    CALL,
    ABSENT,
    DEFINITION,
    MEMBER,
) = KINDS = (
    "predicate false",
    "attribute false",
    "environment variable off",
    "text never chosen",
    "module removed",
    "architecture never served",
    "row of a table never asked for",
    "call without an effect",
    "package never installed",
    "definition removed",
    "member of an enumeration removed",
)


@dataclass(frozen=True, slots=True)
class WrongRule:
    """A rule that is not true, and of which kind of rule it is."""

    kind: str
    subject: str
    table: str
    """Of the ruleset: ``facts``, ``domains``, ``removes``, ``absents``."""
    row: tuple[tuple[str, Any], ...]

    @property
    def id(self) -> str:
        """Of the rule."""
        return "planted-" + re.sub(r"[^a-z0-9]+", "-", f"{self.kind} {self.subject}".lower()).strip(
            "-"
        )

    @property
    def words(self) -> frozenset[str]:
        """One of these stands in each statement of which the rule says something, but for imports
        of what it removes.
        """
        row = dict(self.row)
        keys = ("modules",) if self.kind == ABSENT else (*_NAMES, "definitions", "members")
        names = (
            text.rpartition(".")[2] for key, value in self.row if key in keys for text in value
        )
        return frozenset(
            max(found, key=len)
            for text in row.get("never", names)
            if (found := _WORD.findall(text))
        )

    def data(self) -> dict[str, Any]:
        """Return the rule as a file of rules would give it."""
        return {"id": self.id, "why": _WHY, "optional": True, **dict(self.row)}


def _fact(kind: str, subject: str, key: str, name: str) -> WrongRule:
    return WrongRule(kind, subject, "facts", ((key, (name,)), ("value", False)))


def _removed(kind: str, key: str, name: str) -> WrongRule:
    return WrongRule(kind, name, "removes", (("feature", "what was planted"), (key, (name,))))


ALWAYS = (
    _fact(PREDICATE, ".is_deepep", "calls", ".is_deepep"),
    _fact(ATTRIBUTE, ".enable_hierarchical_cache", "attributes", ".enable_hierarchical_cache"),
    _fact(ATTRIBUTE, ".enable_lora", "attributes", ".enable_lora"),
    _fact(PREDICATE, "is_deepseek_dsa", "calls", "sglang.**.is_deepseek_dsa"),
    _removed(MODULE, "modules", "sglang.srt.disaggregation.mooncake"),
)
"""Of every run that has room for them: features that the profile is for."""


def draw(
    tree: UpstreamTree, out: Path, manifest: Manifest, *, count: int, seed: int
) -> list[WrongRule]:
    """Wrong rules, kinds in turn after those of every run; the same seed draws the same from the
    same tree.

    Names of upstream are drawn that stand in the tree `out` of the right rules, too; fewer than
    `count` where there are fewer.
    """
    names: dict[str, set[WrongRule]] = {kind: set() for kind in KINDS}
    models: set[bytes] = set()
    for entry in manifest.files:
        module = module_name(entry.path)
        if module is None or entry.path not in tree.by_path:
            continue
        data = (out / entry.path).read_bytes()
        models.update(_CLASS.findall(data))
        theirs = set(_of_module(module, tree.read(entry.path)))
        for rule in theirs.intersection(_of_module(module, data)):
            names[rule.kind].add(rule)
    # Of one without a class in the tree it is true that nobody serves it.
    names[ARCHITECTURE] = {rule for rule in names[ARCHITECTURE] if rule.subject.encode() in models}
    drawn = [sorted(rules - set(ALWAYS), key=lambda rule: rule.subject) for rules in names.values()]
    for kind, rules in zip(KINDS, drawn, strict=True):
        random.Random(f"{seed} {kind}").shuffle(rules)
    return [*islice(chain(ALWAYS, in_turn(map(reversed, drawn))), count)]


def _of_module(module: str, source: bytes) -> Iterator[WrongRule]:
    tree = parse(source)
    if module.count(".") > 1:
        yield _removed(MODULE, "modules", module)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield _removed(DEFINITION, "definitions", f"{module}.{node.name}")
        match node:
            case ast.ClassDef(name=name, bases=bases, body=body):
                enumeration = len(bases) == 1 and last_name(bases[0]).endswith("Enum")
                for member in body:
                    match member:
                        case ast.Assign(targets=[ast.Name(id=own), *_]) if enumeration:
                            yield _removed(MEMBER, "members", f"{module}.{name}.{own}")
                        case ast.FunctionDef(name=own) if not enumeration and not own.startswith(
                            "__"
                        ):
                            yield _removed(DEFINITION, "definitions", f"{module}.{name}.{own}")
            case ast.FunctionDef(name=name) if _ASKS.fullmatch(name):
                yield _fact(PREDICATE, f"{module}.{name}", "calls", f"{module}.{name}")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys)):
                for key in keys:
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        row = (("tables", (f"{module}.{name}",)), ("never", (key.value,)))
                        yield WrongRule(ROW, f"{module}.{name}: {key.value}", "domains", row)
    for each in ast.walk(tree):
        match each:
            case ast.If(test=test) | ast.IfExp(test=test):
                for asked in ast.walk(test):
                    if isinstance(asked, ast.Attribute) and _ASKS.fullmatch(asked.attr):
                        yield _fact(ATTRIBUTE, f".{asked.attr}", "attributes", f".{asked.attr}")
            case ast.Try(body=body):
                for name in sorted(_outside(body)):
                    yield WrongRule(ABSENT, name, "absents", (("modules", (name,)),))
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))
            ) if _MAKES.fullmatch(name):
                yield WrongRule(CALL, f".{name}", "facts", (("calls", (f".{name}",)),))
            case ast.Constant(value=str(text)) if _VARIABLE.fullmatch(text):
                yield _fact(ENVIRONMENT, text, "environment", text)
            case ast.Attribute(value=ast.Name(id="envs"), attr=name) if _VARIABLE.fullmatch(name):
                yield _fact(ENVIRONMENT, name, "environment", name)
            case ast.Compare(
                left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(text))]
            ) if text:
                if name := last_name(left):
                    row = (("names", (f"sglang.**.{name}",)), ("never", (text,)))
                    yield WrongRule(DOMAIN, f"{name}: {text}", "domains", row)
            case ast.Constant(value=str(text)) if re.fullmatch(r"Deepseek\w+ForCausalLM\w*", text):
                names = ("sglang.**.architectures", "sglang.**.model_arch", "sglang.**.arch")
                yield WrongRule(
                    ARCHITECTURE, text, "domains", (("names", names), ("never", (text,)))
                )


def _outside(body: list[ast.stmt]) -> set[str]:
    """Return packages of others that these statements import."""
    found: set[str] = set()
    for node in chain.from_iterable(map(ast.walk, body)):
        match node:
            case ast.Import(names=aliases):
                found.update(alias.name for alias in aliases)
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module)
    return {name.partition(".")[0] for name in found} - {PACKAGE} - sys.stdlib_module_names
