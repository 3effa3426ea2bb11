"""What the rules say of what comes in from outside, judged over two trees: claims that nothing enforces, flags whose effect is gone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache as remembered
from functools import partial
from pathlib import Path

from shrinker.cache import pack, unpack
from shrinker.check.enforced import judge_claims, unenforced
from shrinker.check.entered import ENTERED, Entered, read_entered
from shrinker.check.idle_flags import flag_effects, without_effect
from shrinker.check.outside import Outside
from shrinker.check.refused import TABLE, refused_rows, table_of
from shrinker.check.trees import Trees
from shrinker.check.workers import map_cached
from shrinker.ruleset.match import overlap
from shrinker.ruleset.models import Entry
from shrinker.source.cache import sha256_of
from shrinker.values.entries import Entries
from shrinker.values.upstream import module_name


def judge_entries(trees: Trees) -> Entries:
    """Nothing for rules without an `[[entry]]`."""
    tree, out, rules = trees.source, trees.out, trees.stated
    if not rules.entries:
        return Entries()
    kept = [entry.path for entry in trees.manifest.files if entry.path in tree.by_path and module_name(entry.path)]
    before = {path: tree.by_path[path].sha256 for path in kept}
    after = {path: sha256_of(out / path) for path in kept if (out / path).is_file()}
    table = out / TABLE
    layer = trees.cache.layer("entries judged")
    # A run asks twice: its reports, and its evidence.
    key = layer.key(
        rules.digest,
        sha256_of(table) if table.is_file() else "",
        *(f"{file.path} {file.sha256}" for file in tree.files if file.path.endswith(".py")),
        *(f"{path} {sha256}" for path, sha256 in after.items()),
    )
    known = layer.load({"": key})
    if known:
        judged: Entries = unpack(known[""])
        return judged
    theirs = _read_all(trees, tree.root, before)
    ours = _read_all(trees, out, after)
    placed = frozenset(row.rule for row in refused_rows(table_of(out)))

    @remembered
    def text(path: str) -> bytes:
        return tree.read(path)

    def written(pattern: str) -> bool:
        word = pattern.rpartition(".")[2].strip("*").encode()
        return any(
            word in text(path)
            for path in kept
            if pattern.startswith(".") or overlap(pattern, f"{module_name(path)}.**")
        )

    outside = Outside(rules, theirs, placed, written)
    claims = judge_claims(outside)
    modules = [(module, path) for path in tree.by_path if (module := module_name(path)) is not None]
    effects = flag_effects(outside, ours, modules, tree.read)
    findings = (*unenforced(claims, rules), *without_effect(effects, outside))
    judged = Entries(tuple(claims), tuple(effects), findings)
    layer.save({"": key}, {"": pack(judged)})
    return judged


def _read_all(trees: Trees, root: Path, hashes: Mapping[str, str]) -> list[Entered]:
    layer, entries = trees.cache.layer(ENTERED), trees.stated.entries
    said = hashlib.sha256(repr(entries).encode()).hexdigest()
    keys = {path: layer.key(path, sha256, said) for path, sha256 in hashes.items()}
    call = partial(_read, root, entries)
    return [*map_cached(call, layer, keys, lambda path: (root / path).stat().st_size, jobs=trees.jobs).values()]


def _read(root: Path, entries: tuple[Entry, ...], path: str) -> bytes:
    return pack(read_entered((root / path).read_bytes(), path, entries))
