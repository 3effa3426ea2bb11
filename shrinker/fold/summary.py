"""What a folded module still names: imports, strings that may be paths, calls whose target is
computed.
"""

import ast
import copy
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

from shrinker.fold.context import Context
from shrinker.fold.exports import is_export
from shrinker.fold.messages import is_message
from shrinker.ruleset.models import Registry
from shrinker.syntax.imports import Import, catches_import_error, is_type_checking, names_of
from shrinker.syntax.names import assigned, dotted, last_name, names_in_settings
from shrinker.syntax.ranges import span
from shrinker.syntax.side_effects import bound_by, is_inert
from shrinker.syntax.unroll import Unroller
from shrinker.syntax.walk import Definition, statements, walk
from shrinker.values.edits import Span
from shrinker.values.folded import DynamicSite, ImportSite, ModuleSummary, Store, StringSite
from shrinker.values.upstream import PACKAGE

_PATH_LIKE = re.compile(r"^[\w*./:\-=,\[\]{} +]{2,160}$")
_FILE_LIKE = re.compile(
    r"\.(?:py|json|ya?ml|jinja2?|txt|proto|toml|cfg|ini|cu|cuh|h|hpp|hxx|inc|cc|cxx|cpp|c|so|pyi|sh|js|html|css|metal|sample|model|csv|bin|pt|npz|md|rs|jsonl)$"
)
_DOTTED = re.compile(r"^[A-Za-z_*][\w*]*(?:\.[A-Za-z_*][\w*]*)+(?::[\w*.]+)?$")
_WORD = re.compile(r"^[\w\-*]{3,60}$")

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_SHORT = 200
"""Characters: a longer string is no name."""
_DOTTED_TAIL = re.compile(r"^(?:[A-Za-z_]\w*[.:])*([A-Za-z_]\w*)$")

_IMPORTING = re.compile(rf"(?:from|import)[ \t]+({PACKAGE}(?:\.\w+)+)")
_LISTS_FOLDERS = frozenset(
    {"glob", "iglob", "iter_modules", "iterdir", "listdir", "rglob", "scandir"}
)

_MECHANISMS = {
    "iter_modules": "walk",
    "walk_packages": "walk",
    "import_module": "import_module",
    "__import__": "import_module",
    "entry_points": "entry_points",
    "spec_from_file_location": "spec_from_file",
}


class _Nodes:
    """The nodes of a folded module by their kind: a walk costs as much as half of what is done with
    them, so that there is one for all.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._nodes: defaultdict[type, list[Any]] = defaultdict(list)
        for node in walk(tree):
            self._nodes[node.__class__].append(node)
        formats = {
            node.format_spec for node in self.of(ast.FormattedValue) if node.format_spec is not None
        }
        self.joined = [node for node in self.of(ast.JoinedStr) if node not in formats]
        """F-strings."""
        self.parts = [
            part for node in self.joined for part in node.values if isinstance(part, ast.Constant)
        ]
        """Constant parts of f-strings."""
        listed = (
            node for node in self.of(ast.Assign, ast.AugAssign, ast.AnnAssign) if is_export(node)
        )
        displays = (node.value for node in listed if isinstance(node.value, ast.List | ast.Tuple))
        self.exported = [entry for display in displays for entry in display.elts if _is_text(entry)]
        """Entries of ``__all__``."""
        # Documentation, and what stands in the format of an f-string, name nothing.
        silent = {node.value for node in self.of(ast.Expr)}.union(
            *(node.values for node in formats)
        )
        silent.update(self.parts, self.exported)
        self.texts = [
            node for node in self.of(ast.Constant) if _is_text(node) and node not in silent
        ]
        """Strings, but for those that are part of another one or stand alone."""

    def of(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Return all nodes of some classes, in no particular order."""
        return chain.from_iterable(self._nodes[kind] for kind in kinds)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def summarise(tree: ast.Module, context: Context) -> dict[str, Any]:
    """Return what the folded tree names, in source order, as fields of `FoldedModule`."""
    nodes = _Nodes(tree)
    unroller = Unroller(tree, nodes.of(ast.For), context.module, context.package)
    strings, own = _rows(nodes, unroller, context.environment.registries_in(context.module))
    constants = ((node, str(node.value)) for node in chain(nodes.texts, nodes.exported))
    named = chain(
        constants,
        _computed_strings(nodes, unroller),
        _files_beside(nodes, context),
        _imported_by_texts(nodes),
        _parts_of_a_lazy_package(nodes, context),
    )
    strings.update(
        StringSite(node.lineno, text)
        for node, text in named
        if _may_be_path(text) and node not in own
    )
    return {
        "imports": tuple(_imports(nodes, context.package)),
        "strings": tuple(
            sorted(strings, key=lambda site: (site.line, site.text, site.key, site.rule))
        ),
        "dynamic": (*_dynamic(nodes, unroller, context), *_exports_found(nodes, context)),
        "defines": tuple(_defines(tree.body)),
        "summary": _harvest(nodes, context),
    }


