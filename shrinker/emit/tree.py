"""Write the generated tree: changed files rewritten, the others copied, and the files that are
shrinker's own.
"""

import errno
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from shrinker import __version__
from shrinker.cache import Cache
from shrinker.cache.workers import Progress, cached
from shrinker.emit.lost_names import find_lost_names
from shrinker.emit.package import NOTE, notice, pyproject, version_module
from shrinker.emit.refusals import refusals_module, removed_endpoints, removed_options
from shrinker.emit.rewrite import rewrite_modules
from shrinker.program.decided import Analysis, looking
from shrinker.program.definitions import Definition
from shrinker.program.interface.compare import compare_interfaces
from shrinker.program.interface.offers import read_offered
from shrinker.program.interface.syntax import Syntax
from shrinker.project import CHECKOUT
from shrinker.ruleset.models import Ruleset
from shrinker.syntax.ranges import count_lines
from shrinker.values.distributions import Distributions
from shrinker.values.edits import FILE as REFUSALS_FILE
from shrinker.values.edits import Cut
from shrinker.values.errors import InputError
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.interface import Interface
from shrinker.values.manifest import MANIFEST, Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import (
    PACKAGE_PREFIX,
    UpstreamTree,
    compiled_modules,
    module_name,
    modules_of,
)

_HASH_COMMENTS = ("CMakeLists.txt", ".cmake", ".toml")
"""Ends of the names of files whose comments start with ``#``; those of other native files start
with ``//``.
"""
_REFUSALS_PATH = f"{PACKAGE_PREFIX}{REFUSALS_FILE}"


@dataclass(frozen=True, slots=True)
class Emitted:
    """What was written."""

    manifest: Manifest
    interface: Interface
    """What the command lines and servers of the tree take and answer otherwise than upstream's."""
    lost: Mapping[str, Mapping[Definition, str]]
    """By path of each kept module its public names that are gone, with the rule."""


class Writer:
    """Writes files and records them."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.files: list[EmittedFile] = []

    def read(self, path: str) -> bytes:
        """Return bytes of a file that was written."""
        return (self.out / path).read_bytes()

    def put(
        self,
        path: str,
        data: bytes,
        original: bytes | None = None,
        *,
        executable: bool = False,
        digest: str | None = None,
    ) -> None:
        """Write one file of the tree, with upstream's bytes where it is none of shrinker's own, and
        where it was rewritten the digest of the decided syntax tree.
        """
        self.write(path, data, executable=executable)
        before, changed = (
            (0, False) if original is None else (count_lines(original), data != original)
        )
        sha256 = hashlib.sha256(data).hexdigest()
        self.files.append(EmittedFile(path, sha256, before, count_lines(data), changed, digest))

    def write(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Write one file and no record."""
        target = f"{self.out}/{path}"
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), 0o755 if executable else 0o644)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise InputError(
                f"cannot write {path} in {self.out}: {error.strerror or error}",
                "free some space and run again" if full else "check the output folder",
            ) from error


def emit_tree(
    tree: UpstreamTree,
    rules: Ruleset,
    analysis: Analysis,
    out: Path,
    cache: Cache,
    progress: Progress = lambda done, total: None,
) -> Emitted:
    """Write every kept file, and SHRINK.json, into `out`, an empty folder (see `staging_folder`),
    which `install` puts in its place.

    The bytes depend on nothing but the arguments: not on the machine or the Python version. Raises
    InputError: a file cannot be read or written (a full disk), or changed since the tree was read;
    Unwritable: edits of some files could not be applied; `out` is still empty.
    """
    writer = Writer(out)
    graph, folded = analysis.graph, analysis.folded
    own = _own_files(tree, graph, rules.profile, analysis.distributions)
    paths = [path for path in sorted(graph.kept) if path not in own and path != _REFUSALS_PATH]
    rewritten = _rewritten(
        tree, [folded[path] for path in paths if path in folded and folded[path].edits], cache
    )
    for done, path in enumerate(paths, 1):
        data = _read(tree, path)
        text = rewritten.get(path, data)
        if gone := analysis.cuts.get(path):
            text = without_lines(path, data, gone)
        digest = folded[path].digest if path in rewritten else None
        writer.put(path, text, data, executable=os.access(tree.root / path, os.X_OK), digest=digest)
        progress(done, len(paths))
    features = {rule.id: rule.feature for rule in rules.removes} | {
        rule.id: rule.feature for rule in rules.registries
    }
    modules = {file.path: file.sha256 for file in writer.files if module_name(file.path)}
    # What a server no longer has is seen where it is written.
    interface = _interface(tree, rules, folded, graph, writer.read, modules, cache)
    lost = find_lost_names(tree, rules, folded, modules, writer.read, cache, analysis.known)
    asked = looking(folded)
    # With an equals sign where they are never set.
    off = [(name, fact) for fact in rules.facts for name in fact.environment if not fact.value]
    refused = refusals_module(
        [rule for rule in rules.refusals if not rule.modules or rule.id in asked],
        sorted((name if fact.value is False else f"{name}=", fact.id) for name, fact in off),
        folded,
        graph.kept,
        graph.removed,
        features,
        removed_endpoints(interface, rules, folded, graph.kept),
        removed_options(interface, rules),
        lost,
    )
    if refused is not None:
        own[_REFUSALS_PATH] = refused.encode()
    for path, data in sorted(own.items()):
        writer.put(path, data)
    manifest = Manifest(
        __version__,
        rules.profile,
        rules.digest,
        tree.identity,
        tuple(sorted(writer.files, key=lambda file: file.path)),
        tuple(sorted({(rule.text, rule.by) for rule in rules.defaults})),
    )
    writer.write(MANIFEST, manifest.to_json().encode())
    return Emitted(manifest, interface, lost.public)


