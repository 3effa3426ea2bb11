"""Run the tools on both trees and explain what is new."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from pathlib import Path
from typing import Any

from shrinker.values.upstream import UpstreamTree
from tools.crosscheck.explain import Written, explain_all, names_of
from tools.crosscheck.finding import CrossCheck, Finding
from tools.crosscheck.tools import PACKAGE, TOOLS, import_graph

_same = attrgetter("path", "kind", "text")


def cross_check(
    tree: UpstreamTree,
    out: Path,
    graph: Mapping[str, Any],
    *,
    jobs: int,
    progress: Callable[[str], None] = lambda what: None,
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
    found: list[Finding] = []
    for item in after:
        if not known[_same(item)]:
            found.append(item)
        else:
            known[_same(item)] -= 1
    return found
