"""What the rules say of what comes in from outside, judged over two trees: claims that nothing
enforces, flags whose effect is gone.

A flag's effect is gone where the generated tree still takes it, upstream reads it somewhere else
than where it is declared, and nothing of the tree does any more. Each must be refused, or depend on
something that is. What upstream reads in a folder that no file outside it names has no effect there
either, nor what it reads in a class of which it makes no instance.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

from shrinker.cache import Layer, pack, unpack
from shrinker.cache.workers import cached, map_cached
from shrinker.check.enforced import judge_claims, unenforced
from shrinker.check.entered import Entered, read_entered
from shrinker.check.outside import TABLE, Outside, refused_rows
from shrinker.check.trees import Seen, Trees
from shrinker.ruleset.match import any_module_matches, overlap
from shrinker.ruleset.models import Entry
from shrinker.source.cache import sha256_of
from shrinker.values.interface import GONE, KEPT, NEVER, Effect, Entries
from shrinker.values.outcome import Finding
from shrinker.values.upstream import UpstreamTree, module_name

CHECK = "flags without effect"
COUNTS = CLAIMS, FLAGS = "claims enforced", "effects of flags"


def unenforced_claims(trees: Trees, seen: Seen) -> None:
    """What the rules say of flags, requests and variables is refused where it comes in; else it is
    a question.
    """
    entered = judge_entries(trees)
    seen.look(len(entered.claims), CLAIMS)
    seen.look(len(entered.flags), FLAGS)
    seen.open += entered.findings


def judge_entries(trees: Trees) -> Entries:
    """Return nothing for rules without an `[[entry]]`."""
    tree, rules, table = trees.source, trees.stated, trees.out / TABLE
    if not rules.entries:
        return Entries()
    before = {
        path: tree.by_path[path].sha256
        for path in trees.recorded
        if path in tree.by_path and module_name(path)
    }
    after = {path: sha256 for path, sha256 in trees.hashes.items() if path in before}
    theirs = (f"{file.path} {file.sha256}" for file in tree.files if file.path.endswith(".py"))
    layer = trees.cache.layer("entries judged", *theirs)
    ours = (f"{path} {sha256}" for path, sha256 in after.items())
    # A run asks twice: its reports, and its evidence.
    key = layer.key(rules.digest, sha256_of(table) if table.is_file() else "", *ours)
    judged: Entries = cached(layer, key, lambda: _judge(trees, before, after, layer))
    return judged


def _judge(
    trees: Trees, before: Mapping[str, str], after: Mapping[str, str], layer: Layer
) -> Entries:
    """Judge kept files of upstream, and what of them is there, by path and SHA-256.

    The layer keeps what upstream's text says.
    """
    theirs, ours = _read_all(trees, trees.source.root, before), _read_all(trees, trees.out, after)
    placed = frozenset(row.rule for row in refused_rows(trees.out))
    text, keys = cache(trees.source.read), {"": layer.key(*before)}
    said: dict[str, bool] = unpack(layer.load(keys).get("", pack({})))
    """Of patterns whether upstream writes their last name.

    In one entry: to write one takes longer than to look.
    """
    known = len(said)

    def written(pattern: str) -> bool:
        if pattern not in said:
            word = pattern.rpartition(".")[2].strip("*").encode()
            meant = (
                path
                for path in before
                if pattern.startswith(".") or overlap(pattern, f"{module_name(path)}.**")
            )
            said[pattern] = any(word in text(path) for path in meant)
        return said[pattern]

    outside = Outside(trees.stated, theirs, placed, written)
    claims = tuple(judge_claims(outside))
    effects = sorted(_effects(outside, ours, trees, layer))
    if len(said) > known:
        layer.save(keys, {"": pack(said)})
    findings = (*unenforced(claims, trees.stated), *_without_effect(effects, outside))
    return Entries(claims, tuple(effects), findings)


def _read_all(trees: Trees, root: Path, hashes: Mapping[str, str]) -> list[Entered]:
    entries = trees.stated.entries
    layer = trees.cache.layer("entered", repr(entries))
    return [
        *map_cached(
            partial(read_entered, root, entries), layer, hashes, root, jobs=trees.jobs
        ).values()
    ]


def _effects(
    outside: Outside, generated: Iterable[Entered], trees: Trees, layer: Layer
) -> Iterator[Effect]:
    """Of every flag that what was read of the files of the tree still takes."""
    flags = outside.flags
    declaring = {field.owner.rpartition(".")[0] for field in flags.values()}
    reading, own, taken = set[str](), set[str](), set[str]()
    for file in generated:
        (own if file.module in declaring else reading).update(file.reads)
        taken.update(
            name
            for owner, name, _, _ in file.fields
            if name in flags and owner == flags[name].owner
        )
    asked = (
        sorted(taken - reading),
        sorted(declaring),
        [e for e in trees.stated.entries if e.kind == "flag"],
    )
    readers = cached(layer, layer.key(repr(asked)), lambda: _readers(*asked, trees.source))
    for flag in taken:
        seen = readers.get(flag, {})
        at_home = any(module in declaring for module, _ in seen)
        narrowed = (r.id for r in outside.refusals.get(flag, ()) if r.only)
        rule = outside.refused(flag) or next(narrowed, "") or outside.dependent(flag)
        others = (
            (path, lines) for (module, path), lines in seen.items() if module not in declaring
        )
        # What a rule explains needs no search.
        elsewhere = tuple(
            path for path, lines in others if rule or trees.users.has_effect(path, lines)
        )
        if flag not in reading and (elsewhere or (at_home and flag not in own)):
            yield Effect(flag, GONE, rule, elsewhere[:3])
        else:
            yield Effect(flag, KEPT if flag in reading or at_home else NEVER)


def _without_effect(effects: Iterable[Effect], outside: Outside) -> Iterator[Finding]:
    """Losses that nothing explains."""
    for each in effects:
        if each.effect == GONE and not each.rule:
            field = outside.flags[each.flag]
            module = field.owner.rpartition(".")[0]
            lost = (
                f"the flag --{each.flag.replace('_', '-')} is still taken and nothing of the tree "
                "reads it any more"
            )
            where = f"upstream does in {', '.join(each.readers) or 'this file'}"
            message = f"{lost}; {where}. Refuse it, or name it in a [[dependent]] rule"
            yield Finding(CHECK, f"python/{module.replace('.', '/')}.py", field.line, message)


def _readers(
    flags: Iterable[str],
    declaring: Collection[str],
    entries: Collection[Entry],
    upstream: UpstreamTree,
) -> Mapping[str, Mapping[tuple[str, str], Collection[int]]]:
    """By flag, module and path of the files whose text reads it of what holds flags, and the lines
    there.
    """
    names = "|".join(map(re.escape, flags)) or "(?!)"
    apart = tuple(module for entry in entries for module in entry.apart)
    held = "|".join(re.escape(n) for e in entries for n in (*e.held, "self")).replace(
        re.escape("()"), r"\([^()]*\)"
    )
    pattern = re.compile(
        (
            rf"\b(?:{held})\s*\.(?P<read>{names})\b(?!\s*=[^=])"
            rf"|\bgetattr\([^,()]*(?:\(\))?,\s*['\"](?P<asked>{names})['\"]"
        ).encode()
    )
    found: dict[str, dict[tuple[str, str], list[int]]] = {}
    for path in upstream.by_path:
        module = module_name(path)
        if module is None or any_module_matches(apart, module):
            continue
        text = upstream.read(path)
        for match in pattern.finditer(text):
            if module in declaring or not re.match(rb"self\s*\.", match[0]):
                files = found.setdefault((match["read"] or match["asked"]).decode(), {})
                files.setdefault((module, path), []).append(text.count(b"\n", 0, match.start()) + 1)
    return found
