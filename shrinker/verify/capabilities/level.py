"""The level as runs ask for it."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

from shrinker.cache import Cache, pack, unpack
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_module_matches, name_matches
from shrinker.ruleset.models import Capability
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree, module_name
from shrinker.verify.allowances import OWN_FILES
from shrinker.verify.capabilities.formula import Atom
from shrinker.verify.capabilities.losses import Loss, losses
from shrinker.verify.capabilities.vocabulary import Vocabulary
from shrinker.verify.parsing import parsed
from shrinker.verify.workers import map_files

LEVEL = "capabilities"


def verify_capabilities(
    tree: UpstreamTree,
    out: Path,
    manifest: Manifest,
    *,
    jobs: int,
    progress: Callable[[str], None],
    cache: Cache | None = None,
    rules: Ruleset | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Evidence:
    """Judge a tree by what its profile keeps.

    Args:
        tree: upstream.
        out: the generated tree.
        manifest: its list of files.
        jobs: number of processes.
        progress: receives one line.
        cache: losses of pairs of files that were compared before.
        rules: of the profile, of which only `[[capability]]` and `[[dropped]]` are read; without such rows nothing is looked at.
        meanwhile: called in this process while others read files, if they are.

    Returns:
        Evidence of level ``capabilities``; what it found is *open*: questions about an upstream that nobody has read, faults of the pinned one's
        tree.

    Raises:
        ShrinkerError: a worker process was killed.
    """
    if rules is None or not rules.dropped:
        return Evidence(LEVEL, True, (), (), ())
    vocabulary = Vocabulary(rules.dropped)
    found = list(_losses(tree, out, manifest, vocabulary, jobs, cache or Cache.off(), meanwhile))
    findings: list[Finding] = []
    reasons: Counter[str] = Counter()
    for path, loss in found:
        # What is within something dropped needs no further word.
        within = Atom((*path.split("/"), *loss.where.split(".")))
        reason = vocabulary.reason(loss.test, loss.value) or vocabulary.reason(within, False)
        if reason is None:
            findings.append(Finding("losses", path, loss.line, f"{loss.where or 'the module'}: {loss.what}"))
        reasons[f"explained by {reason}" if reason else "losses that no word explains"] += 1
    kept = {entry.path for entry in manifest.files}
    modules = definitions = 0
    for capability in rules.capabilities:
        for path in tree.by_path:
            module = module_name(path)
            if module is not None and any_module_matches(capability.modules, module):
                modules += 1
                if path not in kept:
                    findings.append(Finding("modules", path, 0, f"carries {capability.id}, and is not in the tree"))
        theirs, missing = _definitions(capability, tree, out)
        definitions += theirs
        findings += missing
    findings += (nameless := _Names(tree, out, kept)).findings(rules.capabilities)
    progress(f"{LEVEL}: {len(found)} losses, {len(findings)} open")
    checks = (*sorted(reasons.items()), ("modules", modules), ("definitions", definitions), ("names", nameless.count))
    order = sorted(set(findings), key=lambda f: (f.path, f.line, f.check, f.message))
    return Evidence(LEVEL, True, checks, (), (), tuple(order))


def _losses(
    tree: UpstreamTree,
    out: Path,
    manifest: Manifest,
    vocabulary: Vocabulary,
    jobs: int,
    cache: Cache,
    meanwhile: Callable[[], None],
) -> Iterator[tuple[str, Loss]]:
    entries = {
        entry.path: entry
        for entry in manifest.files
        if entry.changed and entry.path.endswith(".py") and entry.path in tree.by_path and entry.path not in OWN_FILES
    }
    layer = cache.layer(LEVEL)
    keys = {}
    for path in entries:
        # By the bytes that are there, not by what the manifest says of them.
        data = (out / path).read_bytes() if (out / path).is_file() else b""
        keys[path] = layer.key(path, hashlib.sha256(data).hexdigest(), tree.by_path[path].sha256, vocabulary.digest)
    packed = layer.load(keys)
    missing = [path for path in keys if path not in packed]
    read = map_files(
        partial(_of_file, tree.root, out, vocabulary),
        missing,
        [entries[path].lines_before for path in missing],
        jobs=jobs,
        meanwhile=meanwhile,
    )
    fresh = dict(zip(missing, read, strict=True))
    layer.save(keys, fresh)
    for path in keys:
        for loss in unpack(packed.get(path) or fresh[path]):
            yield path, loss


def _of_file(root: Path, out: Path, vocabulary: Vocabulary, path: str) -> bytes:
    ours, theirs = (
        parsed(folder.read_bytes(), path) if (folder := base / path).is_file() else None for base in (root, out)
    )
    return pack(losses(ours, theirs, vocabulary) if ours is not None and theirs is not None else [])


def _definitions(capability: Capability, tree: UpstreamTree, out: Path) -> tuple[int, list[Finding]]:
    """How many definitions of upstream carry it, and those that are gone."""
    count, missing = 0, []
    for path in tree.by_path if capability.definitions else ():
        module = module_name(path)
        if module is None:
            continue
        data = tree.read(path)
        # Cheap, since most modules define none of them.
        asked = [name for name in capability.definitions if name.rpartition(".")[2].encode() in data]
        before = parsed(data, path) if asked else None
        carried = [n for n in _names(before, module) if any(name_matches(p, n) for p in asked)] if before else []
        if not carried:
            continue
        count += len(carried)
        after = parsed((out / path).read_bytes(), path) if (out / path).is_file() else None
        left = set(_names(after, module)) if after else set()
        gone = [name for name in carried if name not in left]
        missing += [Finding("definitions", path, 0, f"{name} carries {capability.id}, and is gone") for name in gone]
    return count, missing


class _Names:
    """Whether names are written anywhere in the kept files: as upstream has them, and as they are now."""

    def __init__(self, tree: UpstreamTree, out: Path, kept: Collection[str]) -> None:
        package = [path for path in tree.by_path if path.startswith(PACKAGE_PREFIX) and path.endswith(".py")]
        here = [path for path in package if path in kept and (out / path).is_file()]
        self._ours, self._theirs = (tree.root, here), (out, here)
        self.count = 0
        """Of names that upstream writes."""

    def findings(self, capabilities: Iterable[Capability]) -> list[Finding]:
        asked = {name: row.id for row in capabilities for name in row.names}
        left = asked.keys() - self._written(*self._theirs, asked)
        gone = sorted(left & self._written(*self._ours, left))
        self.count = len(asked) - len(left) + len(gone)
        return [
            Finding("names", PACKAGE_PREFIX, 0, f"{name!r} asks for {asked[name]}, and nothing writes it")
            for name in gone
        ]

    @staticmethod
    def _written(root: Path, paths: Iterable[str], names: Iterable[str]) -> set[str]:
        left = {name: name.encode() for name in names}
        found: set[str] = set()
        for path in paths:
            if not left:
                break
            data = (root / path).read_bytes()
            here = [name for name, text in left.items() if text in data]
            found.update(here)
            for name in here:
                del left[name]
        return found


def _names(tree: ast.Module, module: str) -> Iterator[str]:
    """Qualified names of functions and classes, methods included."""
    stack: list[tuple[str, ast.AST]] = [(module, tree)]
    while stack:
        name, node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield f"{name}.{child.name}"
                if isinstance(child, ast.ClassDef):
                    stack.append((f"{name}.{child.name}", child))
            elif isinstance(child, ast.If | ast.Try | ast.With | ast.ExceptHandler):
                stack.append((name, child))
