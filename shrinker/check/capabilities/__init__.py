"""Level *capabilities*: what the profile keeps stands, judged by words and without the rules that
took the rest away.

Every other level believes the rules: a wrong one decides the same wrong thing for the tree and for
them. This one reads `[[capability]]` and `[[dropped]]` rows alone, which say in upstream's own
words what is kept and what is not. Each changed file is laid beside upstream's, function by
function (`alignment`); what is gone from within a function must stand under a test that a word of
something dropped explains (`losses`, `vocabulary`).

Limits: a definition that nothing names any more is no loss by itself, since whoever named it stood
in one. A word is taken for what it says: a rule that is wrong about something with a word of the
dropped ones in its name goes unnoticed here.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from shrinker.cache.workers import map_cached
from shrinker.check.allowances import OWN_FILES
from shrinker.check.capabilities.losses import Loss, losses
from shrinker.check.capabilities.stores import Stores
from shrinker.check.capabilities.vocabulary import Vocabulary
from shrinker.check.outside import TABLE, refused_rows
from shrinker.check.trees import Seen, Trees
from shrinker.ruleset.match import any_module_matches, any_name_matches, overlap
from shrinker.syntax.parsing import parsed
from shrinker.syntax.walk import definitions
from shrinker.values.upstream import PACKAGE_PREFIX, module_name, modules_of


def unexplained_losses(trees: Trees, seen: Seen) -> None:
    """Losses within functions that no word of what the profile drops explains: suites, operands,
    arms, statements that do something, entries of tables, named errors.
    """
    vocabulary, root = Vocabulary(trees.stated.dropped), trees.source.root
    # By the bytes that are there, not by what the manifest says of them.
    changed = (path for path in trees.changed if path not in OWN_FILES)
    contents = {
        path: f"{trees.hashes[path]} {trees.source.by_path[path].sha256}" for path in changed
    }
    replaced = frozenset(after for _, after in trees.manifest.defaults)
    layer = trees.cache.layer("capabilities", repr(trees.stated.dropped), *sorted(replaced))
    found = map_cached(
        partial(_of_file, root, trees.out, vocabulary, replaced),
        layer,
        contents,
        root,
        jobs=trees.jobs,
    )
    stores = Stores(trees)
    reasons: Counter[str] = Counter()
    for path, some in found.items():
        if not all(_reason(vocabulary, path, loss) for loss in some):
            # What is stored takes both trees to tell: only the few files are asked that need it.
            more = Vocabulary(trees.stated.dropped, partial(stores.always, path))
            some = _of_file(root, trees.out, more, replaced, path)
        for loss in some:
            reason = _reason(vocabulary, path, loss)
            if reason is None:
                seen.ask(path, loss.line, f"{loss.where or 'the module'}: {loss.what}")
            reasons[f"explained by {reason}" if reason else "losses that no word explains"] += 1
    seen.counts.update(dict(sorted(reasons.items())))


def _reason(vocabulary: Vocabulary, path: str, loss: Loss) -> str | None:
    return loss.reason or vocabulary.whole(f"{module_name(path)}.{loss.where}")


def _of_file(
    root: Path, out: Path, vocabulary: Vocabulary, replaced: frozenset[str], path: str
) -> list[Loss]:
    ours, theirs = (parsed((base / path).read_bytes(), path) for base in (root, out))
    return losses(ours, theirs, vocabulary, replaced) if ours and theirs else []


def wrongly_refused(trees: Trees, seen: Seen) -> None:
    """What the tree refuses by name and no such word explains."""
    vocabulary = Vocabulary(trees.stated.dropped)
    for row in refused_rows(trees.out):
        alone = () if row.values or row.only else ((name,) for name in row.names)
        for said in (*((value, *row.names) for value in row.values), *alone):
            seen.look()
            if vocabulary.of(said, False) is None:
                seen.ask(TABLE, row.line, f"{row.rule} refuses {said[0]!r}")


def lost_capabilities(trees: Trees, seen: Seen) -> None:
    """Modules and definitions of upstream that carry a capability and are gone."""
    capabilities, kept = trees.stated.capabilities, set(trees.recorded)
    patterns = [pattern for row in capabilities for pattern in row.definitions]
    lasts = (re.escape(pattern.rpartition(".")[2]).replace(r"\*", r"\w*") for pattern in patterns)
    # Most modules may hold none of them, and most of the others define none: these are not read, or
    # not parsed.
    defined = re.compile(rf"\b(?:class|def) +(?:{'|'.join(lasts) or '(?!)'})\b".encode())
    for module, path in modules_of(trees.source.by_path).items():
        carrying = [
            row for row in capabilities if row.modules and any_module_matches(row.modules, module)
        ]
        seen.look(len(carrying), "modules")
        for row in carrying if path not in kept else ():
            seen.ask(path, 0, f"carries {row.id}, and is not in the tree", check="modules")
        data = (
            trees.source.read(path)
            if any(overlap(pattern, f"{module}.**") for pattern in patterns)
            else b""
        )
        before = parsed(data, path) if defined.search(data) else None
        if before is None:
            continue
        after = (
            parsed((trees.out / path).read_bytes(), path) if (trees.out / path).is_file() else None
        )
        left = dict(definitions(after, module)) if after else {}
        for name, _ in definitions(before, module):
            for row in capabilities:
                if any_name_matches(row.definitions, name):
                    seen.look(check="definitions")
                    if name not in left:
                        seen.ask(
                            path, 0, f"{name} carries {row.id}, and is gone", check="definitions"
                        )


def silent_names(trees: Trees, seen: Seen) -> None:
    """Flags, variables, endpoints and values that ask for a capability, that upstream writes in
    kept files, and that are not written there any more.
    """
    asked = {name: row.id for row in trees.stated.capabilities for name in row.names}
    here = [
        path
        for path in trees.python
        if path.startswith(PACKAGE_PREFIX) and path in trees.source.by_path
    ]
    left = asked.keys() - _written(trees.out, here, asked)
    gone = sorted(left & _written(trees.source.root, here, left))
    seen.look(len(asked) - len(left) + len(gone))
    for name in gone:
        seen.ask(PACKAGE_PREFIX, 0, f"{name!r} asks for {asked[name]}, and nothing writes it")


def _written(root: Path, paths: Iterable[str], names: Iterable[str]) -> set[str]:
    """Return which of these names any of the files writes."""
    names, found = {*names}, set[str]()
    for path in paths:
        data = (root / path).read_bytes() if found < names else b""
        found |= {name for name in names - found if name.encode() in data}
    return found
