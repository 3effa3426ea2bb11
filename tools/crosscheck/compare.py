"""Run the tools on both trees and explain what is new."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from shrinker.values.upstream import UpstreamTree
from tools.crosscheck.explain import Written, explain_all, names_of, taken
from tools.crosscheck.tools import COUNTED, PACKAGE, TOOLS, Finding, ImportGraph, import_graph

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
            "findings": {tool: dict(zip(names, pair, strict=True)) for tool, pair in self.counts.items()},
            "imports": dict(zip(names, self.imports, strict=True)),
            "new": [{name: getattr(item, name) for name in shown} for item in self.new],
            "unexplained": len(self.unexplained),
        }

    def lines(self, everything: bool) -> Iterator[str]:
        """What a person reads; with `everything` explained findings too."""
        new, open_ = (Counter(item.tool for item in items) for items in (self.new, self.unexplained))
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
    tree: UpstreamTree, out: Path, graph: Mapping[str, Any], jobs: int, progress: Callable[[str], None] = lambda _: None
) -> CrossCheck:
    """What the tools find in the generated tree `out` and not in upstream; `graph` is graph.json of the run that made it.
    Raises InputError where a tool is missing, failed or took too long."""
    roots = (tree.root.absolute(), out.absolute())
    with ThreadPoolExecutor(jobs) as pool:
        # The slowest first.
        running = {tool.__name__: [pool.submit(tool, root) for root in roots] for tool in reversed(TOOLS)}
        graphs = [pool.submit(import_graph, root) for root in roots]
        found: dict[str, tuple[list[Finding], list[Finding]]] = {}
        for name, (before, after) in running.items():
            found[name] = before.result(), after.result()
            progress(name)
        imports = graphs[0].result(), graphs[1].result()
        progress("pydeps")
    new = [item for name in sorted(found) for item in _new(*found[name])]
    theirs = [path for path in tree.by_path if path.startswith(PACKAGE + "/") and path.endswith(".py")]
    written = Written(tree.root, out, graph, theirs, names_of(new))
    explained = sorted(explain_all(new, out, written, graph["kept"]), key=attrgetter("tool", "path", "line", "text"))
    counts = {name: (len(before), len(after)) for name, (before, after) in sorted(found.items())}
    return CrossCheck(counts, tuple(explained), imports)


def _new(before: Iterable[Finding], after: Iterable[Finding]) -> list[Finding]:
    """Findings of `after` beyond those of `before`: the same one twice counts twice."""
    known = Counter(map(_same, before))
    return [item for item in after if not taken(_same(item), known)]
