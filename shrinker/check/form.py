"""Evidence level *form*: the files are the recorded ones, they compile, and they only delete.

Checks:
    files: every file of the manifest is there with its recorded SHA-256.
    extra files: nothing else is (SHRINK.json and byte code of an import aside).
    own files: a file that upstream does not have is in `allowances.OWN_FILES`.
    unchanged files: their SHA-256 is upstream's.
    compiled: every Python file compiles.
    decided trees: the syntax tree of every changed Python file is the one that was decided.
    refuted arms: where a test that the rules decide is gone, so is the arm that never runs (needs the rules).
    registrations: statements and decorators that file something when a module is loaded (needs the rules).
    subsequence files, subsequence tokens: what `subsequence` compared.
    allowed: <name>: how often each allowance was used.
"""

from __future__ import annotations

import ast
import hashlib
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from shrinker.cache import Cache, pack, turns, unpack
from shrinker.check import allowances
from shrinker.check.constant_functions import constant_functions
from shrinker.check.reader import symbols_of
from shrinker.check.rule_index import RuleIndex, index_rules
from shrinker.check.ruled import Pair, judge_by_rules
from shrinker.check.subsequence import align
from shrinker.check.symbols import SYMBOLS, ModuleSymbols
from shrinker.check.tokens import logical_lines, split
from shrinker.check.workers import map_files
from shrinker.ruleset import Ruleset
from shrinker.values import form as syntax
from shrinker.values.contents import contents
from shrinker.values.errors import ShrinkerError
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile, Evidence, Finding
from shrinker.values.upstream import UpstreamTree

LOCK = "SHRINK.json"


@dataclass(frozen=True, slots=True)
class _Task:
    entry: EmittedFile
    generated: Path
    upstream: Path | None
    """`None` for a file that upstream does not have, or that shrinker writes anew."""
    upstream_sha256: str
    """Empty when there is none."""
    defaults: tuple[tuple[str, str], ...] = ()
    """Texts that rules replace, from the manifest."""
    theirs: bytes | None = None
    """What upstream's file says, packed, where that was read before."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    counts: dict[str, int]
    findings: tuple[Finding, ...] = ()
    inherited: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a worker returns, packed for the cache."""

    outcome: bytes
    symbols: bytes | None
    """Of a Python file that parses."""
    theirs: bytes | None = None
    """Of upstream's file, where it was read now, too."""