def _rows(
    nodes: _Nodes, unroller: Unroller, rules: Iterable[Registry]
) -> tuple[set[StringSite], set[ast.AST]]:
    """Return targets of the rows of tables with their keys, and the nodes of both, which name
    nothing by themselves.
    """
    sites: set[StringSite] = set()
    own: set[ast.AST] = set()
    for rule in rules:
        for call in (each for each in nodes.of(ast.Call) if last_name(each.func) == rule.row):
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            key, target = given.get(rule.key), given.get(rule.target)
            rows = unroller.rows(key, target) if key and target else None
            if key and target and rows is not None:
                sites.update(
                    StringSite(target.lineno, text, asked, rule.id) for asked, text in rows
                )
                own.update(node for part in (key, target) for node in walk(part))
    return sites, own


def _imports(nodes: _Nodes, package: str) -> Iterator[ImportSite]:
    typed = _imports_in(node.body for node in nodes.of(ast.If) if is_type_checking(node.test))
    local = _imports_in(node.body for node in nodes.of(ast.FunctionDef, ast.AsyncFunctionDef))
    guarded = _imports_in(
        node.body for node in nodes.of(ast.Try) if any(map(catches_import_error, node.handlers))
    )
    for node in sorted(nodes.of(ast.Import, ast.ImportFrom), key=_place):
        kind = "import-type" if node in typed else "import-local" if node in local else "import"
        for module, name, _ in names_of(node, package):
            yield ImportSite(node.lineno, module, name or None, kind, node in guarded)


def _imports_in(bodies: Iterable[list[ast.stmt]]) -> set[ast.stmt]:
    parts = (part for body in bodies for node in body for part in (node, *statements(node)))
    return {part for part in parts if isinstance(part, Import)}


