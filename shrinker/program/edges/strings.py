"""Strings that name a module: ``"pkg.mod"``, ``"pkg.mod.Name"``, ``"pkg.mod:attr"``, ``-m
pkg.mod``, a ``.py`` path, and the patterns that `import_module` receives; and rows of tables that
say where an implementation is: each names it once kept code asks for its key.

In a pattern each computed part is ``*``. A pattern in a plain string stands for one component; one
handed to `import_module` may hold dots.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

from shrinker.program.nodes import Found, ModuleIndex, by_base, nearest, path_node
from shrinker.syntax.imports import absolute_written, package_of
from shrinker.values.folded import FoldedModule, StringSite
from shrinker.values.upstream import PACKAGE

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PATTERN = re.compile(r"[\w*]+(?:\.[\w*]+)*")
_COMMAND = re.compile(r"(?:^|\s)-m[\s=]+([A-Za-z_]\w*(?:\.\w+)+)")
DYNAMIC = ("import_module", "spec_from_file")
_PLACE = re.compile(r"\{[^{}]*\}|%[sdr]")
"""What a text leaves open for `format` or ``%``."""
_LITERALS = 3
_TOP = f"{PACKAGE}."
_COMPILED_NAME = re.compile(rb"(?=(sglang(?:\.[A-Za-z_]\w*)+))", re.ASCII)
"""Found also within another one, whose end it is."""
Row = tuple[FoldedModule, StringSite, Found]


class StringEdges:
    """Resolves strings against one tree; answers are remembered, since the same string stands in
    many modules. And the rows of the modules seen so far, with what these spell besides.
    """

    def __init__(self, index: ModuleIndex) -> None:
        self._said: set[str] = set()
        self._patterns = defaultdict[str, set[str]](set)
        """Texts of which a part is computed, by the first and by the last word that is spelled out.
        """
        self._rows: list[tuple[FoldedModule, StringSite]] = []
        self._index = index
        self._py_by_base = by_base(index.paths.values())
        self._all = "\n".join(sorted({*index.paths, *index.compiled}))
        self._resolve = lru_cache(maxsize=None)(lambda text: tuple(self._resolved(text)))

    def find(self, module: FoldedModule) -> Iterator[Found]:
        """Yield edges of a module's strings and of its dynamic imports; its rows and texts are
        remembered.
        """
        for site in module.strings:
            if site.key:
                # It names something for who asks for its key.
                self._rows.append((module, site))
                continue
            if "*" in site.text:
                for word in _ends(site.text):
                    self._patterns[word].add(site.text)
            else:
                self._said.add(site.text)
            yield from self._of(site)
            if site.text.endswith(".py"):
                yield from self._script(module, site.text, site.line)
        for call in (call for call in module.dynamic if call.mechanism in DYNAMIC):
            if not (call.target and call.target.strip("*.")):
                yield from self._relative_strings(module)
            elif call.target.endswith(".py"):
                yield from self._script(module, call.target, call.line)
            else:
                yield from self._target(module, call.target, call.line)

    def _of(self, site: StringSite) -> Iterator[Found]:
        """Yield edges of one string that is no path of a script."""
        for node, weak in self._resolve(site.text):
            yield Found(node, "string", site.line, weak)

    def _resolved(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield nodes that a text names, each with why that is a guess."""
        if "-m" in text and " " in text:
            # A command line in a message or a shell string.
            for name in _COMMAND.findall(text):
                yield from (
                    (node, f"command line `-m {name}` in a string") for node in self._exact(name)
                )
            return
        dotted, _, attribute = _PLACE.sub("*", text).partition(":")
        if not text.startswith(_TOP) or (
            attribute and not attribute.replace(".", "_").isidentifier()
        ):
            return
        if "*" in dotted:
            pattern = re.sub(r"\*+", "*", dotted)
            yield from (
                (node, f"pattern `{pattern}` in a string")
                for node in self._matching(pattern, "[^.\n]*")
            )
        elif _DOTTED.fullmatch(dotted):
            yield from ((node, "") for node in self._exact(dotted))

    def _exact(self, dotted: str) -> Iterator[str]:
        found, rest = self._index.prefix(dotted)
        # Two components may be a class and its method; more name nothing, but may be a logger.
        if found in self._index and "." in found and rest.count(".") <= 1:
            yield from self._nodes(found)

    def _nodes(self, dotted: str) -> Iterator[str]:
        return (node for node, _ in self._index.nodes(dotted))

    def find_compiled(self, path: str, content: bytes) -> Iterator[Found]:
        """Yield edges to modules that a compiled module names: what it imports when it runs, as
        ``sglang.x.y`` in its texts.

        A compiler puts texts side by side without an end between them: of ``sglang.x.youtside`` the
        longest module counts.
        """
        for text in sorted({found[1].decode() for found in _COMPILED_NAME.finditer(content)}):
            heads = (text[:end] for end in range(len(text), len(_TOP), -1))
            named = next(filter(self._index.__contains__, heads), None)
            if named is not None and self._index.compiled.get(named) != path:
                yield from (
                    Found(node, "string", 0, f"a text of the compiled {path}")
                    for node in self._nodes(named)
                )

    def _target(self, module: FoldedModule, target: str, line: int) -> Iterator[Found]:
        pattern = absolute_written(
            re.sub(r"\*+", "*", target), package_of(module.module, module.is_package)
        )
        if "*" not in pattern:
            yield from (Found(node, "string", line) for node in self._exact(pattern))
        for node in self._matching(pattern, "[^\n]*") if "*" in pattern else ():
            yield Found(node, "string", line, f"import_module of `{pattern}`")

    def _relative_strings(self, module: FoldedModule) -> Iterator[Found]:
        """Yield a computed `import_module`: any string beside it may be the submodule, absolute
        ones are edges already.
        """
        package = package_of(module.module, module.is_package)
        for site in module.strings:
            name = site.text.lstrip(".")
            dotted = f"{package}.{name}"
            if name and dotted in self._index and dotted != module.module:
                weak = f"import_module with a computed name beside the string {site.text!r}"
                yield from (Found(node, "string", site.line, weak) for node in self._nodes(dotted))

    def _script(self, module: FoldedModule, text: str, line: int) -> Iterator[Found]:
        parts = [part for part in text.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        while parts and "*" in parts[0]:
            parts.pop(0)
        if not parts or any("*" in part or " " in part for part in parts):
            return
        folder = module.path.rpartition("/")[0]
        # A bare name is that of a script below the module's own folder.
        start, tail = f"{folder}/" if len(parts) == 1 else "", "/" + "/".join(parts)
        candidates = self._py_by_base.get(parts[-1], ())
        for path in nearest(
            (p for p in candidates if p.startswith(start) and p.endswith(tail)), folder
        )[1]:
            if path != module.path:
                yield Found(path_node(path), "string", line, f"script path {text!r} in a string")

    def _matching(self, pattern: str, star: str) -> list[str]:
        """Return modules that a pattern names; none for a bare ``*`` or ``sglang.*``, while one
        literal end such as ``*.foo`` is enough.
        """
        literal = pattern.removeprefix(_TOP).replace("*", "").replace(".", "")
        if len(literal) < _LITERALS or not _PATTERN.fullmatch(pattern):
            return []
        body = star.join(map(re.escape, pattern.split("*")))
        names = re.findall(rf"^{body}$", self._all, re.MULTILINE)
        return [node for name in names for node in self._nodes(name)]

    def asked(self) -> Iterator[Row]:
        """Return what the rows name that are asked for by now, each once."""
        asked = {key for key in {site.key for _, site in self._rows} if self._is_asked(key)}
        rows, self._rows = self._rows, [row for row in self._rows if row[1].key not in asked]
        return self._named(row for row in rows if row[1].key in asked)

    def left(self) -> Iterator[Row]:
        """Return what the rows would name that nobody asks for."""
        return self._named(self._rows)

    def _named(self, rows: Iterable[tuple[FoldedModule, StringSite]]) -> Iterator[Row]:
        return ((module, site, found) for module, site in rows for found in self._of(site))

    def _is_asked(self, key: str) -> bool:
        if key in self._said:
            return True
        near = {pattern for word in _ends(key) for pattern in self._patterns.get(word, ())}
        return any(
            re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key) for pattern in near
        )


def _ends(text: str) -> set[str]:
    """Return the first and the last word of a dotted text."""
    return {text.partition(".")[0] + ".", "." + text.rpartition(".")[2]} if "." in text else set()
