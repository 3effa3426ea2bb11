"""Who may read a name that a module binds and does not use: by import, by attribute, or by looking at all its names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from shrinker.check.orphaned.sources import Sources

_OWN_NAMES = frozenset({"globals", "eval", "exec"})
_COMPUTING = re.compile(
    r"\b(?:import_module|__import__|spec_from_file_location|module_from_spec|exec_module)\b|\bsys\.modules\b"
)


class Readers:
    """Answers for one generated tree; every answer names a place."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._computing: list[str] | None = None
        self._stars: dict[str, list[tuple[str, int]]] | None = None

    def reader(self, path: str, name: str) -> str | None:
        """In words, who may read a name of a file's module level; None when nobody can.

        Args:
            path: the file that binds it.
            name: as it is bound.
        """
        looking = self._looks_at_own(path)
        if looking:
            return f"{path}:{looking} looks at names of its own module"
        module = self._sources.name(path)
        if module is None:
            return "code outside the package may read it"
        said = self._said(path, name)
        if said is not None:
            return said
        line = self._bare(path, name)
        if line:
            return f"line {line} reads another `{name}`: names are compared as they are written, not by their scopes"
        for holder, star in self._holders(module, name):
            found = self._named(holder, name, path)
            if found is None and star:
                line = self._bare(self._sources.modules[holder], name)
                found = f"{self._sources.modules[holder]}:{line} reads it" if line else None
            if found is not None:
                return f"{star}{found}"
        return self._computed(path, name)

    def _looks_at_own(self, path: str) -> int:
        for node in ast.walk(self._sources.tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OWN_NAMES:
                return node.lineno
            if isinstance(node, ast.Attribute) and _dotted(node) == "sys.modules":
                return node.lineno
        return 0

    def _said(self, path: str, name: str) -> str | None:
        """A string of the file itself that says the name: it may be an annotation."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        documentation = {id(node.value) for node in ast.walk(self._sources.tree(path)) if isinstance(node, ast.Expr)}
        for node in ast.walk(self._sources.tree(path)):
            text = node.value if isinstance(node, ast.Constant) and id(node) not in documentation else None
            if isinstance(text, str) and word.search(text):
                return f"the string of line {getattr(node, 'lineno', 0)} says its name, as an annotation does"
        return None

    def _holders(self, module: str, name: str) -> Iterator[tuple[str, str]]:
        """Modules that have the name: the module itself, and those that import all names of it."""
        seen = {module}
        stack = [(module, "")]
        while stack:
            holder, star = stack.pop()
            yield holder, star
            if name.startswith("_"):
                continue
            for importer, line in self._starred().get(holder, ()):
                if importer not in seen and importer in self._sources.modules:
                    seen.add(importer)
                    where = f"{self._sources.modules[importer]}:{line} imports all names, and "
                    stack.append((importer, star or where))

    def _starred(self) -> dict[str, list[tuple[str, int]]]:
        if self._stars is None:
            self._stars = {}
            for path, _ in self._sources.holding("*", r"^\s*from\b[^\n]*\bimport\s*\*"):
                importer = self._sources.name(path) or ""
                for node in self._sources.imports(path):
                    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                        self._stars.setdefault(self._sources.source(node, path), []).append((importer, node.lineno))
        return self._stars

    def _named(self, module: str, name: str, own: str) -> str | None:
        """Who imports the name of a module, reads it as the module's attribute, or hands the module on as a value."""
        plain = module.rpartition(".")[2]
        last = re.escape(plain)
        file = f"{plain}.py"
        word = rf"\b{re.escape(name)}\b"
        handed = ""
        whole = re.compile(rf"import\b[^\n]*\b{last}\b(?!\.)|^\s+{last}(?:\s+as\s+\w+)?,?\s*$", re.MULTILINE)
        for path, _ in self._sources.holding(plain, rf"\b{last}\b"):
            text = self._sources.text(path)
            said_whole = module in text or file in text
            if not said_whole and (name not in text or not re.search(word, text)) and not whole.search(text):
                # It neither names the name nor the module as a whole.
                continue
            bound: set[str] = set()
            for node in self._sources.imports(path):
                if isinstance(node, ast.ImportFrom):
                    source = self._sources.source(node, path)
                    for alias in node.names:
                        if source == module and alias.name == name and path != own:
                            return f"{path}:{node.lineno} imports it"
                        if f"{source}.{alias.name}" == module:
                            bound.add(alias.asname or alias.name)
                else:
                    bound.update(alias.asname or module for alias in node.names if alias.name == module)
            if said_whole:
                for part in ast.walk(self._sources.tree(path)):
                    said = part.value if isinstance(part, ast.Constant) else None
                    if isinstance(said, str) and module in said and re.search(word, said):
                        return f"{path}:{getattr(part, 'lineno', 0)} names it in a string"
                    if said in (module, file):
                        handed = handed or f"{path}:{getattr(part, 'lineno', 0)} names the module in a string"
            if bound:
                read, value = _uses(self._sources.tree(path), bound, name)
                if read:
                    return f"{path}:{read} reads it as an attribute"
                handed = handed or (f"{path}:{value} hands the module on as a value" if value else "")
        if handed:
            asked = self._asked_anywhere(name)
            if asked:
                return f"{handed}, and {asked}"
        return None

    def _bare(self, path: str, name: str) -> int:
        """Line that reads a name of this spelling in a file, 0 when none does."""
        for node in ast.walk(self._sources.tree(path)):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                return node.lineno
        return 0

    def _asked_anywhere(self, name: str) -> str | None:
        """A place that reads an attribute of the name, or of a computed name that may be this one, of anything."""
        for path, line in self._sources.holding(name, rf"\.{re.escape(name)}\b|[\"']{re.escape(name)}[\"']"):
            return f"{path}:{line} reads `{name}` of something that is not told"
        for path in self._sources.paths:
            line = _computes(self._sources, path, name)
            if line:
                return f"the name that {path}:{line} puts together may be it"
        return None

    def _computed(self, own: str, name: str) -> str | None:
        """Code that imports modules of computed names and may read the name of one."""
        if self._computing is None:
            self._computing = [p for p in self._sources.paths if _COMPUTING.search(self._sources.text(p))]
        module = self._sources.name(own) or ""
        packages = [module[:at] for at, letter in enumerate(module) if letter == "." and "." in module[:at]]
        reads = re.compile(rf"\.{re.escape(name)}\b|[\"'](?:[\w.:]+[.:])?{re.escape(name)}[\"']")
        for path in self._computing:
            text = self._sources.text(path)
            found = reads.search(text) if name in text else None
            line = text.count("\n", 0, found.start()) + 1 if found is not None else 0
            if line:
                return f"{path}:{line} reads `{name}` in code that imports modules of computed names"
            line = _computes(self._sources, path, name)
            if line:
                return f"{path}:{line} imports modules of computed names and puts together a name that may be it"
        for path in self._computing:
            text = self._sources.text(path)
            walked = next((p for p in packages if f'"{p}"' in text or f"'{p}'" in text), None)
            asked = self._asked_anywhere(name) if walked else None
            if asked:
                return f"{path} imports modules of {walked} by computed names, and {asked}"
        return None


def _uses(tree: ast.Module, bound: set[str], name: str) -> tuple[int, int]:
    """Line that reads the name as an attribute of one of these modules, and line that uses such a module as a value."""
    bases: set[int] = set()
    value = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            bases.add(id(node.value))
            if node.attr == name and _dotted(node.value) in bound:
                return node.lineno, 0
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and id(node) not in bases
            and _dotted(node) in bound
        ):
            value = value or node.lineno
    return 0, value


def _computes(sources: Sources, path: str, name: str) -> int:
    """Line of a string with a computed part in a file that may make the name, 0 when there is none."""
    return next((line for pattern, line in sources.put_together(path) if pattern.fullmatch(name)), 0)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
