"""What people see of the server: flags, endpoints, and the fields of what they send and get back."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from shrinker.program.interface.compare import Changed, changes
from shrinker.program.interface.offers import Offer, read_offered
from shrinker.program.interface.syntax import Syntax
from shrinker.report.diff.difference import Pair
from shrinker.report.diff.values import Reason, Row
from shrinker.report.pages import some
from shrinker.syntax.names import last_name
from shrinker.values.upstream import modules_of

_MODELS = re.compile(rb"\bBaseModel\b")
_ROOT = "BaseModel"


def offered_changes(pair: Pair) -> tuple[Iterable[Row], Iterable[Row]]:
    """Changes of flags, and of endpoints with the fields of their models; nothing when a tree is not there."""
    if pair.old.folder is None or pair.new.folder is None:
        return (), ()
    before, after = (Syntax(modules_of(side.files), side.read) for side in (pair.old, pair.new))
    old, new = read_offered(before), read_offered(after)

    def told(changed: Iterator[Changed]) -> Iterator[Row]:
        return (_change(pair, {**before.paths, **after.paths}, each) for each in changed)

    flags = _moved(told(changes(old.flags, new.flags)))
    fields = changes(_fields(before), _fields(after))
    return flags, (*told(changes(old.endpoints, new.endpoints)), *told(fields))


def _change(pair: Pair, paths: Mapping[str, str], changed: Changed) -> Row:
    """With the rule that took it, where the side's own interface report tells; else whether upstream changed the file."""
    offer = changed.new or changed.offer
    path, removed = paths[offer.module], changed.new is None
    whole = "; ".join(f"{label} {text}".strip() for label, text in offer.parts if text)
    before, after = {"removed": (whole, ""), "added": ("", whole)}.get(changed.kind, (changed.before, changed.after))
    report = (pair.new if removed else pair.old).report("interface.json") or {}
    rows = [*report.get("flags", ()), *report.get("endpoints", ())]
    rule = next((row["rule"] for row in rows if row["subject"] == offer.subject and row["path"] == path), "")
    if rule and removed:
        reason = Reason("rule", f"rule {rule} takes it")
    elif rule and not offer.subject.startswith("-"):
        reason = Reason("rule", f"rule {rule} took it before")
    else:
        reason = pair.changed_by(path)
    return Row(offer.subject, changed.kind, before, after, path, offer.line, reason=reason)


def _moved(changes: Iterable[Row]) -> Iterator[Row]:
    """The changes, flags that one module lost and another got told in one row."""
    rows = list(changes)
    gone: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.kind == "removed":
            gone[row.subject, row.before].append(row)
    pairs: dict[tuple[str, str], list[str]] = defaultdict(list)
    told: set[int] = set()
    for row in rows:
        if row.kind == "added" and (same := gone[row.subject, row.after]):
            other = same.pop(0)
            told |= {id(row), id(other)}
            pairs[other.path, row.path].append(row.subject)
    for (before, after), names in sorted(pairs.items()):
        why = Reason("reach", f"{len(names)} as they were")
        yield Row(", ".join(some(names)), "moved", before, after, after, reason=why)
    yield from (row for row in rows if id(row) not in told)


def _fields(syntax: Syntax) -> Iterator[Offer]:
    """Fields of classes that derive from pydantic's, by the names of their bases."""
    (modules,) = syntax.matching(_MODELS)
    trees = ((module, tree) for module in modules if (tree := syntax.tree(module)) is not None)
    classes = [(module, n) for module, tree in trees for n in tree.body if isinstance(n, ast.ClassDef)]
    models, known = {_ROOT}, 0
    while known < len(models):
        known = len(models)
        models |= {node.name for _, node in classes if models & set(map(last_name, node.bases))}
    for module, node in classes:
        for row in node.body if node.name in models else ():
            if isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name):
                text = ast.unparse(row.annotation) + (f" = {ast.unparse(row.value)}" if row.value else "")
                where, subject, parts = f"{module}.{node.name}", f"{node.name}.{row.target.id}", (("", text),)
                yield Offer(group=where, subject=subject, parts=parts, module=module, where=where, line=row.lineno)
