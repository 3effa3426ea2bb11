"""The level as runs ask for it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from shrinker.cache import Cache, pack
from shrinker.check.allowances import OWN_FILES
from shrinker.check.capabilities.formula import Atom
from shrinker.check.capabilities.losses import Loss, losses
from shrinker.check.capabilities.vocabulary import Vocabulary
from shrinker.check.parsing import parsed
from shrinker.check.workers import map_cached
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_module_matches, name_matches, overlap
from shrinker.ruleset.models import Capability
from shrinker.source.cache import sha256_of
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.refusals import FILE
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree, module_name

LEVEL = "capabilities"
TABLE = f"{PACKAGE_PREFIX}{FILE}"


def verify_capabilities(
    tree: UpstreamTree,
    out: Path,
    manifest: Manifest,
    *,
    jobs: int,
    progress: Callable[[str], None],
    cache: Cache | None = None,
    rules: Ruleset | None = None,
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

    Returns:
        Evidence of level ``capabilities``; what it found is *open*: questions about an upstream that nobody has read, faults of the pinned one's
        tree.

    Raises:
        ShrinkerError: a worker process was killed.
    """
    if rules is None or not rules.dropped:
        return Evidence(LEVEL, True, (), (), ())
    vocabulary = Vocabulary(rules.dropped)
    found = _losses(tree, out, manifest, vocabulary, jobs, cache or Cache.off())
    findings: list[Finding] = []
    reasons: Counter[str] = Counter()
    for path, loss in found:
        name = f"{module_name(path)}.{loss.where}"
        reason = vocabulary.reason(loss.test, loss.value) or vocabulary.whole(name)
        if reason is None:
            findings.append(Finding("losses", path, loss.line, f"{loss.where or 'the module'}: {loss.what}"))
        reasons[f"explained by {reason}" if reason else "losses that no word explains"] += 1
    kept = {entry.path for entry in manifest.files}
    counts, gone = _carried(rules.capabilities, tree, out, kept)
    written, silent = _asked_for(rules.capabilities, tree, out, kept)
    refused = [*_refused(out / TABLE)]
    findings += (*gone, *silent)
    findings += [
        Finding("refused", TABLE, line, f"{rule} refuses {said[0]!r}")
        for line, rule, said in refused
        if not vocabulary.permits(Atom(said), False)
    ]
    progress(f"{LEVEL}: {len(found)} losses, {len(findings)} open")
    checks = (
        *sorted(reasons.items()),
        *((name, counts[name]) for name in ("modules", "definitions")),
        ("names", written),
        ("refused", len(refused)),
    )
    order = sorted(set(findings), key=lambda f: (f.path, f.line, f.check, f.message))
    return Evidence(LEVEL, True, checks, (), (), tuple(order))


def _refused(table: Path) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """What the generated tree refuses by name: line, rule, and the value with its attributes, or an attribute of which any value is refused."""
    for node in ast.walk(ast.parse(table.read_bytes())) if table.is_file() else ():
        match node:
            case ast.Call(func=ast.Name(id="Refusal"), args=[_, *row]):
                attributes, values, only, _, rule = map(ast.literal_eval, row[:5])
                alone = [] if values or only else [(attribute,) for attribute in attributes]
                for said in (*((value, *attributes) for value in values), *alone):
                    yield node.lineno, rule, said
            case ast.AnnAssign(target=ast.Name(id="SWITCHES"), value=ast.Tuple(elts=switches)):
                for switch in switches:
                    name, rule = ast.literal_eval(switch)
                    yield switch.lineno, rule, (name.rstrip("="),)


