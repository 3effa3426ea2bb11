"""What changed files lost of what nobody has to name: members and stored attributes that kept code
still looks up, bases, decorators; what a module does when it is loaded (files itself, fills tables,
imports what rows of a loop name); and what is found in it by a text.

Classes are told apart by their last names, so that two of one name count as one: what is asked is
asked of both.
"""

import builtins
from collections import Counter

from shrinker.check.outside import refused_rows
from shrinker.check.symbols import Registration
from shrinker.check.trees import RuleIndex, Seen, Trees
from shrinker.syntax.names import is_special
from shrinker.values.relations import grouped

_BUILTINS = frozenset(dir(builtins))


def members(trees: Trees, seen: Seen) -> None:
    """Methods and attributes; fields of what is made by its fields, and methods below a class of
    another package, may not go at all.
    """
    families = trees.families
    for symbols, ours, each in trees.classes():
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
            elif name in each.handed and families.is_validated(last):
                why = ", which a decorator files for another package to call"
            elif families.leaves_abstract(last, name):
                why = ", which is abstract above it: nobody can make an object of the class"
            elif (
                name in each.values
                and families.is_enumeration(last)
                and not trees.index.removes_member(f"{last}.{name}")
            ):
                why = ", and no rule takes this member of the enumeration away"
            if why is not None:
                # Nobody here has to look these up: Python does, or who makes or drives the object.
                seen.find(
                    symbols.path, 0, f"class {each.name} lost {name}{why} (upstream: line {line})"
                )
                continue
            where = f"{symbols.path}:{line}"
            if missed := families.look_up(name, last, symbols.path):
                seen.find(
                    *missed,
                    f"looks up {name!r}, which class {each.name} no longer has (upstream: {where})",
                )
            elif (place := trees.handed_texts.get(name)) and not families.defines(name):
                seen.find(
                    *place,
                    (
                        f"hands on {name!r}, which no class has any more: {each.name} had it "
                        f"(upstream: {where})"
                    ),
                )


def stores(trees: Trees, seen: Seen) -> None:
    """Attributes that methods stored on ``self``, that nothing stores any more, and that a method
    of the same family still reads there. What only private methods stored that upstream itself
    calls nowhere but in classes that it never makes was never there.
    """
    kept = trees.kept.values()
    binds = {name for symbols in kept for each in symbols.classes for name, _ in each.members}
    binds.update(*(symbols.binds for symbols in kept))
    for symbols, upstream in trees.pairs():
        for each in upstream.classes:
            for name, line in each.stores:
                seen.look()
                last = each.name.rpartition(".")[2]
                if name in binds or not (
                    missed := trees.families.look_up(name, last, symbols.path, on="self")
                ):
                    continue
                message = (
                    f"reads self.{name}, which nothing stores any more (upstream: "
                    f"{symbols.path}:{line})"
                )
                if trees.users.ever_stored(symbols.path, name):
                    seen.ask(*missed, message)
                else:
                    seen.find(*missed, f"{message}, nor does upstream ever", inherited=True)


def bases(trees: Trees, seen: Seen) -> None:
    """Compare what the classes of both trees inherit from."""
    theirs = trees.source_modules
    for symbols, ours, each in trees.classes():
        own, last = dict(ours.members), each.name.rpartition(".")[2]
        for base in each.bases:
            if not base or base in ours.bases or base in each.foreign:
                continue
            seen.look()
            if base in symbols.bound:
                seen.find(
                    symbols.path, 0, f"class {each.name} lost its base {base}, which is still there"
                )
                continue
            for module, origin in theirs.closure(symbols.module or "", base):
                for name, line in origin.members:
                    where = f"({theirs.files[module]}:{line})"
                    if name in own:
                        continue
                    if is_special(name):
                        message = (
                            f"class {each.name} lost base {origin.name}, which gave it {name} "
                            f"{where}"
                        )
                        seen.find(symbols.path, 0, message)
                    elif missed := trees.families.look_up(name, last, symbols.path):
                        message = (
                            f"looks up {name!r}, which class {each.name} had from its base "
                            f"{origin.name} {where}"
                        )
                        seen.find(*missed, message)


def decorators(trees: Trees, seen: Seen) -> None:
    """Each definition has all decorators of one that upstream has by its name there."""
    for symbols, upstream in trees.pairs():
        for name in symbols.decorated.keys() & upstream.decorated.keys():
            left = [decorators for _, decorators in upstream.decorated[name]]
            seen.look(sum(map(len, left)))
            # Those with the most first: the others are content with any.
            for line, decorators in sorted(symbols.decorated[name], key=lambda row: -len(row[1]))[
                : len(left)
            ]:
                kept = Counter(decorators)
                like = min(left, key=lambda each: (len(Counter[str](each) - kept), -len(each)))
                left.remove(like)
                for decorator in Counter(like) - kept:
                    seen.find(symbols.path, line, f"{name} lost @{decorator}")


