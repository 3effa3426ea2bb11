"""Small programs for the graph tests: a tree in a folder, a fold that decides nothing, what is kept, and the programs of `graphs.txt`."""

import ast
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from shrinker.facts.build import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.program.build import build_graph
from shrinker.ruleset import Keep, Remove, Root, Ruleset
from shrinker.values.folded import DynamicSite, FoldedModule, ImportSite, StringSite
from shrinker.values.graph import Graph
from shrinker.values.upstream import DeclaredPackage, Identity, SourceFile, UpstreamTree, module_name

_MECHANISMS = {
    "iter_modules": "walk",
    "walk_packages": "walk",
    "import_module": "import_module",
    "spec_from_file_location": "spec_from_file",
}


def tree_of(root: Path, paths: Iterable[str]) -> UpstreamTree:
    """A tree value over files that lie under `root`."""
    files = []
    for path in sorted(paths):
        data = (root / path).read_bytes()
        files.append(SourceFile(path, hashlib.sha256(data).hexdigest(), len(data)))
    return UpstreamTree(
        identity=Identity("path", "path:small", None, None, False),
        root=root,
        files=tuple(files),
        declared=DeclaredPackage("sglang", ">=3.10", (), {}, {}),
        by_path={file.path: file for file in files},
    )


def write_tree(root: Path, sources: Mapping[str, str]) -> UpstreamTree:
    """Write files; a key without a folder outside lies below ``python/sglang/``."""
    paths = []
    for name, text in sources.items():
        path = name[1:] if name.startswith("/") else f"python/sglang/{name}"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        paths.append(path)
    return tree_of(root, paths)


def plain_fold(tree: UpstreamTree) -> Callable[[Sequence[str]], Iterable[FoldedModule]]:
    """A fold without facts: what the code says is what is left of it."""
    return lambda paths: [read_module(tree, path) for path in paths]


def read_module(tree: UpstreamTree, path: str) -> FoldedModule:
    """One module as folding without facts would return it."""
    source = tree.read(path)
    dotted = module_name(path) or ""
    is_package = path.endswith("__init__.py")
    visitor = _Reader(dotted if is_package else dotted.rpartition(".")[0])
    syntax = ast.parse(source)
    visitor.visit(syntax)
    return FoldedModule(
        path=path,
        module=dotted,
        is_package=is_package,
        sha256=tree.by_path[path].sha256,
        lines=source.count(b"\n"),
        edits=(),
        digest="",
        decisions=(),
        imports=tuple(visitor.imports),
        strings=tuple(visitor.strings),
        dynamic=tuple(visitor.dynamic),
        defines=tuple(
            (node.name, node.lineno) for node in syntax.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
        ),
        uncertain=(),
    )


