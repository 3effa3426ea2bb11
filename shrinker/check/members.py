"""Members that kept classes lost, and whose names kept code still looks up on what may be of the class.

Classes are told apart by their last names, so that two of one name count as one: what is asked is asked of both.
"""

from __future__ import annotations

from shrinker.check.registry import Seen
from shrinker.check.trees import Trees


def lost_members(trees: Trees, seen: Seen) -> None:
    """Methods and attributes; fields of what is made by its fields, and methods below a class of another package, may not go at all."""
    families, index = trees.families, trees.index
    for symbols, upstream in trees.pairs():
        there = {each.name: {name for name, _ in each.members} for each in symbols.classes}
        for each in upstream.classes:
            if each.name not in there:
                continue
            last = each.name.rpartition(".")[2]
            values = dict(each.members_of_others)
            for name, line in each.members:
                if name in there[each.name]:
                    continue
                seen.look()
                if index is not None and index.removes_member(values.get(name, "")):
                    # It names a member of an enumeration that goes.
                    continue
                why = "" if name.startswith("__") and name.endswith("__") else None
                if name in each.fields and families.has_fields(last):
                    why = ", a field: what makes one gives it by place or by name"
                elif not name.startswith("_") and (caller := families.outside(last)):
                    why = f", which {caller} of another package may call"
                if why is not None:
                    # Nobody here has to look these up: Python does, or who makes or drives the object.
                    seen.find(symbols.path, 0, f"class {each.name} lost {name}{why} (upstream: line {line})")
                elif (missed := families.look_up(name, last)) is not None:
                    where = f"{symbols.path}:{line}"
                    message = f"looks up {name!r}, which class {each.name} no longer has (upstream: {where})"
                    seen.find(missed[0], missed[1].line, message)


def lost_stores(trees: Trees, seen: Seen) -> None:
    """Attributes that methods stored on ``self``, that nothing stores any more, and that a method of the same family still reads there.

    A fact about the attribute is a person's word that nobody comes to read it.
    """
    binds = frozenset().union(*(symbols.binds for symbols in trees.kept))
    binds = binds.union(name for symbols in trees.kept for each in symbols.classes for name, _ in each.members)
    families, index = trees.families, trees.index
    for symbols, upstream in trees.pairs():
        for each in upstream.classes:
            for name, line in each.stores:
                if index is not None and index.attribute(name) is not None:
                    continue
                seen.look()
                missed = None if name in binds else families.look_up(name, each.name.rpartition(".")[2], on="self")
                if missed is not None:
                    where = f"{symbols.path}:{line}"
                    message = f"reads self.{name}, which nothing stores any more (upstream: {where})"
                    seen.ask(missed[0], missed[1].line, message)
