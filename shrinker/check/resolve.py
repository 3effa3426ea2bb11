"""Do names resolve in a tree of modules, and which classes may an object get its members from?

The same questions for upstream and for the generated tree.

Upstream's modules are read only when a question needs them: a generated tree without fault asks
nothing of upstream.
"""

from collections.abc import Collection, Container, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

from shrinker.check.reader import read_symbols
from shrinker.check.symbols import ClassSymbols, ModuleSymbols
from shrinker.syntax.imports import with_packages
from shrinker.values.relations import grouped, reached
from shrinker.values.upstream import PACKAGE

_EVERY_MODULE = frozenset(
    {"__dict__", "__doc__", "__file__", "__name__", "__package__", "__path__", "__spec__"}
)
_MADE_BY_FIELDS = frozenset({"NamedTuple", "TypedDict", "Struct", "BaseModel"})
_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_VALIDATED = frozenset({"BaseModel"})
"""Classes of other packages that call what is defined below them under a decorator of theirs."""
_ASKED_BY_NAME = (
    _ENUMERATIONS
    | _VALIDATED
    | frozenset(
        {"Module", "Parameter", "Tensor", "Struct", "Generic", "Protocol", "ABC"}
        | {"NamedTuple", "SimpleNamespace", "TypedDict", "PretrainedConfig", "PreTrainedModel"}
    )
)
"""Classes of other packages that call no method of a class below them but those that kept code
names, too. Any other (a communicator that a library drives, a handler, a visitor) may call all that
is defined for it.
"""