def without_lines(path: str, data: bytes, cuts: Sequence[Cut]) -> bytes:
    """Return the file without some lines, and with the note that it was changed before its first
    line.

    Of blank lines on both sides of what goes, those after it go too. The path says which comments
    the file's language has.
    """
    rows = data.split(b"\n")
    gone = {line for cut in cuts for line in range(cut.first, cut.last + 1)}
    kept: list[bytes] = []
    after_cut = False
    for number, row in enumerate(rows, 1):
        after_cut = after_cut or number in gone
        meet = (
            after_cut
            and not row.strip()
            and number < len(rows)
            and (not kept or not kept[-1].strip())
        )
        if number not in gone and not meet:
            kept.append(row)
            after_cut = False
    sign = "#" if path.rpartition("/")[2].endswith(_HASH_COMMENTS) else "//"
    return b"\n".join([f"{sign} {NOTE}".encode(), *kept])


def _rewritten(
    tree: UpstreamTree, modules: Sequence[FoldedModule], cache: Cache
) -> dict[str, bytes]:
    """New texts of modules, by path: rewritten now, or what the same edits made of the same text
    before.
    """
    layer = cache.layer("rewritten")
    by_path = {module.path: module for module in modules}
    keys = {m.path: layer.key(tree.by_path[m.path].sha256, repr(m.edits)) for m in modules}
    read = partial(_read, tree)
    return layer.packed(
        keys, lambda missing: rewrite_modules(map(by_path.__getitem__, missing), read).values()
    )


def _interface(
    tree: UpstreamTree,
    rules: Ruleset,
    folded: Mapping[str, FoldedModule],
    graph: Graph,
    read: Callable[[str], bytes],
    written: Mapping[str, str],
    cache: Cache,
) -> Interface:
    """Return what command lines and servers take otherwise than upstream's; `written` has the
    SHA-256 of every module of the tree.
    """
    upstream = Syntax(modules_of(tree.by_path), tree.read)
    hashes = repr(sorted((path, tree.by_path[path].sha256) for path in upstream.paths.values()))
    layer, theirs = cache.layer("interface"), cache.layer("offered")
    # What was decided follows from these.
    key = layer.key(rules.digest, hashes, repr(sorted(written.items())))

    def compare() -> Interface:
        offered = cached(theirs, theirs.key(hashes), lambda: read_offered(upstream))
        return compare_interfaces(
            offered, Syntax(modules_of(graph.kept), read), rules, folded, graph
        )

    found: Interface = cached(layer, key, compare)
    return found


def _read(tree: UpstreamTree, path: str) -> bytes:
    try:
        data = tree.read(path)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}", "check the upstream tree"
        ) from error
    if hashlib.sha256(data).hexdigest() != tree.by_path[path].sha256:
        raise InputError(f"{path} changed while shrinker was running", "run again")
    return data


def _own_files(
    tree: UpstreamTree, graph: Graph, profile: str, required: Distributions
) -> dict[str, bytes]:
    upstream_notice = (
        _read(tree, "NOTICE").decode("utf-8", "replace") if "NOTICE" in tree.by_path else None
    )
    compiled = {path: tree.by_path[path].sha256 for path in compiled_modules(graph.kept).values()}
    text = notice(
        tree.identity,
        profile=profile,
        tool_version=__version__,
        compiled=compiled,
        upstream_notice=upstream_notice,
    )
    own = {"NOTICE": text.encode(), "LICENSE": _license(tree)}
    version = tree.identity.version
    if any(path.startswith(PACKAGE_PREFIX) for path in graph.kept):
        own["python/pyproject.toml"] = pyproject(
            tree.declared, version, graph.kept, required
        ).encode()
        if version is not None:
            own[f"{PACKAGE_PREFIX}_version.py"] = version_module(version).encode()
    return own


def _license(tree: UpstreamTree) -> bytes:
    for path in ("LICENSE", "python/LICENSE"):
        if path in tree.by_path:
            return _read(tree, path)
    # Shrinker's licence is upstream's: the same text serves a tree that came without it.
    checkout = CHECKOUT / "LICENSE"
    if checkout.is_file():
        return checkout.read_bytes()
    own = metadata.distribution("shrinker").read_text("licenses/LICENSE")
    if own is None:
        raise InputError(
            "the licence of shrinker is not installed with it", "install shrinker again"
        )
    return own.encode()
