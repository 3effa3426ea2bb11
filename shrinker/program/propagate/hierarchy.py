"""Classes of the tree and what they inherit, by qualified name."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from shrinker.facts.environment import Environment
from shrinker.facts.evaluate import evaluate
from shrinker.facts.lattice import Ref, Removed
from shrinker.facts.scopes import ModuleScope

UNKNOWN_BASE = "?"
_BENIGN = frozenset(
    {"builtins.object", "builtins.str", "builtins.int", "builtins.Exception", "builtins.RuntimeError"}
    | {"builtins.ValueError", "abc.ABC", "enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag"}
    | {"enum.IntFlag", "typing.Generic", "typing.Protocol", "typing.NamedTuple", "typing.TypedDict"}
    | {"torch.nn.Module"}
)
"""Bases outside the tree that call no method by a name of their own, beside those of `CALLED_BY_TORCH`."""

CALLED_BY_TORCH = frozenset(
    {"forward", "backward", "setup_context", "extra_repr", "train", "eval", "state_dict", "load_state_dict"}
    | {"get_extra_state", "set_extra_state", "parameters", "named_parameters", "named_modules", "modules"}
    | {"children", "buffers", "named_buffers", "apply", "_apply", "to", "cuda", "cpu", "half", "float"}
    | {"requires_grad_", "zero_grad", "_load_from_state_dict", "_save_to_state_dict", "_named_members"}
    | {"_call_impl", "_replicate_for_data_parallel"}
)
"""Methods of `torch.nn.Module` that PyTorch itself calls."""


class ClassHierarchy:
    """Bases of the classes of some modules; a conditional class counts with all its definitions."""

    def __init__(self, environment: Environment, modules: Iterable[str]) -> None:
        """
        Args:
            environment: the closed world.
            modules: dotted names of the modules whose classes count as descendants.
        """
        self._environment = environment
        self._bases: dict[str, tuple[str, ...]] = {}
        self._ancestors: dict[str, frozenset[str]] = {}
        self._descendants: dict[str, set[str]] = {}
        for module in sorted(modules):
            found = environment.outlines.get(module)
            for name, bindings in found.names.items() if found is not None else ():
                if any(b.kind == "class" for b in bindings):
                    qualified = f"{module}.{name}"
                    for ancestor in self.ancestors(qualified):
                        self._descendants.setdefault(ancestor, set()).add(qualified)

    def ancestors(self, name: str) -> frozenset[str]:
        """Everything a class inherits from, in the tree or not; `UNKNOWN_BASE` for a base that is computed."""
        if name not in self._ancestors:
            self._ancestors[name] = frozenset()
            found: set[str] = set()
            for base in self._direct(name):
                found.add(base)
                found |= self.ancestors(base)
            self._ancestors[name] = frozenset(found)
        return self._ancestors[name]

    def descendants(self, name: str) -> frozenset[str]:
        """Classes of the given modules that inherit from a class."""
        return frozenset(self._descendants.get(name, ()))

    def is_called_from_outside(self, name: str) -> bool:
        """True when a base outside the tree, of the class or of a class that inherits from it, may call its methods."""
        return any(
            self._is_foreign(base)
            for relative in (name, *self._descendants.get(name, ()))
            for base in self.ancestors(relative)
        )

    def has_foreign_base(self, name: str) -> bool:
        """True when the class itself has a base outside the tree that is not known to be harmless."""
        return any(self._is_foreign(base) for base in self.ancestors(name))

    def _is_foreign(self, base: str) -> bool:
        return base not in _BENIGN and not self._is_class(base)

    def _is_class(self, name: str) -> bool:
        module, _, own = name.rpartition(".")
        found = self._environment.outlines.get(module)
        return found is not None and any(b.kind == "class" for b in found.names.get(own, ()))

    def _direct(self, name: str) -> tuple[str, ...]:
        if name not in self._bases:
            module, _, own = name.rpartition(".")
            found = self._environment.outlines.get(module)
            bases: list[str] = []
            for binding in found.names.get(own, ()) if found is not None else ():
                if isinstance(binding.node, ast.ClassDef):
                    bases.extend(self._named(base, module) for base in binding.node.bases)
            self._bases[name] = tuple(b for b in dict.fromkeys(bases) if b)
        return self._bases[name]

    def _named(self, base: ast.expr, module: str) -> str:
        if isinstance(base, ast.Subscript):
            base = base.value
        value = evaluate(base, ModuleScope(self._environment, module))
        if isinstance(value, Removed):
            return ""
        return value.name if isinstance(value, Ref) else UNKNOWN_BASE