class Modules:
    """The modules of one tree by dotted name, namespace packages included."""

    def __init__(
        self, root: Path, files: Mapping[str, str], known: Mapping[str, ModuleSymbols] | None = None
    ) -> None:
        """`files` are the paths of all modules by their dotted names; `known` holds symbols by path
        that need not be read again.
        """
        self.root = root
        self.files = files
        self._known = dict(known or {})
        self._names = with_packages(files)

    def __contains__(self, dotted: object) -> bool:
        return dotted in self._names

    def symbols(self, dotted: str) -> ModuleSymbols | None:
        """`None` for a name that is no module, or a package without `__init__`; a compiled module
        may have any name.
        """
        path = self.files.get(dotted)
        if path is not None and not path.endswith(".py"):
            return ModuleSymbols(path, dotted, open=True)
        if path is not None and path not in self._known:
            self._known[path] = read_symbols(self.root, path)
        return self._known[path] if path is not None else None

    def binds(
        self, dotted: str, name: str, *, foreign: bool = True, _seen: frozenset[str] = frozenset()
    ) -> bool:
        """Tell whether executing the module gives it `name` (submodules aside).

        `foreign` says whether a star import of another package counts, which may give any name.
        """
        if name in _EVERY_MODULE:
            return dotted in self
        symbols = self.symbols(dotted)
        if symbols is None or dotted in _seen:
            return False
        if symbols.open or symbols.error is not None:
            return True
        if name in symbols.bound:
            # What a package imports from itself and binds in no other way is a module of its own.
            own = f"{dotted}.{name}"
            return own in self or symbols.named.get(name) != (own,)
        if "__getattr__" in symbols.bound and name in symbols.binds:
            return True
        seen = _seen | {dotted}
        return any(self._star_gives(star, name, foreign, seen) for star in symbols.stars)

    def _star_gives(self, star: str, name: str, foreign: bool, seen: frozenset[str]) -> bool:
        if star.partition(".")[0] != PACKAGE:
            return foreign
        symbols = self.symbols(star)
        if symbols is None:
            return False
        given = self.binds(star, name, foreign=foreign, _seen=seen)
        if symbols.exports is None:
            return given and not name.startswith("_")
        return name in dict(symbols.exports) and (given or f"{star}.{name}" in self)

    def imports(self, dotted: str, name: str | None) -> bool:
        """Tell whether ``import dotted`` or ``from dotted import name`` finds what it names."""
        if dotted not in self or name is None or name == "*":
            return dotted in self
        return self.binds(dotted, name) or f"{dotted}.{name}" in self

    def lacks(self, upstream: "Modules", dotted: str, name: str | None) -> bool:
        """Tell whether an import finds nothing, or another package's star import alone can give
        `name` here, and upstream's own code gave it there.
        """
        star = (
            name is not None
            and self.binds(dotted, name)
            and not self.binds(dotted, name, foreign=False)
        )
        return not self.imports(dotted, name) or (
            star and upstream.binds(dotted, name or "", foreign=False)
        )

    def attribute(self, target: str, chain: tuple[str, ...]) -> tuple[str, str] | None:
        """Follow `chain` through modules from `target`; the module and the name that it lacks, else
        `None`. It stops with `None` at the first name that is not known to be a module.
        """
        holder, _, last = target.rpartition(".")
        if target not in self or (holder and self.binds(holder, last)):
            return None
        for name in chain:
            if self.binds(target, name):
                return None
            submodule = f"{target}.{name}"
            if submodule not in self or submodule not in self.loaded:
                return target, name
            target = submodule
        return None

    @cached_property
    def loaded(self) -> frozenset[str]:
        """Modules that some import statement of the tree loads, parents included."""
        read = (symbols for dotted in self.files if (symbols := self.symbols(dotted)) is not None)
        named = [(module, name) for symbols in read for _, module, name in symbols.imports]
        below = (f"{module}.{name}" for module, name in named if name is not None)
        return with_packages(module for module, _ in named).union(filter(self.__contains__, below))

    def dotted_path(self, text: str) -> bool:
        """Tell whether ``sglang.a.b``, ``sglang.a.b.Name.member`` or ``sglang.a:Name`` names
        something.
        """
        module, colon, rest = text.partition(":")
        if colon and module not in self:
            return False
        return self.resolves(module, tuple(rest.split(".")) if colon else ())

    def resolves(self, module: str, names: tuple[str, ...]) -> bool:
        """Tell whether what a module gives by these names, one of the other, is there; what the
        syntax does not tell is taken to be.
        """
        module, *rest = [*module.split("."), *names]
        if module not in self:
            return False
        while rest:
            name, *rest = rest
            below = f"{module}.{name}"
            if self.imports(module, name) and not (below in self and rest):
                return not rest or self._has_member(module, name, rest[0])
            if below not in self:
                return name == "*"
            module = below
        return True

    def _has_member(self, module: str, name: str, member: str) -> bool:
        family = [*self.closure(module, name)]
        named = any(member in dict(each.members) for _, each in family)
        return (
            named
            or not family
            or any(f"{each.name}.{member}" in self._classes(where) for where, each in family)
        )

    def _classes(self, module: str) -> dict[str, ClassSymbols]:
        """Return the classes of a module; of several of one name the first one."""
        symbols = self.symbols(module)
        return (
            {each.name: each for each in reversed(symbols.classes)} if symbols is not None else {}
        )

    def closure(self, module: str, name: str) -> Iterator[tuple[str, ClassSymbols]]:
        """Yield the class that a name of a module is, and its bases within the package, nearest
        first, each with its own module; none where it is no class, or that cannot be told.
        """
        seen: set[tuple[str, str]] = set()
        pending = [(module, name)]
        while pending:
            place = self.definition(*pending.pop(0))
            if (
                place is not None
                and place not in seen
                and (found := self._classes(place[0]).get(place[1]))
            ):
                seen.add(place)
                yield place[0], found
                pending += [(place[0], base) for base in found.bases]

    def definition(
        self, module: str, name: str, seen: frozenset[str] = frozenset()
    ) -> tuple[str, str] | None:
        """Return the module that defines a name of a module, and its name there, through imports
        and stars; None where that cannot be told.
        """
        symbols = self.symbols(module)
        if symbols is None or module in seen:
            return None
        seen |= {module}
        sources = [m for _, m, n in symbols.imports if n == name]
        sources += [
            text.partition(":")[0] for _, text in symbols.paths if text.endswith(f":{name}")
        ]
        if name in self._classes(module) or (name in symbols.bound and not sources):
            return module, name
        found = (
            self.definition(source, name, seen)
            for source in (*sources, *symbols.stars)
            if source in self
        )
        return next(filter(None, found), None)


