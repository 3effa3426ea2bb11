"""One generated tree that is compared, or its lock, with everything that its run left, each part read when it is asked for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.program.answers import SavedRun
from shrinker.program.reached import rescued
from shrinker.program.symbols.why import Symbols
from shrinker.report.place import GRAPH
from shrinker.syntax.bindings import lines_of
from shrinker.syntax.parsing import parsed
from shrinker.values.graph import Edge
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import UpstreamTree, module_name


@dataclass
class Side:
    """A generated tree, or only its lock."""

    name: str
    """As it was asked for."""
    manifest: Manifest
    folder: Path | None
    """The tree; None when only its lock is there."""
    reports: Path | None
    """Reports of the same run; None when there are none."""
    upstream: UpstreamTree | None
    """What it was generated from; None when that cannot be read."""
    _lines: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _defined: dict[tuple[str, bool], dict[str, int]] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> Mapping[str, EmittedFile]:
        """Files of the tree by path."""
        return {file.path: file for file in self.manifest.files}

    def read(self, path: str) -> bytes:
        """Bytes of a generated file; empty when the tree is not there or has no such file."""
        return (self.folder / path).read_bytes() if self.folder is not None and path in self.files else b""

    def read_upstream(self, path: str) -> bytes:
        """Bytes of upstream's file; empty where it has none or cannot be read."""
        return self.upstream.read(path) if self.upstream is not None and path in self.upstream.by_path else b""

    def upstream_hash(self, path: str) -> str | None:
        """SHA-256 of upstream's file; None when upstream has none or cannot be read."""
        if self.upstream is not None:
            file = self.upstream.by_path.get(path)
            return file.sha256 if file is not None else None
        kept = self.files.get(path)
        return kept.sha256 if kept is not None and not kept.changed else None

    def has_upstream(self, path: str) -> bool | None:
        """Whether upstream has the file; None when nothing tells."""
        if self.upstream is not None:
            return path in self.upstream.by_path
        if path in self.files:
            return self.files[path].lines_before > 0 or not self.files[path].changed
        return path in self.graph["removed"] if self.graph else None

    def upstream_lines(self, path: str) -> list[str]:
        """Lines of upstream's file without the blanks around them; none where it cannot be read."""
        if path not in self._lines:
            text = self.read_upstream(path).decode("utf-8", "replace")
            self._lines[path] = [row.strip() for row in text.split("\n")]
        return self._lines[path]

    def line_of(self, path: str, name: str, *, generated: bool = False) -> int:
        """Where upstream's file, or the generated one, binds a dotted name; 0 where it does not, or cannot be read."""
        if (path, generated) not in self._defined:
            tree = parsed(self.read(path) if generated else self.read_upstream(path))
            self._defined[path, generated] = lines_of(tree, imports=False) if tree is not None else {}
        module = module_name(path) or path.removesuffix(".py").replace("/", ".")
        return self._defined[path, generated].get(name.removeprefix(f"{module}."), 0)

    @cached_property
    def _run(self) -> SavedRun | None:
        return SavedRun(self.reports / GRAPH) if self.reports is not None else None

    @property
    def graph(self) -> dict[str, Any]:
        """The saved graph; empty without reports."""
        return self._run.data if self._run is not None else {}

    @property
    def symbols(self) -> Symbols | None:
        """The saved search of symbols; None without one."""
        return self._run.symbols if self._run is not None else None

    def chain(self, path: str) -> tuple[Edge, ...]:
        """The best chain to a kept file; empty where there is none."""
        return self._run.files.to(path) if self._run is not None else ()

    @cached_property
    def live_nodes(self) -> frozenset[str]:
        """Ends of the edges of the file graph and of that of symbols, there without lines in the names of statements."""
        nodes = self.graph.get("nodes", ())
        files = {nodes[end] for edge in self.graph.get("edges", ()) for end in edge[:2]}
        pairs = self.symbols.edges() if self.symbols is not None else ()
        return frozenset(files.union(unnumbered(end) for pair in pairs for end in pair))

    @cached_property
    def rescued(self) -> Mapping[str, str]:
        """Path of each file that a rule removes and that stays, to what needs it."""
        return rescued(self.graph) if self.graph else {}

    def report(self, name: str) -> Any:
        """A JSON report; None when it is not there or not JSON."""
        try:
            return json.loads((self.reports / name).read_text("utf-8")) if self.reports is not None else None
        except (OSError, ValueError):
            return None

    @cached_property
    def rules(self) -> dict[str, list[str]] | None:
        """Kind and hash of each rule; None for reports of an older shrinker."""
        found = self.report("rules.json")
        return found["rules"] if isinstance(found, dict) and isinstance(found.get("rules"), dict) else None


def unnumbered(node: str) -> str:
    """A node's name; a statement that binds nothing is named by its line, which moves."""
    head, _, last = node.rpartition(".")
    return f"{head}.#" if last.isdigit() else node