def _losses(
    tree: UpstreamTree,
    out: Path,
    manifest: Manifest,
    vocabulary: Vocabulary,
    jobs: int,
    cache: Cache,
) -> list[tuple[str, Loss]]:
    entries = {
        entry.path: entry
        for entry in manifest.files
        if entry.changed and entry.path.endswith(".py") and entry.path in tree.by_path and entry.path not in OWN_FILES
    }
    layer = cache.layer(LEVEL)
    keys = {
        # By the bytes that are there, not by what the manifest says of them.
        path: layer.key(path, sha256_of(out / path), tree.by_path[path].sha256, vocabulary.digest)
        for path in entries
        if (out / path).is_file()
    }
    call = partial(_of_file, tree.root, out, vocabulary)
    weight = {path: entry.lines_before for path, entry in entries.items()}
    found = map_cached(call, layer, keys, weight.__getitem__, jobs=jobs)
    return [(path, loss) for path, some in found.items() for loss in some]


def _of_file(root: Path, out: Path, vocabulary: Vocabulary, path: str) -> bytes:
    ours, theirs = (parsed((base / path).read_bytes(), path) for base in (root, out))
    return pack(losses(ours, theirs, vocabulary) if ours is not None and theirs is not None else [])


def _carried(
    capabilities: Sequence[Capability], tree: UpstreamTree, out: Path, kept: Collection[str]
) -> tuple[Counter[str], list[Finding]]:
    """How many modules and definitions of upstream carry a capability, and those that are gone."""
    counts: Counter[str] = Counter()
    findings: list[Finding] = []
    patterns = [pattern for row in capabilities for pattern in row.definitions]
    # Most modules may hold none of them, and most of the others define none: these are not read, or not parsed.
    defined = re.compile(rb"\b(?:class|def) +(?:" + (b"|".join(map(_last, patterns)) or rb"(?!)") + rb")\b")
    for path in tree.by_path:
        module = module_name(path)
        if module is None:
            continue
        carrying = [row for row in capabilities if row.modules and any_module_matches(row.modules, module)]
        counts["modules"] += len(carrying)
        if path not in kept:
            findings += [Finding("modules", path, 0, f"carries {row.id}, and is not in the tree") for row in carrying]
        data = tree.read(path) if any(overlap(pattern, f"{module}.**") for pattern in patterns) else b""
        before = parsed(data, path) if defined.search(data) else None
        if before is None:
            continue
        after = parsed((out / path).read_bytes(), path) if (out / path).is_file() else None
        left = set(_names(after, module)) if after else set()
        for name in _names(before, module):
            for row in capabilities:
                if any(name_matches(pattern, name) for pattern in row.definitions):
                    counts["definitions"] += 1
                    if name not in left:
                        findings.append(Finding("definitions", path, 0, f"{name} carries {row.id}, and is gone"))
    return counts, findings


def _last(pattern: str) -> bytes:
    return re.escape(pattern.rpartition(".")[2]).replace(r"\*", r"\w*").encode()


def _asked_for(
    capabilities: Sequence[Capability], tree: UpstreamTree, out: Path, kept: Collection[str]
) -> tuple[int, list[Finding]]:
    """How many names that ask for a capability upstream writes in kept files, and those that are not written there any more."""
    asked = {name: row.id for row in capabilities for name in row.names}
    package = [path for path in tree.by_path if path.startswith(PACKAGE_PREFIX) and path.endswith(".py")]
    here = [path for path in package if path in kept and (out / path).is_file()]
    left = asked.keys() - _written(out, here, asked)
    gone = sorted(left & _written(tree.root, here, left))
    return len(asked) - len(left) + len(gone), [
        Finding("names", PACKAGE_PREFIX, 0, f"{name!r} asks for {asked[name]}, and nothing writes it") for name in gone
    ]


def _written(root: Path, paths: Iterable[str], names: Iterable[str]) -> set[str]:
    """Which of these names any of the files writes."""
    left = {name: name.encode() for name in names}
    found: set[str] = set()
    for path in paths:
        if not left:
            break
        data = (root / path).read_bytes()
        here = {name for name, text in left.items() if text in data}
        found |= here
        left = {name: text for name, text in left.items() if name not in here}
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
