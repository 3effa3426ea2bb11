"""Classes whose objects come from outside: what they are made from is unpickled, and names its class itself."""

from __future__ import annotations

from shrinker.program.symbols.program import Key, Program
from shrinker.program.symbols.types import Types

_LOADERS = frozenset(
    f"{package}.{name}" for package in ("pickle", "dill", "cloudpickle") for name in ("load", "loads", "Unpickler")
)
_OWN = frozenset({"classmethod", "static"})


def unpickles(program: Program, types: Types, key: Key) -> bool:
    """True for a class of which a class method or static method unpickles something, itself or by a function of its module.

    An object that unpickles what another process of the server sent is none: who sends it is kept code, which names the class.
    """
    module = program.modules[key[0]]
    stack = [
        (key[0], number)
        for numbers in module.members.get(key[1], {}).values()
        for number in numbers
        if not _OWN.isdisjoint(module.units[number].flags)
    ]
    seen = set(stack)
    while stack:
        name, number = stack.pop()
        unit = module.units[number]
        owner = unit.parent if unit.kind == "member" else -1
        for path, _ in unit.uses:
            found = types.follow(name, owner, path, number)
            if any(value.kind == "outside" and value.module in _LOADERS for value in found.values):
                return True
            for touch in found.touches:
                target = (touch.module, touch.unit)
                own = touch.kind == "unit" and touch.module == name and module.units[touch.unit].kind == "function"
                if own and target not in seen:
                    seen.add(target)
                    stack.append(target)
    return False