def is_let_go(registration: Registration, module: str, index: RuleIndex) -> bool:
    """Tell whether a rule says that nothing asks for what is filed, or when something in the
    statement is gone.
    """
    gone = (index.removes_member(said) or index.removes_module(said) for said in registration.says)
    return index.unregistered(f"{module}.{registration.function}", registration.key) or any(gone)


def registrations(trees: Trees, seen: Seen) -> None:
    """Statements and decorators that register something, gone from a module that still has all that
    they name.
    """
    if trees.rules is None:
        return
    for symbols, upstream in trees.pairs():
        there = Counter((each.function, each.key) for each in symbols.registers)
        seen.look(len(upstream.registers))
        for each in upstream.registers:
            if there[each.function, each.key] > 0:
                there[each.function, each.key] -= 1
            elif (
                each.names <= symbols.bound | _BUILTINS
                and not is_let_go(each, symbols.module or "", trees.index)
                and each.line not in trees.decided_lines(symbols.path)
            ):
                what = f"{each.function} no longer files {each.key!r}"
                seen.find(
                    symbols.path, 0, f"{what}, and no rule says why (upstream: line {each.line})"
                )


def names_by_text(trees: Trees, seen: Seen) -> None:
    """Names that modules assigned and that kept code looks up by a text (``getattr(module,
    "EntryClass")``).
    """
    asked = {name for symbols in trees.kept.values() for name in symbols.by_text}
    for symbols, upstream in trees.pairs():
        for name, line in ((name, line) for name, line in upstream.assigned if name in asked):
            seen.look()
            if name not in symbols.bound:
                message = (
                    f"has no {name!r} any more, which kept code looks up by a text (upstream: line "
                    f"{line})"
                )
                seen.find(symbols.path, 0, message)


def imports_of_loops(trees: Trees, seen: Seen) -> None:
    """Modules that loops of modules import in upstream and not in the generated tree, and those
    that they import and that are not there.
    """
    if trees.rules is None:
        return
    modules = {symbols.module for symbols in trees.kept.values()}
    for symbols, upstream in trees.pairs():
        seen.look(len(upstream.loaded))
        for name in sorted(upstream.loaded - symbols.loaded):
            if not trees.index.removes_module(name):
                seen.find(symbols.path, 0, f"no longer imports {name}, and no rule removes it")
        for name in sorted(symbols.loaded - modules):
            if trees.index.removes_module(name):
                seen.find(symbols.path, 0, f"imports {name}, which a rule removes")


def rows(trees: Trees, seen: Seen) -> None:
    """What looks where a row is gone finds another one, or none.

    A table that went as a whole is looked at by nobody. Rows may go whose key the tree refuses by
    name, that name members of enumerations which the rules remove, or with the test that they stand
    under; but none of a member where a loop goes through its enumeration.
    """
    refused = [*refused_rows(trees.out)]
    for symbols, upstream in trees.pairs():
        there = Counter((where, key, value) for where, key, value, _ in symbols.rows)
        tables = {where for where, _, _ in there}
        keys = grouped((where, key.strip("'")) for where, key, _, _ in upstream.rows)
        for where, key, value, line in upstream.rows:
            root = where.partition("(")[0].partition(".")[0]
            if where not in tables and not (where.endswith("()") and root in symbols.bound):
                continue
            seen.look()
            if there[where, key, value] > 0:
                there[where, key, value] -= 1
            elif key.partition(".")[0] in symbols.loops or (
                value.partition(".")[0] in symbols.bound
                and not any(map(trees.index.removes_member, (key, value)))
                and not any(row.ends(key.strip("'"), keys[where]) for row in refused)
                and line not in trees.decided_lines(symbols.path)
            ):
                shown = f"{key}: {value}" if key else value
                seen.find(
                    symbols.path,
                    0,
                    f"{where} lost {shown}, which is still there (upstream: line {line})",
                )


def dispatches(trees: Trees, seen: Seen) -> None:
    """Classes that are still there, and that a table which is still there had a row for: what is
    made of them meets no handler.
    """
    classes = {
        each.name.rpartition(".")[2] for file in trees.kept.values() for each in file.classes
    }
    for symbols, upstream in trees.pairs():
        stays = {
            (kind, row.value) for table in symbols.dispatches for row in table for kind in row.kinds
        }
        asked = {kind for kind, _ in stays}
        for table in upstream.dispatches:
            if not any((kind, row.value) in stays for row in table for kind in row.kinds):
                continue
            seen.look(len(table))
            for row in table:
                lost = sorted(kind for kind in row.kinds if kind in classes and kind not in asked)
                if lost:
                    what = f"a table lost its row for {' and '.join(lost)}, of the kept classes"
                    seen.find(symbols.path, 0, f"{what} (upstream: line {row.line})")
