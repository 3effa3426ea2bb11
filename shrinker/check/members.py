"""What kept classes and definitions lost: members and stored attributes that kept code still looks up, bases, decorators.

Classes are told apart by their last names, so that two of one name count as one: what is asked is asked of both.
"""

from collections import Counter
from collections.abc import Iterator

from shrinker.check.symbols import ClassSymbols, ModuleSymbols
from shrinker.check.trees import Seen, Trees
from shrinker.syntax.names import is_special
from shrinker.values.relations import grouped


def _kept_classes(trees: Trees) -> Iterator[tuple[ModuleSymbols, ModuleSymbols, ClassSymbols, ClassSymbols]]:
    """Classes of changed files that both trees have: symbols of both files, then of both classes, the generated one's first."""
    for symbols, upstream in trees.pairs():
        there = {each.name: each for each in symbols.classes}
        for each in upstream.classes:
            if each.name in there:
                yield symbols, upstream, there[each.name], each


def lost_members(trees: Trees, seen: Seen) -> None:
    """Methods and attributes; fields of what is made by its fields, and methods below a class of another package, may not go at all."""
    families = trees.families
    for symbols, _, ours, each in _kept_classes(trees):
        left, last = dict(ours.members), each.name.rpartition(".")[2]
        for name, line in each.members:
            if name in left:
                continue
            seen.look()
            why = "" if is_special(name) else None
            if name in each.fields and families.has_fields(last):
                why = ", a field: what makes one gives it by place or by name"
            elif not name.startswith("_") and (caller := families.outside(last)):
                why = f", which {caller} of another package may call"
            if why is not None:
                # Nobody here has to look these up: Python does, or who makes or drives the object.
                seen.find(symbols.path, 0, f"class {each.name} lost {name}{why} (upstream: line {line})")
            elif missed := families.look_up(name, last):
                where = f"{symbols.path}:{line}"
                seen.find(*missed, f"looks up {name!r}, which class {each.name} no longer has (upstream: {where})")


def lost_stores(trees: Trees, seen: Seen) -> None:
    """Attributes that methods stored on ``self``, that nothing stores any more, and that a method of the same family still reads there.

    What only private methods stored that upstream itself calls nowhere but in classes that it never makes was never there.
    """
    kept = trees.kept.values()
    members = {name for symbols in kept for each in symbols.classes for name, _ in each.members}
    binds = members.union(*(symbols.binds for symbols in kept))
    for symbols, upstream in trees.pairs():
        for each in upstream.classes:
            for name, line in each.stores:
                seen.look()
                last = each.name.rpartition(".")[2]
                if name in binds or not (missed := trees.families.look_up(name, last, on="self")):
                    continue
                message = f"reads self.{name}, which nothing stores any more (upstream: {symbols.path}:{line})"
                if trees.users.ever_stored(symbols.path, name):
                    seen.ask(*missed, message)
                else:
                    seen.find(*missed, f"{message}, nor does upstream ever", inherited=True)


def lost_bases(trees: Trees, seen: Seen) -> None:
    """Compare what the classes of both trees inherit from."""
    theirs = trees.source_modules
    for symbols, upstream, ours, each in _kept_classes(trees):
        own, last = dict(ours.members), each.name.rpartition(".")[2]
        for base in each.bases:
            if not base or base in ours.bases or base in each.foreign:
                continue
            seen.look()
            if base in symbols.bound:
                seen.find(symbols.path, 0, f"class {each.name} lost its base {base}, which is still there")
                continue
            for module, origin in theirs.closure(upstream.module or "", base):
                for name, line in origin.members:
                    where = f"({theirs.files[module]}:{line})"
                    if name in own:
                        continue
                    if is_special(name):
                        message = f"class {each.name} lost base {origin.name}, which gave it {name} {where}"
                        seen.find(symbols.path, 0, message)
                    elif missed := trees.families.look_up(name, last):
                        message = f"looks up {name!r}, which class {each.name} had from its base {origin.name} {where}"
                        seen.find(*missed, message)


def lost_decorators(trees: Trees, seen: Seen) -> None:
    """Each definition has all decorators of one that upstream has by its name there."""
    for symbols, upstream in trees.pairs():
        theirs, ours = (
            grouped((name, (line, written)) for name, line, written in side.decorated) for side in (upstream, symbols)
        )
        for name in ours.keys() & theirs.keys():
            left = [decorators for _, decorators in theirs[name]]
            seen.look(sum(map(len, left)))
            # Those with the most first: the others are content with any.
            for line, decorators in sorted(ours[name], key=lambda row: -len(row[1])):
                if not left:
                    break
                rows = ((Counter(each) - Counter(decorators), each) for each in left)
                lost, like = min(rows, key=lambda row: (len(row[0]), -len(row[1])))
                left.remove(like)
                for decorator in lost:
                    seen.find(symbols.path, line, f"{name} lost @{decorator}")
