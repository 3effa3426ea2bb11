"""Run the tools on both trees, and a reason for each finding that only the generated tree has.

A finding is right when what it says is a consequence of code that went by a rule: the last use of a
name, or what gave it a value. What stays all the same (a name whose value may do something, a
definition of which no rule speaks) is harmless.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from operator import attrgetter
from pathlib import Path
from typing import Any

from shrinker.cache import Cache, pack, unpack
from shrinker.cache.layer import tool_identity
from shrinker.program.decided import deciding
from shrinker.source.cache import default_folder
from shrinker.values.folded import Decision
from shrinker.values.upstream import UpstreamTree
from tools.crosscheck.tools import COUNTED, PACKAGE, TOOLS, Finding, ImportGraph, pydeps

_CONDITIONS = frozenset(
    {"redundant if-condition", "unsatisfiable 'if' condition", "unsatisfiable 'while' condition"}
)
_TYPES = re.compile(r"\b[A-Z]\w+\b")
_WORDS = re.compile(r"[^\W\d]\w*")
_SETS = '(?:^\\s*(?:async\\s+def|def|class)\\s+{name}\\b|\\b{name}\\s*(?::[^=]*)?=(?!=)|import.*\\b{name}\\b|"{name}")'
_same = attrgetter("path", "kind", "text")


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """What the tools say of a generated tree beside its upstream."""

    counts: dict[str, tuple[int, int]]
    """Findings by tool, in upstream and in the generated tree."""
    new: tuple[Finding, ...]
    """Sorted; those that upstream does not have."""
    imports: tuple[ImportGraph, ImportGraph]

    @property
    def unexplained(self) -> tuple[Finding, ...]:
        """New findings without a reason."""
        return tuple(item for item in self.new if not item.reason)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        names = ("upstream", "generated")
        shown = ("tool", "path", "line", "kind", "text", "reason")
        return {
            "findings": {
                tool: dict(zip(names, pair, strict=True)) for tool, pair in self.counts.items()
            },
            "imports": dict(zip(names, self.imports, strict=True)),
            "new": [{name: getattr(item, name) for name in shown} for item in self.new],
            "unexplained": len(self.unexplained),
        }

    def lines(self, everything: bool) -> Iterator[str]:
        """Yield what a person reads; with `everything` explained findings too."""
        new, open_ = (
            Counter(item.tool for item in items) for items in (self.new, self.unexplained)
        )
        yield f"{'':10}{'upstream':>10}{'generated':>11}{'new':>7}{'unexplained':>13}"
        for tool, (before, after) in self.counts.items():
            yield f"{tool:10}{before:>10,}{after:>11,}{new[tool]:>7,}{open_[tool]:>13,}"
        for name, said in COUNTED.items():
            before, after = (graph[name] for graph in self.imports)
            yield f"{'pydeps' if name == 'modules' else '':10}{before:>10,}{after:>11,}  {said}"
        shown = self.new if everything else self.unexplained
        yield from [""] if shown else []
        for item in shown:
            reason = f"\n    {item.reason}" if item.reason else ""
            yield f"{item.path}:{item.line}: {item.tool} {item.kind}: {item.text}{reason}"


def cross_check(
    tree: UpstreamTree,
    out: Path,
    graph: Mapping[str, Any],
    jobs: int,
    progress: Callable[[str], None] = lambda _: None,
) -> CrossCheck:
    """Return what the tools find in the generated tree `out` and not in upstream; `graph` is
    graph.json of the run that made it. Raises InputError where a tool is missing, failed or took
    too long.
    """
    installed = sorted(f"{each.name} {each.version}" for each in distributions())
    layer = Cache(default_folder()).layer("cross-check", tool_identity("tools"), *installed)
    files = [
        f"{path} {file.sha256}" for path, file in tree.by_path.items() if path.startswith("python/")
    ]
    keys = {tool.__name__: layer.key(tool.__name__, *files) for tool in TOOLS}
    # Two thirds of the time are upstream's, which stays as it is while the rules change.
    known = layer.load(keys)
    found: dict[str, tuple[Any, Any]] = {}
    with ThreadPoolExecutor(jobs) as pool:
        fresh = {
            t.__name__: pool.submit(t, tree.root.absolute())
            for t in TOOLS
            if t.__name__ not in known
        }
        for name, after in [(tool.__name__, pool.submit(tool, out.absolute())) for tool in TOOLS]:
            found[name] = (
                fresh[name].result() if name in fresh else unpack(known[name]),
                after.result(),
            )
            progress(name)
    layer.save(keys, {name: pack(found[name][0]) for name in fresh})
    imports = found.pop(pydeps.__name__)
    new = [item for name in sorted(found) for item in _new(*found[name])]
    theirs = [
        path for path in tree.by_path if path.startswith(PACKAGE + "/") and path.endswith(".py")
    ]
    written = Written(tree.root, out, graph, theirs, names_of(new))
    explained = sorted(
        explain_all(new, out, written, graph["kept"]),
        key=attrgetter("tool", "path", "line", "text"),
    )
    counts = {name: (len(before), len(after)) for name, (before, after) in sorted(found.items())}
    return CrossCheck(counts, tuple(explained), imports)


def _new(before: Iterable[Finding], after: Iterable[Finding]) -> list[Finding]:
    """Return findings of `after` beyond those of `before`: the same one twice counts twice."""
    known = Counter(map(_same, before))
    return [item for item in after if not taken(_same(item), known)]


class Written:
    """Upstream's lines by the names in them: those that are gone, and those that are in the
    generated tree.
    """

    def __init__(
        self,
        upstream: Path,
        out: Path,
        graph: Mapping[str, Any],
        paths: Collection[str],
        names: set[str],
    ):
        """Of both trees' roots, graph.json of the run, the Python files of upstream's package, and
        names that will be asked for.
        """
        self._graph = graph
        self._gone = defaultdict[str, list[tuple[str, int, str]]](list)
        self._kept = defaultdict[str, list[tuple[str, int, str]]](list)
        for path in sorted(paths):
            text, generated = (upstream / path).read_text("utf-8", "replace"), out / path
            if not (here := names.intersection(_WORDS.findall(text))):
                continue
            left = (
                generated.read_text("utf-8", "replace").split("\n") if generated.is_file() else []
            )
            kept = Counter(line.strip() for line in left)
            gone = [
                (n, line)
                for n, line in enumerate(text.split("\n"), 1)
                if not taken(line.strip(), kept)
            ]
            for found, lines in ((self._kept, enumerate(left, 1)), (self._gone, gone)):
                for number, line in lines:
                    for name in here.intersection(_WORDS.findall(line)):
                        found[name].append((path, number, line))

    def use(self, name: str, path: str, pattern: str = "") -> str:
        """Return a line with the name that is gone, the same file's first, and why; empty when
        there is none.
        """
        places = sorted(self._gone[name], key=lambda place: place[0] != path)
        return next(
            (
                why
                for at, line, text in places
                if re.search(pattern, text) and (why := self._why(at, line))
            ),
            "",
        )

    def setting(self, name: str, path: str) -> str:
        """Return the same for a line that gives the name a value."""
        return self.use(name, path, _SETS.format(name=re.escape(name)))

    def set_in_tree(self, name: str) -> str:
        """Return a line of the generated tree that gives the name a value; empty when there is
        none.
        """
        sets = re.compile(_SETS.format(name=re.escape(name)))
        return next(
            (f"{path}:{line}" for path, line, text in self._kept[name] if sets.search(text)), ""
        )

    def _why(self, path: str, line: int) -> str:
        if path in self._graph["removed"]:
            rule, reason = self._graph["removed"][path][:2]
            return f"{path}:{line} of upstream, a file that is removed ({rule}: {reason})"
        decision = deciding(
            [Decision(*row) for row in self._graph["decisions"].get(path, ())], line
        )
        if decision is None:
            return ""
        how = f"{decision.kind} `{decision.text[:60]}`: {decision.outcome}"
        return f"{path}:{line} of upstream, gone by {decision.rule} ({how})"


def taken(one: Hashable, known: Counter[Any]) -> bool:
    """Tell whether one of the known ones stands for this one, and then for no other."""
    known[one] -= 1
    return known[one] >= 0


def names_of(findings: Collection[Finding]) -> set[str]:
    """Return names whose fate `explain_all` asks for."""
    return {name for item in findings for name in (*_subjects(item), *_TYPES.findall(item.text))}


def explain_all(
    findings: Collection[Finding], out: Path, written: Written, kept: Collection[str]
) -> Iterator[Finding]:
    """Yield each of the findings that upstream does not have with its reason; `kept`: paths of
    upstream that the tree `out` keeps.
    """
    upstream = frozenset(kept)
    for item in findings:
        own = item.path not in upstream
        yield replace(
            item,
            reason="a file that shrinker writes itself" if own else _reason(item, out, written),
        )


def _subjects(item: Finding) -> list[str]:
    return [part for part in re.split(r"\W+", item.subject) if part]


def _reason(item: Finding, out: Path, written: Written) -> str:
    name = next(reversed(_subjects(item)), "")
    if item.kind in _CONDITIONS:
        return _asked_beside(out / item.path, item.line)
    if item.tool in ("ruff", "vulture"):
        use = written.use(name, item.path) if name else ""
        return f"last used at {use}" if use else ""
    if item.kind == "unbound-name":
        return _never_taken(out / item.path, name)
    if item.kind == "missing-attribute" and name:
        if place := written.set_in_tree(name):
            return f"set at {place}; what upstream's types leave open is known here"
        setting = written.setting(name, item.path)
        return (
            f"set only at {setting}: the read is not reached"
            if setting
            else _narrowed(item, written)
        )
    return _narrowed(item, written)


def _never_taken(file: Path, name: str) -> str:
    """Return an arm that binds no name, and never runs: a name bound there is `None`, and that is
    asked.
    """
    for node in ast.walk(ast.parse(file.read_bytes(), str(file))):
        match node:
            case ast.If(
                test=ast.NamedExpr(value=ast.Constant(value=value)) as test, orelse=others
            ) if not value:
                parts = (part for other in others for part in ast.walk(other))
                if any(isinstance(part, ast.Name) and part.id == name for part in parts):
                    return (
                        f"`{ast.unparse(test)}` is false, so that the other arm, which binds "
                        f"`{name}`, always runs"
                    )
    return ""


def _asked_beside(file: Path, line: int) -> str:
    """Return a condition that the facts decide, beside something that must be asked all the
    same.
    """
    for node in ast.walk(ast.parse(file.read_bytes(), str(file))):
        test = getattr(node, "test", None)
        if isinstance(test, ast.BoolOp) and getattr(node, "lineno", 0) == line:
            asked = [
                part
                for part in ast.walk(test)
                if isinstance(part, ast.Call | ast.Await | ast.NamedExpr)
            ]
            if asked and any(isinstance(part, ast.Constant) for part in test.values):
                return (
                    f"decided, and `{ast.unparse(asked[0])}` is asked all the same: it may do "
                    "something"
                )
    return ""


def _narrowed(item: Finding, written: Written) -> str:
    """Return a type that is known now, since other arms of it are gone."""
    uses = ((name, written.use(name, item.path)) for name in _TYPES.findall(item.text))
    return next((f"`{name}` is one of fewer types: {use}" for name, use in uses if use), "")
