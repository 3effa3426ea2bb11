"""What else differs: lines, distributions, uncertain places, decisions, data tables, kernels; and
what people see of the server, which is flags, endpoints, and the fields of what they send and get
back. And what no static analysis proves: new places where code computes what it names, runs or
loads.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shrinker.program.interface.compare import Changed, changes
from shrinker.program.interface.offers import Offer, read_offered
from shrinker.program.interface.syntax import Syntax
from shrinker.program.nodes import NATIVE_SUFFIXES, suffix
from shrinker.report.diff.pair import Pair, Side, compared, fate
from shrinker.report.diff.values import Reason, Row
from shrinker.report.place import some
from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import children
from shrinker.values.relations import grouped
from shrinker.values.upstream import modules_of

_TABLES = frozenset(
    {"json", "jsonl", "csv", "tsv", "yaml", "yml", "jinja", "jinja2", "txt", "pkl", "npy"}
)
_DEPTH = 4
"""Folders of a path by which lines are told: `python/sglang/srt/layers`."""
_PLACES = re.compile(r" at \S+:\d+|:\d+")
_TRITON = re.compile(rb"^[ \t]*@[\w.]*\bjit\b", re.MULTILINE)
_ROOT = "BaseModel"
_MODELS = re.compile(rf"\b{_ROOT}\b".encode())

_DOES = {
    "imports a computed module": ("import_module", "__import__", "dynamic_import"),
    "reads entry points of installed packages": ("entry_points",),
    "walks a package": ("iter_modules", "walk_packages"),
    "loads a module from a file": ("spec_from_file_location",),
    "runs a text": ("exec",),
    "evaluates a text": ("eval",),
    "compiles native code": ("load_inline", "load_jit"),
    "looks at all members of an object": ("getmembers",),
    "asks for all subclasses": ("__subclasses__",),
    "looks a dotted name up": ("resolve_obj_by_qualname",),
}
_LOADS = {name: does for does, names in _DOES.items() for name in names}
"""Last component of what is called, and what that does."""
_LOOKS = {"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller"}
_UNPICKLES = {"loads", "load"}
_SPACES = {"globals", "locals", "vars"}
_OPERATORS = {
    "register_custom_op",
    "direct_register_custom_op",
    "custom_op",
    "register_fake",
    "impl",
}

_WORDS = re.compile(
    "|".join([*_LOADS, *_LOOKS, *_SPACES, *_OPERATORS, "pickle", "__getattr__"]).encode()
)


def growth(pair: Pair) -> Iterator[Row]:
    """Yield lines of both trees by folder, where they differ."""
    before, after = Counter[str](), Counter[str]()
    for side, counted in ((pair.old, before), (pair.new, after)):
        for file in side.manifest.files:
            counted["/".join(file.path.split("/")[:-1][:_DEPTH])] += file.lines_after
    grown = {
        folder: after[folder] - before[folder]
        for folder in before | after
        if before[folder] != after[folder]
    }
    for folder, lines in sorted(grown.items(), key=lambda row: (-abs(row[1]), row[0])):
        yield Row(folder, f"{lines:+,}", f"{before[folder]:,}", f"{after[folder]:,}", f"{folder}/")


def dependency_changes(pair: Pair) -> Iterator[Row]:
    """Yield distributions that only one generated package requires, or with another requirement,
    and packages newly imported.
    """
    old, new = (
        side.report("dependencies.json").get("distributions") for side in (pair.old, pair.new)
    )
    if old is None or new is None:
        return
    for name, before, after in compared(_required(old), _required(new)):
        why = Reason("upstream", "upstream declares it no more")
        if name in new:
            why = Reason("reach", new[name]["reason"])
        if name not in old:
            why = Reason("upstream", f"upstream declares it now; {why.text}")
        yield Row(name, fate(before, after), before or "", after or "", reason=why)
    known = _imported(pair.old, "external")
    for name, (path, _) in sorted(
        _imported(pair.new, "external").items() if pair.old.graph else ()
    ):
        if name not in known:
            yield Row(name, "import added", path=path, reason=pair.changed_by(path))


def _required(distributions: Mapping[str, Any]) -> dict[str, str]:
    """Return how each distribution that is not dropped is declared."""
    return {
        name: "; ".join(f"{text} [{extra}]" if extra else text for extra, text in row["declared"])
        or row["state"]
        for name, row in distributions.items()
        if row["state"] != "dropped"
    }


def _imported(side: Side, kind: str) -> dict[str, tuple[str, int]]:
    """Return nodes of a kind that kept code imports (packages from outside, names of kernel
    libraries), each with the first place that does.
    """
    nodes, paths = side.graph.get("nodes", ()), side.graph.get("paths", ())
    found: dict[str, tuple[str, int]] = {}
    for _, target, _, path, line in side.graph.get("edges", ()):
        if nodes[target].startswith(f"{kind}:"):
            found.setdefault(nodes[target].partition(":")[2], (paths[path], line))
    return found


def uncertain_changes(pair: Pair) -> Iterator[Row]:
    """Yield places that only one side keeps because they could not be decided; lines alone make no
    difference.
    """
    if not pair.reported:
        return
    one, other = (
        {
            (path, _PLACES.sub("", reason)): (line, reason)
            for path, line, reason in side.graph["uncertain"]
        }
        for side in (pair.old, pair.new)
    )
    for key in sorted(one.keys() ^ other.keys()):
        line, reason = (one | other)[key]
        yield Row(
            key[0],
            fate(key in one, key in other),
            path=key[0],
            upstream=line,
            reason=Reason("reach", reason),
        )


def decision_changes(pair: Pair) -> Iterator[Row]:
    """Conditions, imports and table rows of files of both trees that were decided otherwise; lines
    alone make no difference.
    """
    sides = [side.graph.get("decisions", {}) for side in (pair.old, pair.new)]
    for path in sorted(pair.old.files.keys() & pair.new.files.keys()):
        old, new = (_decided(side.get(path, ())) for side in sides)
        was, now = (
            Counter({key: len(lines) for key, lines in side.items()}) for side in (old, new)
        )
        gone, come = (grouped((key[:2], key[2]) for key in some) for some in (was - now, now - was))
        for what in sorted(gone.keys() | come.keys()):
            before, after = sorted(gone.get(what, ())), sorted(come.get(what, ()))
            line = (new if after else old)[*what, (after or before)[0]][-1]
            why = pair.changed_by(path)
            if before and after:
                why = replace(why, cause="reach")
            outcomes = ", ".join(before), ", ".join(after)
            yield Row(what[1], fate(before, after), *outcomes, path, upstream=line, reason=why)


def _decided(rows: Iterable[Sequence[Any]]) -> dict[tuple[str, str, str], list[int]]:
    """Return lines of each decision of a file, by its kind, its text, and what it became by which
    rule.
    """
    return grouped(
        ((kind, text, f"{outcome} by {rule}"), line) for line, rule, kind, text, outcome, *_ in rows
    )


def data_changes(pair: Pair, suffixes: frozenset[str] = _TABLES) -> Iterator[Row]:
    """Yield files with some suffixes that differ, by default those of data."""
    for path, one, other in pair.differing():
        if suffix(path) in suffixes:
            before, after = (
                f"{side.lines_after:,} lines" if side is not None else "" for side in (one, other)
            )
            yield Row(path, fate(before, after), before, after, path, reason=pair.changed_by(path))


def kernel_changes(pair: Pair) -> Iterator[Row]:
    """Native sources, names of kernel libraries and Triton functions that differ."""
    yield from data_changes(pair, NATIVE_SUFFIXES)
    old, new = _imported(pair.old, "kernel"), _imported(pair.new, "kernel")
    for name in sorted(old.keys() ^ new.keys()):
        path, line = (old | new)[name]
        kind = f"import {fate(name in old, name in new)}"
        yield Row(name, kind, path=path, line=line, reason=pair.changed_by(path))
    for path in (path for path, _, _ in pair.differing() if path.endswith(".py")):
        for name, was, now in compared(_triton(pair.old.read(path)), _triton(pair.new.read(path))):
            if was is None or now is None or was[0] != now[0]:
                line = (now or was or ("", 0))[1]
                yield Row(
                    name,
                    f"Triton {fate(was, now)}",
                    path=path,
                    line=line,
                    reason=pair.changed_by(path),
                )


def _triton(data: bytes) -> dict[str, tuple[str, int]]:
    """Return text without comments, and line, of each function under a ``jit`` decorator."""
    tree = parsed(data) if _TRITON.search(data) is not None else None
    return {
        node.name: (ast.unparse(node), node.lineno)
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.FunctionDef)
        and any(
            last_name(d.func if isinstance(d, ast.Call) else d) == "jit"
            for d in node.decorator_list
        )
    }


def offered_changes(pair: Pair) -> tuple[Iterable[Row], Iterable[Row]]:
    """Changes of flags, and of endpoints with the fields of their models; nothing when a tree is
    not there.
    """
    if pair.old.folder is None or pair.new.folder is None:
        return (), ()
    before, after = (Syntax(modules_of(side.files), side.read) for side in (pair.old, pair.new))
    old, new, paths = read_offered(before), read_offered(after), {**before.paths, **after.paths}
    fields = changes(_fields(before), _fields(after))
    flags = _moved([_offer(pair, paths, each) for each in changes(old.flags, new.flags)])
    return flags, (
        _offer(pair, paths, each) for each in (*changes(old.endpoints, new.endpoints), *fields)
    )


def _offer(pair: Pair, paths: Mapping[str, str], changed: Changed) -> Row:
    """With the rule that took it, where the side's own interface report tells; else whether
    upstream changed the file.
    """
    offer = changed.new or changed.offer
    path, removed = paths[offer.module], changed.new is None
    whole = "; ".join(f"{label} {text}".strip() for label, text in offer.parts if text)
    before, after = {"removed": (whole, ""), "added": ("", whole)}.get(
        changed.kind, (changed.before, changed.after)
    )
    report = (pair.new if removed else pair.old).report("interface.json")
    rows = [*report.get("flags", ()), *report.get("endpoints", ())]
    rule = next(
        (row["rule"] for row in rows if row["subject"] == offer.subject and row["path"] == path), ""
    )
    if rule and (removed or not offer.subject.startswith("-")):
        reason = Reason(
            "rule", f"rule {rule} takes it" if removed else f"rule {rule} took it before"
        )
    else:
        reason = pair.changed_by(path)
    return Row(offer.subject, changed.kind, before, after, path, offer.line, reason=reason)


def _moved(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the changes, flags that one module lost and another got told in one row."""
    gone = grouped(((row.subject, row.before), row) for row in rows if row.kind == "removed")
    moves = [
        (same.pop(0), row)
        for row in rows
        if row.kind == "added" and (same := gone.get((row.subject, row.after)))
    ]
    pairs = grouped(((old.path, new.path), new.subject) for old, new in moves)
    for (before, after), names in sorted(pairs.items()):
        why = Reason("reach", f"{len(names)} as they were")
        yield Row(", ".join(some(names)), "moved", before, after, after, reason=why)
    told = {id(row) for move in moves for row in move}
    yield from (row for row in rows if id(row) not in told)


