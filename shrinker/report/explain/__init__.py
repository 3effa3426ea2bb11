"""`shrinker explain`: whether something is in a generated tree, why, and what would change that.

Everything is read from what the run left: the tree with its table of removed features, the saved
graph and search, and the reports.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from shrinker.program import answers
from shrinker.program.decided import around, told
from shrinker.program.nodes import path_node, symbol_name
from shrinker.program.symbols.units import AmbiguousName, Imported
from shrinker.report.explain import offered
from shrinker.report.explain.offered import Answer, Generated, cause, without
from shrinker.report.retained import Retained, files_told, several, units_told
from shrinker.syntax.bindings import lines_of
from shrinker.syntax.parsing import parse
from shrinker.syntax.ranges import line_elsewhere
from shrinker.values.errors import InputError
from shrinker.values.graph import Chain, Removed
from shrinker.values.upstream import PACKAGE, PACKAGE_PREFIX, module_name

__all__ = ["Answer", "Explainer", "Generated"]

_OPERATOR = re.compile(r"(?:torch\.ops\.(\w+)\.|(\w+)::)(\w+)(?:\.default)?")
_MOST = 12
"""Lines of a reason."""
_NAMESAKES = 4
"""So many symbols of one name are all answered for."""
_SHORT = 2
"""Letters of what is no text to look for."""
_PLACES = 5
"""Places of a name that is gone."""


class Explainer:
    """One generated tree, asked about anything in it or not in it."""

    def __init__(self, tree: Generated) -> None:
        self._tree = tree

    def explain(self, name: str) -> list[Answer]:
        """Return answers to a name: a rule, flag, environment variable, endpoint, package, kernel,
        operator, folder, file, module, class, function or member, a ``path:line`` of upstream or of
        the generated tree, or the text of a named error. Raises InputError, which says what names
        are near, when neither the tree nor upstream has it.
        """
        name = name.strip()
        if offered.VARIABLE.fullmatch(name) and (found := self._absent(name)):
            # A macro that no build defines, which a comment of kept code may name all the same.
            return found
        for look in (offered.error, offered.rule, offered.flag, offered.variable, offered.endpoint):
            if found := look(self._tree, name):
                return found
        if operator := _OPERATOR.fullmatch(name):
            # A name of a kernel library, or the function that is registered by that name.
            with suppress(InputError):
                return self._named(f"{operator[1] or operator[2]}.{operator[3]}")
            return self._named(operator[3])
        if offered.VARIABLE.fullmatch(name) and (found := self._gone(name)):
            return found
        if found := self._generated_line(name) or self._folder(name):
            return found
        try:
            return self._named(name)
        except AmbiguousName:
            raise
        except InputError:
            found = self._inherited(name) or self._deep_folders(name)
            if not found and name.isidentifier():
                # A flag by the field that code reads it from.
                with suppress(InputError):
                    found = offered.flag(self._tree, f"--{name.replace('_', '-')}")
            if not found and len(name) > _SHORT:
                found = offered.said(self._tree, name) or self._gone(name)
            if not found:
                raise
        return found

    def _gone(self, name: str) -> list[Answer]:
        """Return where upstream says what the tree says nowhere, and why that went; nothing where
        upstream cannot be read.
        """
        with suppress(InputError):
            read = (
                (place, self._named(place)[0]) for place in islice(self._tree.gone(name), _PLACES)
            )
            return [
                replace(a, subject=name, because=(f"{place} has it", *a.because))
                for place, a in read
            ]
        return []

    def retained(self, name: str) -> list[Answer]:
        """Return what would leave with a file, folder, module, definition or rule.

        Raises InputError for anything else, or what is not in the tree.
        """
        if offered.rule(self._tree, name):
            if paths := Retained(self._tree.data, self._tree.lines).with_rule(name):
                return [
                    Answer(name, "leaves", (*files_told(paths, self._tree.lines),), without(name))
                ]
            raise InputError(
                f"rule {name} alone keeps no file", f"ask `shrinker ablate {name}` what it does"
            )
        kept = [
            answer for answer in self.explain(name) if answer.verdict in ("kept", "partly kept")
        ]
        if not kept:
            raise InputError(
                f"{name} is not in the generated tree", f"ask `shrinker explain {name}`"
            )
        return [self._leaving(answer) for answer in kept]

    def _leaving(self, kept: Answer) -> Answer:
        """Return what leaves with a folder, file or definition."""
        place, symbols, lines = kept.upstream, self._tree.symbols, self._tree.lines
        if inside := [
            path
            for path in lines
            if path == place or (place.endswith("/") and path.startswith(place))
        ]:
            paths = Retained(self._tree.data, lines).with_paths(inside)
            whole = frozenset(paths)
            units = [n for n in range(len(symbols.units)) if symbols.path(n) in whole]
            because = (*files_told(paths, lines), *units_told(symbols, units, whole))
            change = (
                "a [[remove]] rule that names it, or taking out what is listed by `shrinker "
                "explain`"
            )
            return replace(kept, verdict="leaves", because=because, change=change)
        found = [n for n in symbols.find(kept.subject) if symbols.units[n].live]
        if not found:
            what = f"{kept.subject} is no file, folder, rule or definition"
            raise InputError(what, "ask for what imports or defines it")
        return replace(kept, verdict="leaves", because=(*units_told(symbols, found, ()),))

    def _generated_line(self, name: str) -> list[Answer]:
        path, _, number = name.rpartition(":")
        path, line = (path, int(number)) if path and number.isdigit() else (name, 0)
        whole, place = Path(path).absolute(), f"{path}:{line}"
        if not whole.is_relative_to(self._tree.out) or not whole.is_file():
            return []
        inside = whole.relative_to(self._tree.out).as_posix()
        if not line:
            return self._named(inside)
        if origin := self._aligned(inside, line):
            return [replace(one, generated=place) for one in self._named(f"{inside}:{origin}")]
        because = ("no line of upstream stands there: shrinker wrote it",)
        return [Answer(place, "kept", because, "nothing", generated=place)]

    def _aligned(self, path: str, line: int, *, back: bool = False) -> int:
        """Return line of upstream's file that stands in a line of the generated one, or the other
        way `back`; 0 when none does.
        """
        texts = (self._tree.out / path).read_text("utf-8", "replace"), self._tree.upstream(path)
        return line_elsewhere(line, *(reversed(texts) if back else texts))

    def _folder(self, name: str) -> list[Answer]:
        plain = name.rstrip("/").removeprefix(f"{self._tree.shown}/")
        if "." in plain.rpartition("/")[2]:
            # A package without `__init__.py`: no file stands for it.
            plain = f"python/{name.replace('.', '/')}"
            files = (*self._tree.data["kept"], *self._tree.data["removed"])
            if (
                not name.startswith(f"{PACKAGE}.")
                or f"{plain}.py" in files
                or f"{plain}/__init__.py" in files
            ):
                return []
        return self._files_of(
            *(f"{root}/" for root in (plain, f"python/{plain}", f"{PACKAGE_PREFIX}{plain}"))
        )

    def _deep_folders(self, name: str) -> list[Answer]:
        """Return folders of this name below any other; ``a.b`` is one, too."""
        inner = f"/{name.strip('/') if '/' in name else name.replace('.', '/')}/"
        files = (*self._tree.data["kept"], *self._tree.data["removed"])
        found = {path[: path.index(inner) + len(inner)] for path in files if inner in path}
        return [answer for root in sorted(found) for answer in self._files_of(root)]

    def _files_of(self, *roots: str) -> list[Answer]:
        kept = [path for path in self._tree.data["kept"] if path.startswith(roots)]
        removed = {
            path: row[0]
            for path, row in self._tree.data["removed"].items()
            if path.startswith(roots)
        }
        if not (kept or removed):
            return []
        rules = Counter(removed.values())
        because = [f"{several(len(kept), 'file')} kept, {len(removed):,} removed"]
        because += [f"{count:,} removed: {rule}" for rule, count in rules.most_common(_MOST)]
        verdict = "partly kept" if kept and removed else "kept" if kept else "removed"
        path = next(root for root in roots if any(p.startswith(root) for p in (*kept, *removed)))
        change = "ask for one of its files" if kept else without(*rules)
        return [
            Answer(
                path,
                verdict,
                tuple(because),
                change,
                path,
                f"{self._tree.shown / path}/" if kept else "",
            )
        ]

    def _named(self, name: str) -> list[Answer]:
        """Return files, modules, packages, kernels and symbols; of what a module imports also where
        that leads.
        """
        return self._imported(name, frozenset()) or self._alone(name)

    def _imported(self, name: str, seen: frozenset[str]) -> list[Answer]:
        """Return what became of the imports by which a module has a name, each with what it names;
        empty for any other name.
        """
        symbols, files, found = self._tree.symbols, self._tree.files, list[Answer]()
        if name in seen or files.kept(name) or files.removed(name):
            return []
        for one in (
            each for each in symbols.imported(name) if each.path not in self._tree.data["removed"]
        ):
            try:
                defined = self._imported(one.target, seen | {name}) or self._alone(one.target)
            except InputError:
                if one.bound == "*":
                    continue
                defined = []
            if one.bound == "*" and defined and all(each.verdict == "removed" for each in defined):
                # An import of all names of a module that no longer has this one; it stays for the
                # others, if at all.
                place = f"{one.path}:{one.line}"
                says = f"{place} takes all names of a module that has {one.target} no more"
                found += [Answer(one.name, "removed", (says,), defined[0].change, place), *defined]
            else:
                found += [self._import(one, outside=not defined), *defined]
        return list(dict.fromkeys(found))

    def _inherited(self, name: str) -> list[Answer]:
        """Return a member that a kept class has from one above it, the nearest first; nothing for
        any other name.
        """
        owner, _, member = name.rpartition(".")
        for one, base in self._bases(owner):
            for above in self._asked(base):
                inner = f"{above.subject}.{member}"
                # Of a class that went with its module the class answers.
                found = [
                    each
                    for each in self._asked(inner, alone=True)
                    if each.subject.endswith(f".{member}")
                ]
                if found := found or (self._inherited(inner) if above.subject != one else []):
                    says = f"{one} has it from {above.subject}"
                    return [replace(each, because=(says, *each.because)) for each in found]
        return []

    def _bases(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield kept classes that a name names, each with the names of those above it, as its
        module has them.
        """
        for one in self._asked(name):
            module, _, own = one.subject.rpartition(".")
            path = one.upstream.rpartition(":")[0]
            if path in self._tree.data["kept"]:
                body = parse((self._tree.out / path).read_bytes()).body
                for node in (
                    node for node in body if isinstance(node, ast.ClassDef) and node.name == own
                ):
                    yield from (
                        (one.subject, f"{module}.{ast.unparse(base)}") for base in node.bases
                    )

    def _asked(self, name: str, *, alone: bool = False) -> list[Answer]:
        """Return answers to a name that may be unknown."""
        with suppress(InputError):
            return self._alone(name) if alone else self._named(name)
        return []

    def _import(self, one: Imported, *, outside: bool) -> Answer:
        """Return one import: whether it stays."""
        symbols = self._tree.symbols
        if one.unit is None:
            # It went with what was decided.
            bound = re.compile(rf"(?<!\w){re.escape(one.bound)}(?!\w)")
            rows = self._tree.files.decisions(one.path)
            below = (
                d
                for d in rows
                if d.kind == "import" and d.line >= one.line and bound.search(d.text)
            )
            went = around(rows, one.line) or min(below, key=lambda d: d.line)
            because, place = (f"{went.rule}: {told(went)}",), f"{one.path}:{one.line}"
            answer = Answer(one.name, "removed", because, self._undone(went.rule), place)
        elif symbols.units[one.unit].live:
            answer = self._kept(symbols.explain(one.unit)[0])
            # What it names has a chain of its own.
            answer = replace(answer, because=answer.because[-1:])
        else:
            answer = self._removed(symbols.explain_removed(one.unit))
        where = (
            ", which is not defined there"
            if one.target.startswith(f"{PACKAGE}.")
            else ", outside of the tree"
        )
        says = f"{one.path}:{one.line} imports it from {one.target}" + (where if outside else "")
        return replace(answer, subject=one.name, because=(says, *answer.because))

    def _undone(self, rule: str) -> str:
        """Return what undoes what a rule removed, or what no kept code named any more."""
        ruled = not self._tree.data["whys"].keys().isdisjoint(rule.split("+"))
        return without(rule) if ruled else "a [[keep]] rule that names it"

    def _alone(self, name: str) -> list[Answer]:
        """Return what has a name by itself."""
        try:
            found = answers.ask(self._tree, name)
        except AmbiguousName as several_named:
            if len(several_named.names) > _NAMESAKES:
                raise
            return [answer for each in several_named.names for answer in self._alone(each)]
        if kept := [self._kept(one) for one in found if isinstance(one, Chain)]:
            less = [
                f"{d.rule}: {told(d)}, which took a part of the line"
                for d in self._tree.files.partly(name)
            ]
            return [replace(one, because=(*less, *one.because)) for one in kept]
        if removed := [self._removed(one) for one in found[:_MOST] if isinstance(one, Removed)]:
            return removed
        if absent := self._absent(name):
            return absent
        raise answers.unknown(name, self._tree.names())

    def _absent(self, name: str) -> list[Answer]:
        """Give what rules say of a module or macro that no machine or build has; empty for any
        other name.
        """
        whys = self._tree.data["whys"]
        absent = self._tree.data["absents"].get(name, {})
        because = {rule: (f"rule {rule}: {said}. {whys[rule]}",) for rule, said in absent.items()}
        return [Answer(name, "removed", why, without(rule)) for rule, why in because.items()]

    def _kept(self, chain: Chain) -> Answer:
        steps = chain.steps
        because = [str(replace(s, src=symbol_name(s.src), dst=symbol_name(s.dst))) for s in steps]
        if len(because) > _MOST:
            between = (
                f"… {len(because) - _MOST} more steps: `shrinker why {symbol_name(chain.target)}`"
            )
            because[_MOST // 2 : -_MOST // 2] = [between]
        if chain.uncertain:
            because.append(f"uncertain: {chain.uncertain}")
        upstream, generated = self._places(chain.target)
        # What looks a name up is told, and not the name.
        last = next((step for step in reversed(steps) if not step.src.startswith("name:")), None)
        change = (
            f"it goes when {cause(last)} does"
            if last
            else "nothing names it: it stays with its file"
        )
        subject = symbol_name(chain.target)
        return Answer(
            subject,
            "kept",
            tuple(because) or ("it is kept with its file",),
            change,
            upstream,
            generated,
        )

    def _removed(self, one: Removed) -> Answer:
        change = self._undone(one.rule) + "".join(
            f"; it would live with {cause(step)}" for step in one.alive[:1]
        )
        sites = map(str, one.named_by[:_MOST])
        because = (f"{one.rule}: {one.reason}", *sites)
        place = f"{one.path}:{one.line}" if one.line else one.path
        return Answer(one.symbol or one.path, "removed", because, change, place)

    def _places(self, target: str) -> tuple[str, str]:
        """Return where something kept stands in upstream, and in the tree."""
        kind, _, name = target.partition(":")
        symbols = self._tree.symbols
        number = next(iter(symbols.named(name)), None) if kind == "symbol" else None
        if number is None:
            path = next((path for path in self._tree.data["kept"] if path_node(path) == target), "")
            return path, str(self._tree.shown / path) if path else ""
        line, path = symbols.units[number].line, symbols.path(number)
        bound = name.removeprefix(f"{module_name(path)}.").partition(",")[0]
        there = lines_of(parse((self._tree.out / path).read_bytes())).get(bound) or self._aligned(
            path, line, back=True
        )
        return f"{path}:{line}", f"{self._tree.shown / path}:{there}" if there else str(
            self._tree.shown / path
        )
