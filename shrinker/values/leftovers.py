"""What is left of other platforms in a generated tree: the value that verification finds and
reports print.
"""

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["predicates", "flags", "environment", "strings", "absent imports", "names"]
"""Platform predicates; flags derived from them; environment variables; device and backend strings;
imports of modules that are absent; other definitions, members and attributes named after a
platform.
"""

_Told = Literal["choices", "help-text", "message", "named-error"]
_Asked = Literal["comparison", "probe", "tensor-attribute", "tensor-device", "test"]
_Declared = Literal[
    "annotation",
    "assignment",
    "default",
    "definition",
    "environment-declaration",
    "exports",
    "parameter",
]
_Used = Literal["argument", "call", "construct", "element", "import", "key", "keyword", "value"]
Position = Literal[_Told, _Asked, _Declared, _Used]
"""Where in the syntax a leftover stands, the most telling place first:

``named-error`` in the error that shrinker puts in the place of a removed feature; ``message`` in
the text of a raised exception, an `assert`, a log call, a warning or `print`, or asked there for
which words to show; ``help-text`` in ``help=``; ``choices`` in ``choices=`` or a list named
``*_CHOICES``, or added to a list by a flag of the command line (``if args.x: found.append("x")``);
``exports`` in ``__all__``; ``annotation`` in a type; ``tensor-attribute`` an attribute read that
tensors have (``t.is_cuda``); ``tensor-device`` compared with a tensor's device;
``environment-declaration`` the declaration of a variable in a class of them; ``probe`` asked with
`hasattr`, `find_spec` or `import_module`; ``comparison``, ``test`` (anywhere else in a condition),
``call``, ``argument``, ``keyword`` (its name), ``parameter`` (its name), ``default``,
``definition``, ``import``, ``assignment`` (its target), ``key`` of a dict or subscript, ``element``
of a list, tuple or set, ``value`` anywhere else. ``construct`` is no leftover's: with it a rule
accepts, in strict mode, statements of the modules in its `where` that hold a fact and that folding
does not understand.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Leftover:
    """One trace of another platform in kept Python. Docstrings and comments are none."""

    kind: Kind
    path: str
    line: int
    """In the generated file."""
    text: str
    """The dotted name or the string; a call ends in ``()``."""
    where: str
    """Qualified name of the definition that holds it, or of the module."""
    position: Position
    idle: bool = False
    """True inside a definition (or for one) that no kept code names: it waits for reachability by
    symbol.
    """
    rule: str = ""
    """Id of the rule that says why it is right; empty when nothing does."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A predicate that stands beside known platform predicates, that no rule names, and that a
    condition asks.
    """

    name: str
    defined: str
    """Qualified name where it is defined, as far as that is seen; else the module that is imported.
    """
    beside: tuple[str, ...]
    """Known predicates in whose company it was found."""
    sites: tuple[tuple[str, int], ...]
    """Path and line of each condition in the generated tree."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Everything that one look at a generated tree found; each tuple sorted by path and line."""

    files: int
    """Python files that were looked at."""
    leftovers: tuple[Leftover, ...]
    suspects: tuple[Suspect, ...]
    unmatched: tuple[str, ...]
    """Ids of `[[leftover]]` rules that explain nothing here and are not optional."""

    @property
    def unexplained(self) -> tuple[Leftover, ...]:
        """Leftovers that no rule gives a reason for."""
        return tuple(s for s in self.leftovers if not s.rule)

    def counts(self) -> dict[str, dict[str, int]]:
        """By kind: how many, how many of them explained, how many idle."""
        kinds = {kind: [s for s in self.leftovers if s.kind == kind] for kind in KINDS}
        return {
            kind: {
                "total": len(rows),
                "explained": sum(bool(s.rule) for s in rows),
                "idle": sum(s.idle for s in rows),
            }
            for kind, rows in kinds.items()
        }