def _place(node: ast.stmt | ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


@lru_cache(maxsize=1 << 16)
def _may_be_path(text: str) -> bool:
    if "#include" in text:
        # Source text of a kernel that is compiled at run time: its includes are files.
        return True
    found = (
        "sglang." in text
        or "/" in text
        or _FILE_LIKE.search(text)
        or _DOTTED.match(text)
        or _WORD.match(text)
    )
    return _PATH_LIKE.match(text) is not None and bool(found)


def _computed_strings(nodes: _Nodes, unroller: Unroller) -> Iterator[tuple[ast.expr, str]]:
    """Computed strings, each computed part written ``*``; where loops spell them out, what they
    are.
    """
    joins = (call for call in nodes.of(ast.Call) if last_name(call.func) == "join")
    sums = (
        node for node in nodes.of(ast.BinOp) if isinstance(node.op, ast.Add | ast.Div | ast.Mod)
    )
    for node in chain(nodes.joined, sums, joins):
        if (pattern := pattern_of(node)) != "*":
            exact = unroller.texts(node) if "*" in pattern else None
            yield from ((node, text) for text in ((pattern,) if exact is None else exact))


def _files_beside(nodes: _Nodes, context: Context) -> Iterator[tuple[ast.expr, str]]:
    """Yield files that are named after the module: `Path(__file__).with_suffix(".sql")`,
    `__file__.replace(".py", ".json")`.
    """
    stem = "__init__" if context.package == context.module else context.module.rpartition(".")[2]
    for call in nodes.of(ast.Call):
        if last_name(call.func) not in ("with_suffix", "replace") or not call.args:
            continue
        last = call.args[-1]
        of_file = any(
            isinstance(part, ast.Name) and part.id == "__file__" for part in walk(call.func)
        )
        if of_file and isinstance(last, ast.Constant) and str(last.value).startswith("."):
            yield last, f"{stem}{last.value!s}"


def _imported_by_texts(nodes: _Nodes) -> Iterator[tuple[ast.expr, str]]:
    """Yield modules of the tree that a text imports, for a program that runs it: `"from
    sglang.tasks import run"`.
    """
    for node in nodes.texts:
        if "import" in node.value and PACKAGE in node.value:
            yield from ((node, module) for module in _IMPORTING.findall(node.value))


def _parts_of_a_lazy_package(nodes: _Nodes, context: Context) -> Iterator[tuple[ast.expr, str]]:
    """Submodules that a package may name which puts an object of its own in its place:
    `sys.modules[__name__] = Lazy(…)`.
    """
    if any(map(_replaces_itself, nodes.of(ast.Subscript))):
        for node in nodes.texts:
            if node.value.isidentifier():
                yield node, f"{context.module}.{node.value}"


def _replaces_itself(node: ast.Subscript) -> bool:
    match node:
        case ast.Subscript(
            ast.Attribute(ast.Name("sys"), "modules"), ast.Name("__name__"), ast.Store()
        ):
            return True
    return False


def _exports_found(nodes: _Nodes, context: Context) -> Iterator[DynamicSite]:
    """A package whose `__all__` is computed from what lies in its folder."""
    for node in nodes.of(ast.Assign, ast.AugAssign):
        calls = {last_name(part.func) for part in walk(node) if isinstance(part, ast.Call)}
        if is_export(node) and not _LISTS_FOLDERS.isdisjoint(calls):
            text = " ".join(ast.unparse(node).split())
            yield DynamicSite(node.lineno, "walk", text[:120], context.module)


def pattern_of(node: ast.AST) -> str:
    """Return the text of a string expression, each computed part written ``*``; that alone where
    nothing of it is known.
    """
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return _squeeze(
                "".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in values)
            )
        case ast.BinOp(left=one, op=ast.Add() | ast.Div() as op, right=other):
            return _joined(
                [pattern_of(one), pattern_of(other)], "/" if isinstance(op, ast.Div) else ""
            )
        case ast.BinOp(left=one, op=ast.Mod()):
            return _squeeze(re.sub(r"%[sdr]", "*", pattern_of(one)))
        case ast.Call(func=ast.Attribute(attr="join"), args=[_, _, *_] as parts):
            return _joined(list(map(pattern_of, parts)), "/")
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str() as by), attr="join"),
            args=[ast.List(elts=parts) | ast.Tuple(elts=parts)],
        ):
            return _joined(list(map(pattern_of, parts)), by)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
            return _squeeze(re.sub(r"\{[^}]*\}", "*", text))
    return "*"


def _joined(parts: list[str], by: str) -> str:
    return _squeeze(by.join(parts)) if any(part != "*" for part in parts) else "*"


def _squeeze(text: str) -> str:
    return re.sub(r"\*+", "*", text) if "**" in text else text


