"""Strings that name a module: ``"pkg.mod"``, ``"pkg.mod.Name"``, ``"pkg.mod:attr"``, ``-m pkg.mod``, a ``.py`` path,
and the patterns that `import_module` receives.

In a pattern each computed part is ``*``. A pattern in a plain string stands for one component; one handed to
`import_module` may hold dots.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from shrinker.program.files import nearest
from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import Found, module_node, path_node
from shrinker.syntax.imports import absolute, package_of
from shrinker.values.folded import FoldedModule, StringSite
from shrinker.values.upstream import PACKAGE

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PATTERN = re.compile(r"[\w*]+(?:\.[\w*]+)*")
_COMMAND = re.compile(r"(?:^|\s)-m[\s=]+([A-Za-z_]\w*(?:\.\w+)+)")
_DYNAMIC = ("import_module", "spec_from_file")
_LITERALS = 3
_TOP = f"{PACKAGE}."


class StringEdges:
    """Resolves strings against one tree; answers are remembered, since the same string stands in many modules."""

    def __init__(self, index: ModuleIndex) -> None:
        self._index = index
        self._py_by_base: dict[str, list[str]] = {}
        for path in sorted(index.paths.values()):
            self._py_by_base.setdefault(path.rpartition("/")[2], []).append(path)
        self._all = "\n".join(sorted(index.paths))
        self._resolve = lru_cache(maxsize=None)(self._resolve_uncached)

    def find(self, module: FoldedModule) -> Iterator[Found]:
        """Edges of a module's strings and of its dynamic imports."""
        for site in module.strings:
            if site.key:
                # It names something for who asks for its key.
                continue
            yield from self.of(site)
            if site.text.endswith(".py"):
                yield from self._script(module, site.text, site.line)
        for call in module.dynamic:
            if call.mechanism not in _DYNAMIC:
                continue
            if call.target and call.target.strip("*."):
                if call.target.endswith(".py"):
                    yield from self._script(module, call.target, call.line)
                else:
                    yield from self._target(module, call.target, call.line)
            else:
                yield from self._relative_strings(module)

    def of(self, site: StringSite) -> Iterator[Found]:
        """Edges of one string that is no path of a script."""
        for node, weak in self._resolve(site.text):
            yield Found(node, "string", site.line, weak)

    def _resolve_uncached(self, text: str) -> tuple[tuple[str, str], ...]:
        if "-m" in text and " " in text:
            # A command line in a message or a shell string.
            return tuple(
                (node, f"command line `-m {match.group(1)}` in a string")
                for match in _COMMAND.finditer(text)
                for node in self._exact(match.group(1))
            )
        if not text.startswith(_TOP):
            return ()
        dotted, _, attribute = text.partition(":")
        if attribute and not attribute.replace(".", "_").isidentifier():
            return ()
        if "*" in dotted:
            pattern = re.sub(r"\*+", "*", dotted)
            if not _PATTERN.fullmatch(pattern) or self._says_little(pattern):
                return ()
            weak = f"pattern `{pattern}` in a string"
            return tuple((module_node(name), weak) for name in self._matching(pattern, "[^.\n]*"))
        if not _DOTTED.fullmatch(dotted):
            return ()
        return tuple((node, "") for node in self._exact(dotted))

    def _exact(self, dotted: str) -> Iterator[str]:
        found, rest = self._index.prefix(dotted)
        # Two components may be a class and its method; more name nothing, but may be a logger.
        if found.count(".") < 1 or rest.count(".") > 1:
            return
        if found in self._index.paths:
            yield module_node(found)

    def _target(self, module: FoldedModule, target: str, line: int) -> Iterator[Found]:
        pattern = re.sub(r"\*+", "*", target)
        if pattern.startswith("."):
            bare = pattern.lstrip(".")
            pattern = absolute(bare, len(pattern) - len(bare), package_of(module.module, module.is_package))
        if "*" not in pattern:
            for node in self._exact(pattern):
                yield Found(node, "string", line)
            return
        if self._says_little(pattern) or not _PATTERN.fullmatch(pattern):
            return
        for name in self._matching(pattern, "[^\n]*"):
            yield Found(module_node(name), "string", line, f"import_module of `{pattern}`")

    def _relative_strings(self, module: FoldedModule) -> Iterator[Found]:
        """A computed `import_module`: any string beside it may be the submodule, absolute ones are edges already."""
        package = package_of(module.module, module.is_package)
        for site in module.strings:
            name = site.text.lstrip(".")
            dotted = f"{package}.{name}"
            if name and dotted in self._index.paths and dotted != module.module:
                weak = f"import_module with a computed name beside the string {site.text!r}"
                yield Found(module_node(dotted), "string", site.line, weak)

    def _script(self, module: FoldedModule, text: str, line: int) -> Iterator[Found]:
        parts = [part for part in text.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        while parts and "*" in parts[0]:
            parts.pop(0)
        if not parts or any("*" in part or " " in part for part in parts):
            return
        tail = "/".join(parts)
        candidates = [p for p in self._py_by_base.get(parts[-1], ()) if p.endswith("/" + tail)]
        folder = module.path.rpartition("/")[0]
        if len(parts) == 1:
            candidates = [p for p in candidates if p.startswith(folder + "/")]
        for path in nearest(candidates, folder)[1]:
            if path != module.path:
                yield Found(path_node(path), "string", line, f"script path {text!r} in a string")

    def _says_little(self, pattern: str) -> bool:
        """True for a bare ``*`` or ``sglang.*``; one literal end such as ``*.foo`` is enough."""
        return len(pattern.removeprefix(_TOP).replace("*", "").replace(".", "")) < _LITERALS

    def _matching(self, pattern: str, star: str) -> list[str]:
        body = star.join(re.escape(part) for part in pattern.split("*"))
        return re.findall(rf"^{body}$", self._all, re.MULTILINE)