def verify_form(
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
    """Judge the files of `out` against the manifest and against upstream.

    Args:
        tree: upstream, as the `source` phase gave it.
        out: the generated tree, in the layout of upstream's repository.
        manifest: what `out` says of itself.
        jobs: number of processes.
        progress: receives one line a step.
        cache: outcomes of files that were judged before; by default none. Every file is hashed in any case.
        rules: those by which the tree was made; without them no arm is looked for.
        meanwhile: called in this process while others judge files, if they are.

    Returns:
        Evidence of level ``form``; `findings` is empty exactly when it passed.

    Raises:
        ShrinkerError: a worker process was killed.
    """
    progress(f"form: {len(manifest.files)} files")
    findings: list[Finding] = []
    counts: Counter[str] = Counter()
    _compare_listing(out, manifest, findings, counts)
    _compare_with_upstream(tree, manifest, findings, counts)

    tasks = [
        _Task(entry, out / entry.path, tree.root / entry.path, tree.by_path[entry.path].sha256, manifest.defaults)
        if _derives(tree, entry.path)
        else _Task(entry, out / entry.path, None, "")
        for entry in manifest.files
        if (out / entry.path).is_file()
    ]
    inherited: list[Finding] = []
    cache = cache or Cache.off()
    index = None
    if rules is not None:
        # What the rules decide of a function changes its file.
        python = [t for t in tasks if t.entry.changed and t.upstream is not None and t.entry.path.endswith(".py")]
        hashes = {task.entry.path: task.upstream_sha256 for task in python}
        index = index_rules(rules)
        index = index.with_functions(constant_functions(tree.root, hashes, index, jobs=jobs, cache=cache))
    for outcome in _judge_all(tasks, jobs, cache, index, meanwhile):
        counts.update(outcome.counts)
        findings += outcome.findings
        inherited += outcome.inherited
    fixed = [
        "files",
        "extra files",
        "own files",
        "unchanged files",
        "compiled",
        "decided trees",
        "refuted arms",
        "registrations",
    ]
    fixed += ["subsequence files", "subsequence tokens", *(f"allowed: {name}" for name in allowances.NAMES)]
    ordered = sorted(findings, key=_order)
    progress(f"form: {counts['compiled']} Python files compiled, {len(ordered)} findings")
    return Evidence(
        level="form",
        passed=not ordered,
        checks=tuple((name, counts[name]) for name in fixed),
        findings=tuple(ordered),
        inherited=tuple(sorted(inherited, key=_order)),
    )


def _derives(tree: UpstreamTree, path: str) -> bool:
    return path in tree.by_path and path not in allowances.OWN_FILES


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.path, finding.line, finding.check, finding.message


def _compare_listing(out: Path, manifest: Manifest, findings: list[Finding], counts: Counter[str]) -> None:
    recorded = {entry.path for entry in manifest.files}
    if len(recorded) != len(manifest.files):
        findings.append(Finding("files", LOCK, 0, "the manifest names a file twice"))
    present = set(contents(out)) - {LOCK}
    for path in sorted(present):
        if (out / path).is_symlink():
            findings.append(Finding("files", path, 0, "is a link; a generated tree holds plain files only"))
    present = {path for path in present if not (out / path).is_symlink()}
    counts["files"] += len(recorded)
    counts["extra files"] += len(present)
    findings += [Finding("files", p, 0, "is in the manifest but not in the tree") for p in sorted(recorded - present)]
    findings += [Finding("extra files", p, 0, "is not in the manifest") for p in sorted(present - recorded)]


def _compare_with_upstream(
    tree: UpstreamTree, manifest: Manifest, findings: list[Finding], counts: Counter[str]
) -> None:
    for entry in manifest.files:
        source = tree.by_path.get(entry.path)
        own = entry.path in allowances.OWN_FILES
        if own:
            counts["own files"] += 1
            if entry.lines_before == 0:
                continue  # Written anew, also where upstream has a file of this name.
        elif source is None:
            findings.append(Finding("own files", entry.path, 0, "upstream has no such file and shrinker declares none"))
        elif entry.changed and not entry.path.endswith(".py"):
            findings.append(Finding("own files", entry.path, 0, "was changed, but only Python files may be"))
        if not entry.changed and source is not None:
            counts["unchanged files"] += 1
            if entry.sha256 != source.sha256:
                findings.append(
                    Finding("unchanged files", entry.path, 0, "differs from upstream but is recorded as unchanged")
                )
        elif not entry.changed and not own:
            findings.append(Finding("unchanged files", entry.path, 0, "is recorded as unchanged but upstream has none"))


def _judge_all(
    tasks: Sequence[_Task], jobs: int, cache: Cache, index: RuleIndex | None, meanwhile: Callable[[], None]
) -> Iterator[_Outcome]:
    """Outcome of each task, in their order. What is in the cache was found for the same bytes on both sides."""
    layer, symbols = cache.layer("form"), cache.layer(SYMBOLS)
    python: dict[str, _Task] = {}
    outcomes: dict[str, _Outcome] = {}
    for task in tasks:
        entry = task.entry
        with open(task.generated, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != entry.sha256:
            finding = Finding("files", entry.path, 0, "its SHA-256 is not the one in the manifest")
            outcomes[entry.path] = _Outcome({}, (finding,))
        elif entry.path.endswith(".py"):
            python[entry.path] = task
        else:
            outcomes[entry.path] = _Outcome({})
    keys = {
        path: layer.key(
            path,
            task.entry.sha256,
            repr((task.entry.changed, task.entry.digest, task.defaults, index.digest if index else "")),
            task.upstream_sha256,
        )
        for path, task in python.items()
    }
    for some in turns(list(keys), jobs):
        packed = layer.load({path: keys[path] for path in some})
        before = {path: symbols.key(path, python[path].upstream_sha256) for path in some if path not in packed}
        theirs = symbols.load(before)
        missing = [replace(python[path], theirs=theirs.get(path)) for path in before]
        weights = [(8 if t.entry.changed else 1) * t.entry.lines_after for t in missing]
        judged = dict(
            zip(
                before,
                map_files(partial(_judge_file, index), missing, weights, jobs=jobs, meanwhile=meanwhile),
                strict=True,
            )
        )
        fresh = {path: found.outcome for path, found in judged.items()}
        layer.save(keys, fresh)
        read = {path: found.symbols for path, found in judged.items() if found.symbols is not None}
        symbols.save({path: symbols.key(path, python[path].entry.sha256) for path in read}, read)
        symbols.save(before, {path: found.theirs for path, found in judged.items() if found.theirs is not None})
        outcomes |= {path: unpack(data) for path, data in (packed | fresh).items()}
    for task in tasks:
        yield outcomes[task.entry.path]


def _judge_file(index: RuleIndex | None, task: _Task) -> _Judged:
    data = task.generated.read_bytes()
    if hashlib.sha256(data).hexdigest() != task.entry.sha256:
        raise ShrinkerError(f"{task.generated} changed while it was judged", "run again when nothing writes to it")
    parsed = _compile(data, task.entry.path)
    same = task.entry.sha256 == task.upstream_sha256 and not task.entry.changed
    if same and task.theirs is not None and not isinstance(parsed, Finding):
        # Said of the same bytes.
        return _Judged(pack(_judge_python(task, data, parsed, None, index)[0]), None)
    symbols = None if isinstance(parsed, Finding) else symbols_of(parsed, task.entry.path)
    outcome, theirs = _judge_python(task, data, parsed, symbols, index)
    read = theirs is not None and task.theirs is None
    return _Judged(pack(outcome), pack(symbols) if symbols else None, pack(theirs) if read else None)


def _judge_python(
    task: _Task, data: bytes, parsed: ast.Module | Finding, symbols: ModuleSymbols | None, index: RuleIndex | None
) -> tuple[_Outcome, ModuleSymbols | None]:
    """The outcome, and what upstream's file says where it was parsed."""
    entry, path = task.entry, task.entry.path
    counts = {"compiled": 1}
    if isinstance(parsed, Finding):
        same = not entry.changed and task.upstream is not None
        return _Outcome(counts, () if same else (parsed,), (parsed,) if same else ()), None
    if not entry.changed or task.upstream is None:
        return _Outcome(counts), None
    findings: list[Finding] = []
    counts["decided trees"] = 1
    if entry.digest is None:
        findings.append(Finding("decided trees", path, 0, "was changed but the manifest has no digest of the decision"))
    elif syntax.digest(parsed) != entry.digest:
        findings.append(Finding("decided trees", path, 0, "its syntax tree is not the one that was decided"))
    source = task.upstream.read_bytes()
    if hashlib.sha256(source).hexdigest() != task.upstream_sha256:
        raise ShrinkerError(f"{task.upstream} changed while it was read", "run again when nothing writes to it")
    theirs = _compare_tokens(task, data, source, counts, findings, symbols, index)
    return _Outcome(counts, tuple(findings)), theirs


def _compile(data: bytes, path: str) -> ast.Module | Finding:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(data, path)
            compile(parsed, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 0
        return Finding("compiled", path, line, f"does not compile: {getattr(error, 'msg', None) or error}")
    return parsed


def _compare_tokens(
    task: _Task,
    data: bytes,
    source: bytes,
    counts: dict[str, int],
    findings: list[Finding],
    symbols: ModuleSymbols | None,
    index: RuleIndex | None,
) -> ModuleSymbols | None:
    path = task.entry.path
    counts["subsequence files"] = 1
    try:
        text = data.decode("utf-8-sig")
        generated = split(text)
        upstream = split(source.decode("utf-8-sig"))
    except (SyntaxError, UnicodeDecodeError, tokenize.TokenError) as error:
        findings.append(Finding("subsequence", path, 0, f"cannot be split into tokens: {error}"))
        return None
    defaults = allowances.default_tokens(task.defaults)
    theirs = None
    if index is not None and symbols is not None:
        known = None if task.theirs is None else unpack(task.theirs)
        ruled = judge_by_rules(Pair(symbols, generated, source, upstream, defaults, known), index)
        if ruled is not None:
            theirs = ruled.theirs
            findings += ruled.findings
            counts.update(ruled.counts)
    result = align(generated, upstream, defaults)
    counts["subsequence tokens"] = result.tokens
    for name, count in result.used.items():
        counts[f"allowed: {name}"] = count
    if not result.mismatches:
        return theirs
    numbers = [line.number for line in logical_lines(text)]
    for at, tokens in result.mismatches:
        message = f"is not what is left of upstream's text after deletions, from here: {tokens}"
        findings.append(Finding("subsequence", path, numbers[at], message))
    return theirs