class _SpelledOut(ast.NodeTransformer):
    """Writes what a module calls itself in the place of `__name__` and `__package__`."""

    def __init__(self, context: Context) -> None:
        self._known = {"__name__": context.module, "__package__": context.package}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self._known.get(node.id)
        return node if text is None else ast.copy_location(ast.Constant(text), node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        inner = self.visit(node.value)
        return inner if isinstance(inner, ast.Constant) else node


def _spelled_out(node: ast.expr, context: Context) -> ast.expr:
    found: ast.expr = _SpelledOut(context).visit(copy.deepcopy(node))
    return found


def _asked_module(call: ast.Call, nodes: _Nodes, context: Context) -> ast.expr | None:
    """Return the expression of the module or package that a dynamic import or a walk asks for.

    `import_module("." + name, __package__)` asks for what `__package__ + "." + name` names, and
    `iter_modules(plugins.__path__)` for the package that `plugins` is.
    """
    if not call.args:
        return None
    asked = call.args[0]
    if isinstance(asked, ast.List) and len(asked.elts) == 1:
        asked = asked.elts[0]
    match asked:
        case ast.Name(id="__path__"):
            return ast.copy_location(ast.Constant(context.package), asked)
        case ast.Attribute(value=ast.Call(args=[ast.Constant() as named, *_]), attr="__path__"):
            return named
        case ast.Attribute(value=package, attr="__path__") if dotted(package):
            root, _, rest = dotted(package).partition(".")
            for node in nodes.of(ast.Import, ast.ImportFrom):
                for source, name, bound in names_of(node, context.package):
                    if bound == root:
                        whole = ".".join(
                            part
                            for part in (source if name or rest == "" else root, name, rest)
                            if part
                        )
                        return ast.copy_location(ast.Constant(whole), asked)
    spelled = _spelled_out(asked, context)
    if not pattern_of(spelled).startswith(".") or last_name(call.func) != "import_module":
        return spelled
    around: object = context.package
    if len(call.args) > 1 and isinstance(
        given := _spelled_out(call.args[1], context), ast.Constant
    ):
        around = given.value
    return ast.copy_location(ast.BinOp(ast.Constant(str(around)), ast.Add(), spelled), asked)


def _dynamic(nodes: _Nodes, unroller: Unroller, context: Context) -> Iterator[DynamicSite]:
    calls = (call for call in nodes.of(ast.Call) if last_name(call.func) in _MECHANISMS)
    for node in sorted(calls, key=_place):
        asked = _asked_module(node, nodes, context)
        target = pattern_of(asked) if asked is not None else "*"
        text = " ".join(ast.unparse(node).split())
        exact = unroller.texts(node.args[0]) if node.args and "*" in target else None
        for each in (target,) if exact is None else exact:
            yield DynamicSite(
                node.lineno,
                _MECHANISMS[last_name(node.func)],
                text[:120],
                None if each == "*" else each,
            )


def _defines(body: Iterable[ast.stmt]) -> Iterator[tuple[str, int]]:
    for node in body:
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name, node.lineno
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (
                    (target.id, node.lineno) for target in targets if isinstance(target, ast.Name)
                )
            case ast.If():
                yield from _defines((*node.body, *node.orelse))
            case ast.Try():
                yield from _defines(
                    (*node.body, *(inner for handler in node.handlers for inner in handler.body))
                )


# What is counted by name, not by object: words, and attributes that are set


def _harvest(nodes: _Nodes, context: Context) -> ModuleSummary:
    """Return the words of the folded module, and its attributes."""
    spoken, texts = _spoken(nodes)
    stores = _attribute_stores(nodes)
    fields, decided = _class_fields(nodes.tree, stores, context.literals())
    return ModuleSummary(
        words=tuple(sorted(spoken)),
        texts=tuple(sorted(texts)),
        defined=tuple(
            sorted(
                {
                    node.name
                    for node in nodes.of(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
                }
            )
        ),
        stores=tuple(sorted(stores)),
        fields=tuple(sorted(fields)),
        decided=tuple(sorted(decided)),
        inert=is_inert(nodes.tree),
        unproven_imports=tuple(sorted(context.unproven_imports)),
        lost=tuple(sorted(context.lost)),
    )


@lru_cache(maxsize=1 << 16)
def _said(text: str) -> tuple[str, ...]:
    """Return words of a string."""
    return tuple(dict.fromkeys(_IDENTIFIER.findall(text)))


def _spoken(nodes: _Nodes) -> tuple[set[str], set[str]]:
    """Return words that a module mentions, and its strings that are a name or end in one."""
    found: set[str] = {
        node.id for node in nodes.of(ast.Name) if node.ctx.__class__ is not ast.Store
    }
    found.update(
        node.attr for node in nodes.of(ast.Attribute) if node.ctx.__class__ is not ast.Store
    )
    found.update(k.arg for call in nodes.of(ast.Call) for k in call.keywords if k.arg is not None)
    texts: set[str] = set()
    for constant in chain(nodes.texts, nodes.parts):
        text = str(constant.value)
        if not is_message(text):
            found.update(_said(text))
            if len(text) < _SHORT and (tail := _DOTTED_TAIL.match(text)):
                texts.add(tail.group(1))
            if len(text) < _SHORT:
                texts.update(names_in_settings(text))
    found.update(part for alias in nodes.of(ast.alias) for part in alias.name.split("."))
    found.update(
        alias.asname for node in nodes.of(ast.ImportFrom) for alias in node.names if alias.asname
    )
    found.update(name for outer in nodes.of(ast.Global, ast.Nonlocal) for name in outer.names)
    found.update(name for matched in nodes.of(ast.MatchClass) for name in matched.kwd_attrs)
    # What is changed in place is read before.
    changed = (node.target for node in nodes.of(ast.AugAssign))
    found.update(target.attr for target in changed if isinstance(target, ast.Attribute))
    return found, texts


def _attribute_stores(nodes: _Nodes) -> set[Store]:
    """Return attributes that are given a value."""
    given = [(target, node.value) for node in nodes.of(ast.Assign) for target in node.targets]
    given += [(node.target, node.value) for node in nodes.of(ast.AnnAssign)]
    alone = {target: value for target, value in given if isinstance(target, ast.Attribute)}
    others = (
        a for a in nodes.of(ast.Attribute) if a.ctx.__class__ is not ast.Load and a not in alone
    )
    named = (k.arg for call in nodes.of(ast.Call) for k in call.keywords if k.arg is not None)
    stores = {Store(target.attr, _literal(value)) for target, value in alone.items()}
    return stores | {Store(a.attr) for a in others} | {Store(name) for name in named}


def _literal(value: ast.expr | None) -> str:
    if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool)):
        return repr(value.value)
    return ""