def _fields(syntax: Syntax) -> Iterator[Offer]:
    """Yield fields of classes that derive from pydantic's, by the names of their bases."""
    (modules,) = syntax.matching(_MODELS)
    trees = ((module, tree) for module in modules if (tree := syntax.tree(module)) is not None)
    classes = [
        (module, n) for module, tree in trees for n in tree.body if isinstance(n, ast.ClassDef)
    ]
    models, known = {_ROOT}, 0
    while known < len(models):
        known = len(models)
        models |= {node.name for _, node in classes if models & set(map(last_name, node.bases))}
    for module, node in classes:
        for row in node.body if node.name in models else ():
            if isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name):
                text = ast.unparse(row.annotation) + (
                    f" = {ast.unparse(row.value)}" if row.value else ""
                )
                where, subject, parts = (
                    f"{module}.{node.name}",
                    f"{node.name}.{row.target.id}",
                    (("", text),),
                )
                yield Offer(
                    group=where,
                    subject=subject,
                    parts=parts,
                    module=module,
                    where=where,
                    line=row.lineno,
                )


def mechanism_changes(pair: Pair) -> Iterator[Row]:
    """New sites of dynamic mechanisms in files that differ: a site is new when its definition had
    no such text before, wherever in the file it stands.
    """
    for path, one, other in pair.differing():
        if other is None or not path.endswith(".py"):
            continue
        reason = Reason(
            "reach", "the file is new in the tree" if one is None else "the file kept less before"
        )
        if one is not None and pair.upstream_changed(path):
            reason = pair.changed_by(path)
        known = Counter(site[:3] for site in _sites(pair.old.read(path)))
        for kind, owner, text, line in _sites(pair.new.read(path)):
            if known[kind, owner, text]:
                known[kind, owner, text] -= 1
            else:
                yield Row(text, kind, after=owner, path=path, line=line, reason=reason)


