"""Families of classes in the generated tree, told apart by their last names: two of one name count as one."""

from collections import defaultdict
from collections.abc import Container, Iterable

from shrinker.check.symbols import LookUp, ModuleSymbols
from shrinker.values.relations import reached

_MADE_BY_FIELDS = frozenset({"NamedTuple", "TypedDict", "Struct", "BaseModel"})
_FRAMEWORKS = """
Module Parameter Tensor BaseModel Struct Generic Protocol ABC Enum IntEnum StrEnum Flag IntFlag NamedTuple SimpleNamespace TypedDict
PretrainedConfig PreTrainedModel
"""
_ASKED_BY_NAME = frozenset(_FRAMEWORKS.split())
"""Classes of other packages that call no method of a class below them but those that kept code names, too. Any other
(a communicator that a library drives, a handler, a visitor) may call all that is defined for it."""


class Families:
    """Which classes an object may get its members from, and what kept code looks up on one."""

    def __init__(self, kept: Iterable[ModuleSymbols], modules: Container[str]) -> None:
        """Of every file of the generated tree; and dotted names of its modules."""
        self._modules = modules
        names = defaultdict[str, set[str]]
        self._bases, self._derived, self._foreign = names(set), names(set), names(set)
        self._data = {*_MADE_BY_FIELDS}
        self._initialised: set[str] = set()
        self._known: dict[tuple[str, bool], frozenset[str]] = {}
        self._places: dict[str, dict[tuple[str, str], tuple[str, LookUp]]] = defaultdict(dict)
        for symbols in kept:
            for each in symbols.classes:
                last = each.name.rpartition(".")[2]
                self._foreign[last].update(name for name in each.foreign if name and name not in _ASKED_BY_NAME)
                if each.data:
                    self._data.add(last)
                if "__init__" in dict(each.members):
                    self._initialised.add(last)
                self._bases[last].update(each.bases)
                for base in each.bases:
                    self._derived[base].add(last)
            for look in symbols.lookups:
                self._places[look.name].setdefault((look.on, look.owner), (symbols.path, look))

    def look_up(self, name: str, kind: str, *, on: str = "") -> tuple[str, int] | None:
        """Path and line of a look-up of a name that may reach the class `kind`, by its last name; of one sort (`LookUp.on`) or any."""
        places = ((path, look) for path, look in self._places.get(name, {}).values() if on in ("", look.on))
        return next(((path, look.line) for path, look in places if self._meets(look, kind)), None)

    def outside(self, name: str) -> str:
        """A class of another package, below which this one is, that may call any of its methods; empty when none is."""
        return min((each for base in self.around(name, below=False) for each in self._foreign[base]), default="")

    def has_fields(self, name: str) -> bool:
        """True when what a class annotates is what it is made with."""
        return not self.around(name, below=False).isdisjoint(self._data)

    def _meets(self, look: LookUp, name: str) -> bool:
        if look.on in {"any", "named"}:
            # What is looked up on a module are names that the module binds.
            return look.on == "any" or look.owner not in self._modules
        around = self.around(look.owner, below=look.on == "self")
        # What an `__init__` takes by a keyword is a parameter, whatever member has the same name.
        return name in around and (look.on != "made" or self._initialised.isdisjoint(around))

    def around(self, owner: str, *, below: bool) -> frozenset[str]:
        """Last names of the class and all that it may inherit from; of those `below` it, too, which a `self` may be: those have other bases."""
        key = owner, below
        if key not in self._known:
            starts = reached([owner], lambda name: self._derived.get(name, ())) if below else [owner]
            self._known[key] = frozenset(reached(starts, lambda name: self._bases.get(name, ())))
        return self._known[key]
