"""Evidence level *references*: the tree names nothing that is not there, unless upstream does so too.

Checks:
    undefined names: files that ruff read for F821, F822 and F823.
    star-import names: names that ruff leaves open because of a star import, resolved here.
    imports: import statements of `sglang` modules, in functions and under TYPE_CHECKING too.
    module attributes: ``module.name`` on an imported `sglang` module.
    string paths: strings that are dotted paths into the package.
    data files: strings that have the name of a data or native file of upstream.
    exported names: strings of `__all__`.
    decorators: of kept definitions, in files that are not as upstream wrote them.
    names by text: names of modules that kept code looks up by a text.
    imports of loops: modules that a loop over spelled out rows imports (needs the rules).
    tables: data files beside others of their kind that stay (needs the rules).
    includes, build lists, operators: what native sources include, what their builds name, what they register.
    commands: what installing the package makes calls something that is there.
    companions: imports of packages that travel beside the served one.
    unenforced, flags without effect: what the rules say of flags, requests and variables is refused where it comes in (`entries`);
        open questions about an upstream that nobody answers for.
    rows: of tables and lists of the same files, and calls that register, whose value is still there, or whose key is a class that is.
    bases: of kept classes, in files that are not as upstream wrote them: nothing that kept code looks up came from one that is gone.
    members: methods and attributes that kept classes of upstream lost, looked for among the names that kept code looks up; fields of
        what is made by its fields, and methods below a class of another package, which are asked for without a name, may not go.

Limits: an attribute of an object that is not a module is checked only where a kept class had one of that name, and a name that code
computes is not;
the level *imports* executes the modules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache as remembered
from functools import partial
from pathlib import Path

from shrinker.cache import Cache, pack
from shrinker.check.bases import lost_bases
from shrinker.check.commands import lost_commands
from shrinker.check.companions import Companions, lost_imports
from shrinker.check.entries import judge_entries
from shrinker.check.families import Families
from shrinker.check.loaded import lost_imports_of_loops
from shrinker.check.members import Refused, lost_decorators, lost_dispatches, lost_members, lost_rows, read_refused
from shrinker.check.native import NativeSources
from shrinker.check.reader import read_symbols
from shrinker.check.registered import lost_by_text
from shrinker.check.resolve import Modules
from shrinker.check.rule_index import index_rules
from shrinker.check.ruled import refuted_lines
from shrinker.check.strings import DataFiles, dangling_paths
from shrinker.check.symbols import SYMBOLS, ModuleSymbols
from shrinker.check.tables import lost_tables
from shrinker.check.undefined import STAR, RuffRun, Undefined
from shrinker.check.workers import map_cached
from shrinker.ruleset import Ruleset
from shrinker.source.cache import sha256_of
from shrinker.values.entries import Entries
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.refusals import FILE as REFUSALS_FILE
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree


def verify_references(
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
    """Judge what the Python files of `out` name.

    Args:
        tree: upstream, as the `source` phase gave it.
        out: the generated tree, in the layout of upstream's repository.
        manifest: its list of files.
        jobs: number of processes.
        progress: receives one line a step.
        cache: symbols of files that were read before; by default none. What they resolve to is judged each time.
        rules: those by which the tree was made; without them the checks that need them look at nothing.
        meanwhile: called in this process while others read files, if they are.

    Returns:
        Evidence of level ``references``; `findings` is empty exactly when it passed.

    Raises:
        InputError: ruff is missing or fails.
        ShrinkerError: a worker process was killed.
    """
    entries = [entry for entry in manifest.files if entry.path.endswith(".py") and (out / entry.path).is_file()]
    paths = [entry.path for entry in entries]
    progress(f"references: {len(paths)} Python files")
    ruff = RuffRun(out, paths)
    try:
        # By the bytes that are there, not by what the manifest says of them: it may be the file that is wrong.
        hashes = {path: sha256_of(out / path) for path in paths}
        lines = {entry.path: entry.lines_after for entry in entries}
        kept = read_all(out, hashes, lines, jobs, cache or Cache.off(), meanwhile)
        undefined = ruff.result()
    finally:
        ruff.stop()
    unchanged = {path for path in paths if path in tree.by_path and tree.by_path[path].sha256 == hashes[path]}
    generated = Modules(out, (entry.path for entry in manifest.files), {s.path: s for s in kept})
    upstream = Modules(tree.root, tree.by_path, {s.path: s for s in kept if s.path in unchanged})
    progress("references: names indexed")

    judge = _Judge(generated, upstream)
    stars = [u for u in undefined if u.code == STAR]
    judge.undefined(tree, [u for u in undefined if u.code != STAR])
    judge.star_names(stars, {s.path: s for s in kept})
    for symbols in kept:
        judge.imports(symbols)
        judge.attributes(symbols)
        judge.exports(symbols)
    path_count, dangling = dangling_paths(kept, generated, upstream)
    file_count, missing = DataFiles(tree.by_path, (f.path for f in manifest.files)).missing(kept)
    fewer = {e.path: e for e in entries if e.changed and e.path in tree.by_path}
    theirs = read_all(
        tree.root,
        {path: tree.by_path[path].sha256 for path in fewer},
        {path: entry.lines_before for path, entry in fewer.items()},
        jobs,
        cache or Cache.off(),
    )
    before = {s.path: s for s in theirs}
    index = index_rules(rules) if rules is not None else None
    families = Families(kept, generated.is_module)
    member_count, members = lost_members(kept, before, families, index)
    base_count, bases = lost_bases(kept, before, upstream, families)
    decorator_count, decorators = lost_decorators(kept, before)
    never_run = remembered(partial(refuted_lines, tree.root, index))
    row_count, rows = lost_rows(kept, before, _refused(out), index, never_run)
    handler_count, handlers = lost_dispatches(kept, before)
    text_count, texts = lost_by_text(kept, before, index)
    recorded = [entry.path for entry in manifest.files]
    table_count, tables = lost_tables(kept, tree.by_path, recorded, index) if index else (0, [])
    native = NativeSources(tree.root, out, tree.by_path, recorded)
    checks = {
        "includes": native.lost_includes(index),
        "build lists": native.lost_sources(),
        "operators": native.lost_operators(),
        "imports of loops": lost_imports_of_loops(tree.root, out, fewer, (s.module for s in kept if s.module), index)
        if index
        else (0, []),
        "commands": lost_commands(out, tree.declared.scripts, generated, upstream),
        "companions": lost_imports(kept, Companions.of(out, paths, kept), Companions.of(tree.root, tree.by_path)),
    }
    entered = judge_entries(tree, out, manifest, rules, jobs=jobs, cache=cache or Cache.off()) if rules else Entries()
    lost = (
        *members,
        *bases,
        *decorators,
        *rows,
        *handlers,
        *texts,
        *tables,
        *(f for _, found in checks.values() for f in found),
    )
    findings = sorted({*judge.findings, *dangling, *missing, *lost}, key=_order)
    inherited = sorted(set(judge.inherited), key=_order)
    progress(f"references: {len(findings)} findings, {len(inherited)} inherited from upstream")
    counts = {
        "undefined names": len(paths),
        "star-import names": len(stars),
        "imports": sum(len(s.imports) for s in kept),
        "module attributes": sum(len(s.attributes) for s in kept),
        "string paths": path_count,
        "data files": file_count,
        "exported names": sum(len(s.exports or ()) for s in kept),
        "members": member_count,
        "bases": base_count,
        "decorators": decorator_count,
        "rows": row_count + handler_count,
        "names by text": text_count,
        "tables": table_count,
        **{name: count for name, (count, _) in checks.items()},
        "claims enforced": len(entered.claims),
        "effects of flags": len(entered.flags),
    }
    return Evidence(
        level="references",
        passed=not findings,
        checks=tuple(counts.items()),
        findings=tuple(findings),
        inherited=tuple(inherited),
        open=tuple(sorted(set(entered.findings), key=_order)),
    )


def read_all(
    out: Path,
    hashes: Mapping[str, str],
    lines: Mapping[str, int],
    jobs: int,
    cache: Cache,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[ModuleSymbols]:
    """Symbols of these files, in their order."""
    layer = cache.layer(SYMBOLS)
    keys = {path: layer.key(path, sha256) for path, sha256 in hashes.items()}
    return [*map_cached(partial(_read, out), layer, keys, lines.__getitem__, jobs=jobs, meanwhile=meanwhile).values()]


def _read(root: Path, path: str) -> bytes:
    return pack(read_symbols(root / path, path))


def _refused(out: Path) -> Refused:
    table = out / f"{PACKAGE_PREFIX}{REFUSALS_FILE}"
    return read_refused(table.read_text("utf-8")) if table.is_file() else Refused()


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.path, finding.line, finding.check, finding.message


class _Judge:
    """Collects what does not resolve, and tells upstream's own faults from the tree's."""

    def __init__(self, generated: Modules, upstream: Modules) -> None:
        self.generated = generated
        self.upstream = upstream
        self.findings: list[Finding] = []
        self.inherited: list[Finding] = []

    def _add(self, finding: Finding, inherited: bool) -> None:
        (self.inherited if inherited else self.findings).append(finding)

    def undefined(self, tree: UpstreamTree, found: Sequence[Undefined]) -> None:
        """Upstream's own: the same name in the same file."""
        theirs: set[tuple[str, str, str]] = set()
        again = sorted({u.path for u in found if u.path in tree.by_path})
        if again:
            theirs = {(u.path, u.code, u.name) for u in RuffRun(tree.root, again).result()}
        for u in found:
            finding = Finding("undefined names", u.path, u.line, f"{u.message} ({u.code})")
            self._add(finding, (u.path, u.code, u.name) in theirs)

    def star_names(self, found: Sequence[Undefined], kept: dict[str, ModuleSymbols]) -> None:
        for u in found:
            symbols = kept[u.path]
            dotted = symbols.module
            if dotted is None or symbols.error is not None:
                continue
            lost = self.generated.lost(self.upstream, dotted, u.name)
            if lost or not self.generated.binds(dotted, u.name):
                finding = Finding(
                    "star-import names", u.path, u.line, f"no star import of this file defines {u.name!r}"
                )
                self._add(finding, dotted in self.upstream and not self.upstream.binds(dotted, u.name))

    def imports(self, symbols: ModuleSymbols) -> None:
        if symbols.error is not None:
            self._unreadable(symbols)
        for line, module, name in symbols.imports:
            lost = name is not None and self.generated.lost(self.upstream, module, name)
            if lost or not self.generated.imports(module, name):
                what = f"{module}.{name}" if module in self.generated and name is not None else module
                finding = Finding("imports", symbols.path, line, f"nothing in this tree is {what}")
                self._add(finding, not self.upstream.imports(module, name))

    def _unreadable(self, symbols: ModuleSymbols) -> None:
        finding = Finding("imports", symbols.path, 0, f"cannot be parsed: {symbols.error}")
        theirs = self.upstream.symbols(symbols.module) if symbols.module is not None else None
        self._add(finding, theirs is not None and theirs.error is not None)

    def attributes(self, symbols: ModuleSymbols) -> None:
        for use in symbols.attributes:
            lacking = None if use.stored else self.generated.attribute(use.target, use.chain)
            if lacking is not None:
                module, name = lacking
                finding = Finding("module attributes", symbols.path, use.line, f"module {module} has no {name!r}")
                self._add(finding, self.upstream.attribute(use.target, use.chain) == lacking)

    def exports(self, symbols: ModuleSymbols) -> None:
        dotted = symbols.module
        if dotted is None:
            return
        for name, line in symbols.exports or ():
            if not self.generated.imports(dotted, name):
                finding = Finding("exported names", symbols.path, line, f"__all__ names {name!r}, which is not defined")
                self._add(finding, not self.upstream.imports(dotted, name))