class Families:
    """Which classes, told apart by their last names, an object may get its members from, and what
    kept code looks up on one.
    """

    def __init__(self, kept: Collection[ModuleSymbols], modules: Container[str]) -> None:
        """Of every file of the generated tree; and dotted names of its modules."""
        self._modules = modules
        classes = [
            (each.name.rpartition(".")[2], each) for symbols in kept for each in symbols.classes
        ]
        self._classes = grouped(classes)
        self._derived = grouped((base, name) for name, each in classes for base in each.bases)
        self._bases_at = {
            (symbols.path, each.name): each.bases for symbols in kept for each in symbols.classes
        }
        looks = ((symbols.path, *each) for symbols in kept for each in symbols.lookups.items())
        self._looks = grouped(
            (name, (path, line, on, owner)) for path, (name, on, owner), line in looks
        )
        self.around = cache(self._around)
        """Last names of a class and all that it may inherit from; on request of those `below` it,
        too, which a `self` may be: those have other bases.
        """

    def look_up(self, name: str, kind: str, home: str, *, on: str = "") -> tuple[str, int] | None:
        """Return path and line of a look-up of a name that may reach a class.

        Args:
            name: what is looked up.
            kind: the last name of the class.
            home: path of the file that defines it.
            on: one sort of look-ups (`ModuleSymbols.lookups`), or any.
        """
        for path, line, sort, owner in self._looks.get(name, ()):
            if on and sort != on:
                continue
            if owner == kind and path != home and self._has_its_own(path, kind):
                continue
            if self._meets(sort, owner, kind):
                return path, line
        return None

    def _has_its_own(self, path: str, kind: str) -> bool:
        """Tell whether a file defines a class of this name that inherits from no namesake.

        What it looks up by this name is then not looked up on the class of another file.
        """
        bases = self._bases_at.get((path, kind))
        return bases is not None and kind not in bases

    def outside(self, name: str) -> str:
        """Return a class of another package, below which this one is, that may call any of its
        methods; empty when none is.
        """
        foreign = {base for each in self._above(name) for base in each.foreign}
        return min(foreign - _ASKED_BY_NAME - {""}, default="")

    def is_enumeration(self, name: str) -> bool:
        """Tell whether a class is an enumeration: a member may be made by its value, and whoever
        lists it meets each.
        """
        return any(not _ENUMERATIONS.isdisjoint(each.foreign) for each in self._above(name))

    def is_validated(self, name: str) -> bool:
        """Tell whether another package calls what a class defines under a decorator of that
        package.
        """
        return any(not _VALIDATED.isdisjoint(each.foreign) for each in self._above(name))

    def leaves_abstract(self, kind: str, name: str) -> bool:
        """Tell whether Python makes no object of a class, since a method of it is abstract alone.

        With ``class Base(ABC)`` that has an abstract ``load``, a class below it that has no ``load``
        of its own raises `TypeError` when it is called.
        """
        above = self._above(kind)
        concrete = (each for each in above if name in dict(each.members).keys() - each.abstract)
        return any(name in each.abstract for each in above) and not any(concrete)

    def defines(self, name: str) -> bool:
        """Tell whether any class has a member of this name."""
        return name in self._members

    @cached_property
    def _members(self) -> frozenset[str]:
        kept = (each for classes in self._classes.values() for each in classes)
        return frozenset(name for each in kept for name, _ in each.members)

    def has_fields(self, name: str) -> bool:
        """Tell whether what a class annotates is what it is made with."""
        above = self.around(name, below=False)
        return not above.isdisjoint(_MADE_BY_FIELDS) or any(each.data for each in self._above(name))

    def _meets(self, on: str, owner: str, name: str) -> bool:
        if on in {"any", "named"}:
            # What is looked up on a module are names that the module binds.
            return on == "any" or owner not in self._modules
        # What an `__init__` takes by a keyword is a parameter, whatever member has the same name.
        given = on == "made" and any(
            "__init__" in dict(each.members) for each in self._above(owner)
        )
        return not given and name in self.around(owner, below=on == "self")

    def _above(self, name: str) -> list[ClassSymbols]:
        return [
            each for base in self.around(name, below=False) for each in self._classes.get(base, ())
        ]

    def _around(self, owner: str, *, below: bool) -> frozenset[str]:
        starts = reached([owner], lambda name: self._derived.get(name, ())) if below else [owner]
        return frozenset(
            reached(
                starts, lambda name: [b for each in self._classes.get(name, ()) for b in each.bases]
            )
        )