def _sites(data: bytes) -> list[tuple[str, str, str, int]]:
    """Mechanism, definition around it, text and line."""
    tree = parsed(data) if _WORDS.search(data) else None
    pending: list[tuple[ast.AST, str]] = [(tree, "")] if tree is not None else []
    found: list[tuple[str, str, str, int]] = []
    while pending:
        node, owner = pending.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            owner = f"{owner}.{node.name}".strip(".")
            if node.name == "__getattr__":
                found.append(
                    ("answers for names that are not there", owner, "__getattr__", node.lineno)
                )
        elif isinstance(node, ast.Call) and (kind := _mechanism(node)):
            found.append((kind, owner, ast.unparse(node)[:120], node.lineno))
        pending += [(child, owner) for child in children(node)]
    return sorted(found, key=lambda row: row[3])


def _mechanism(node: ast.Call) -> str:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    # `model.eval()` evaluates no text.
    if name in _LOADS and not (name in ("eval", "exec") and receiver is not None):
        fixed = (
            name in ("import_module", "__import__")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        )
        return "imports a module by its text" if fixed else _LOADS[name]
    if name in _LOOKS:
        at = 0 if name in ("attrgetter", "methodcaller") else 1
        computed = len(node.args) > at and not isinstance(node.args[at], ast.Constant)
        return f"computed {name}" if computed else ""
    if name in _SPACES and receiver is None and not node.args:
        return f"{name}()"
    if name in _UNPICKLES and isinstance(receiver, ast.Name) and "pickle" in receiver.id:
        return "unpickles"
    if name in _OPERATORS and node.args:
        return "registers an operator"
    return ""