def _class_fields(
    tree: ast.Module, stores: set[Store], literals: set[Span]
) -> tuple[set[tuple[str, str]], set[str]]:
    """Return attributes that classes set for certain, and those that folding gave a literal; class
    bodies add to `stores`.
    """
    fields: set[tuple[str, str]] = set()
    decided: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for statement in statements(node):
            place, given = assigned(statement)
            if (
                isinstance(place, ast.Attribute)
                and isinstance(given, ast.Constant)
                and span(given) in literals
            ):
                decided.add(place.attr)
        for statement in node.body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    if (
                        len(targets) == 1
                        and isinstance(targets[0], ast.Name)
                        and span(value) in literals
                    ):
                        decided.add(targets[0].id)
                    direct = {
                        target.id
                        for target in targets
                        if isinstance(target, ast.Name) and _literal(value)
                    }
                    fields.update((node.name, name) for name in direct)
                    stores |= {
                        Store(name, _literal(value) if name in direct else "")
                        for name in bound_by(statement)
                    }
                case ast.FunctionDef(name="__init__"):
                    places = (assigned(inner)[0] for inner in statement.body)
                    own = (place for place in places if isinstance(place, ast.Attribute))
                    fields.update(
                        (node.name, place.attr)
                        for place in own
                        if isinstance(place.value, ast.Name)
                    )
                case ast.stmt() if not isinstance(statement, Definition | Import):
                    stores |= {Store(name) for name in bound_by(statement)}
    return fields, decided