class _Reader(ast.NodeVisitor):
    def __init__(self, package: str) -> None:
        self.package = package
        self.imports: list[ImportSite] = []
        self.strings: list[StringSite] = []
        self.dynamic: list[DynamicSite] = []
        self._kind = "import"
        self._guarded = False

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.imports.append(ImportSite(node.lineno, alias.name, None, self._kind, self._guarded))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self.package
        for _ in range(node.level - 1):
            base = base.rpartition(".")[0]
        module = ".".join(part for part in (base if node.level else "", node.module) if part)
        for alias in node.names:
            self.imports.append(ImportSite(node.lineno, module, alias.name, self._kind, self._guarded))

    def _in(self, kind: str, nodes: Iterable[ast.AST]) -> None:
        before, self._kind = self._kind, kind
        for node in nodes:
            self.visit(node)
        self._kind = before

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._in("import-local", [*node.decorator_list, node.args, *_body(node)])

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._in(self._kind, [*node.bases, *node.decorator_list, *_body(node)])

    def visit_Module(self, node: ast.Module) -> None:
        self._in("import", _body(node))

    def visit_If(self, node: ast.If) -> None:
        self._in("import-type" if "TYPE_CHECKING" in ast.unparse(node.test) else self._kind, node.body)
        self._in(self._kind, [node.test, *node.orelse])

    def visit_Try(self, node: ast.Try) -> None:
        before = self._guarded
        self._guarded = any("ImportError" in ast.unparse(h.type) for h in node.handlers if h.type)
        self._in(self._kind, node.body)
        self._guarded = before
        self._in(self._kind, [*node.handlers, *node.orelse, *node.finalbody])

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _MECHANISMS:
            target = _text(node.args[0]) if node.args else None
            text = ast.unparse(node)
            self.dynamic.append(DynamicSite(node.lineno, _MECHANISMS[name], text, target))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.strings.append(StringSite(node.lineno, node.value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.strings.append(StringSite(node.lineno, _text(node) or "*"))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        text = _text(node)
        if text is not None:
            self.strings.append(StringSite(node.lineno, text))
        self.generic_visit(node)


def _body(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return f"{left or '*'}{right or '*'}" if left or right else None
    return None


WHY = "a rule of a test"
_RULES = {"Keep": Keep, "Remove": Remove, "Root": Root, "WHY": WHY}
_RULES["NPU"] = {"id": "npu", "why": WHY, "feature": "NPU"}
_FILE = re.compile(r"^-- (.+?) -- ?(.*)\n", re.MULTILINE)


def graph_of(
    folder: Path,
    sources: Mapping[str, str],
    roots: tuple[str, ...] = ("sglang.main",),
    *,
    facts: bool = False,
    **rules: Any,
) -> Graph:
    """Build the graph of a small tree, folded by the facts or not at all; `rules` are fields of `Ruleset`."""
    tree = write_tree(folder, sources)
    own = rules.pop("more_roots", ())
    ruleset = Ruleset(roots=(Root(id="entry", why=WHY, modules=roots), *own), **rules)
    if not facts:
        return build_graph(tree, ruleset, plain_fold(tree))[0]
    with FoldEngine(tree, build_environment(tree, ruleset, jobs=1), jobs=1) as engine:
        return build_graph(tree, ruleset, engine.fold)[0]


def read_programs() -> dict[str, str]:
    """The programs of `graphs.txt` by their titles."""
    texts = (Path(__file__).parent / "graphs.txt").read_text("utf-8").split("\n== ")[1:]
    return {title: text for title, _, text in (text.partition("\n") for text in texts)}


def outcome(folder: Path, program: str) -> tuple[dict[str, str], dict[str, str]]:
    """Build the graph of a program; what becomes of each file, and what should."""
    head, *parts = _FILE.split(f"{program}\n")
    paths, wanted, texts = (parts[n::3] for n in range(3))
    settings = dict(line.split(": ", 1) for line in head.splitlines())
    rules = eval(f"dict({settings.get('rules', '')})", _RULES)
    roots = (settings.get("roots", "sglang.main"),)
    graph = graph_of(folder, dict(zip(paths, texts, strict=True)), roots, facts="folded" in settings, **rules)
    found, uncertain = {}, doubts(graph)
    for path, want in zip(paths, wanted, strict=True):
        place = path[1:] if path.startswith("/") else f"python/sglang/{path}"
        if gone := graph.removed.get(place):
            found[path] = "gone: " + (gone.reason if gone.rule == "unreachable" else gone.rule)
        elif path in uncertain:
            found[path] = f"uncertain: {uncertain[path]}"
        else:
            found[path] = f"because: {graph.kept[place]}" if want else ""
    return found, dict(zip(paths, wanted, strict=True))


def names(graph: Graph) -> set[str]:
    """Kept paths below the package, in short."""
    return {path.removeprefix("python/sglang/") for path in graph.kept}


def doubts(graph: Graph) -> dict[str, str]:
    """Uncertain paths below the package to their reasons."""
    return {item.path.removeprefix("python/sglang/"): item.reason for item in graph.uncertain}


def edge_kinds(graph: Graph, dst: str) -> set[str]:
    """Kinds of the edges into a node."""
    return {edge.kind for edge in graph.edges if edge.dst == dst}
