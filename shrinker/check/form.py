"""The changed files of a generated tree, each beside upstream's: a worker asks all checks of one pair, and the cache keeps the answers."""

from __future__ import annotations

import ast
import hashlib
import tokenize
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from shrinker.cache import Question, Recorded, Variants, digest_of, pack, unpack
from shrinker.check import allowances
from shrinker.check.condition_evaluator import constant_functions
from shrinker.check.pair import FilePair, standing_arms
from shrinker.check.reader import symbols_of
from shrinker.check.registrations import lost_registrations
from shrinker.check.registry import Check, Seen
from shrinker.check.rule_index import AskedIndex, RuleIndex
from shrinker.check.subsequence import only_deleted
from shrinker.check.symbols import SYMBOLS
from shrinker.check.trees import Trees
from shrinker.check.workers import map_files
from shrinker.source.cache import sha256_of
from shrinker.values import form as syntax
from shrinker.values.errors import ShrinkerError
from shrinker.values.outcome import EmittedFile


def _decided(pair: FilePair, seen: Seen) -> None:
    """The syntax tree of the file is the one that was decided."""
    seen.look()
    if pair.entry.digest is None:
        seen.find(pair.path, 0, "was changed but the manifest has no digest of the decision")
    elif syntax.digest(pair.tree) != pair.entry.digest:
        seen.find(pair.path, 0, "its syntax tree is not the one that was decided")


_ALLOWED = tuple(f"allowed: {name}" for name in allowances.NAMES)
FILE_CHECKS: tuple[Check[FilePair], ...] = (
    Check("decided trees", "form", _decided),
    Check("refuted arms", "form", standing_arms),
    Check("registrations", "form", lost_registrations),
    Check("subsequence", "form", only_deleted, ("subsequence files", "subsequence tokens", *_ALLOWED)),
)
"""What is asked of every changed Python file; a new check of single files is added here."""

COUNTS = ("compiled", *(name for check in FILE_CHECKS for name in check.counts or (check.name,)))


class _Task(NamedTuple):
    entry: EmittedFile
    upstream_sha256: str
    """Empty for a file that upstream does not have, or that shrinker writes anew."""
    theirs: bytes | None = None
    """Upstream's symbols, packed, where they were read before."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a worker returns, packed for the cache."""

    seen: bytes
    symbols: bytes | None = None
    """Of a Python file that parses."""
    theirs: bytes | None = None
    """Of upstream's file, where it was read now, too."""
    questions: tuple[Question, ...] = ()
    """What was asked of the rules."""


def changed_files(trees: Trees, seen: Seen) -> None:
    """Every file has its recorded SHA-256, every Python file compiles, and the changed ones pass `FILE_CHECKS`.

    Raises:
        ShrinkerError: a worker process was killed, or a file changed while it was read.
    """
    theirs = trees.source.by_path
    tasks: dict[str, _Task] = {}
    for entry in trees.manifest.files:
        path, file = entry.path, trees.out / entry.path
        if not file.is_file():
            continue
        if sha256_of(file) != entry.sha256:
            seen.find(path, 0, "its SHA-256 is not the one in the manifest", check="files")
        elif path.endswith(".py"):
            derived = path in theirs and path not in allowances.OWN_FILES
            tasks[path] = _Task(entry, theirs[path].sha256 if derived else "")
    index = trees.index
    if index is not None:
        # What the rules decide of a function changes its file.
        hashes = {path: t.upstream_sha256 for path, t in tasks.items() if t.entry.changed and t.upstream_sha256}
        functions = constant_functions(trees.source.root, hashes, index, jobs=trees.jobs, cache=trees.cache)
        index = index.with_functions(functions)
    for each in _judge_all(trees, tasks, index):
        seen.counts.update(each.counts)
        seen.findings += each.findings
        seen.inherited += each.inherited


def _judge_all(trees: Trees, tasks: dict[str, _Task], index: RuleIndex | None) -> list[Seen]:
    """What is in the cache was found for the same bytes on both sides."""
    results, symbols = Variants(trees.cache, "form"), trees.cache.layer(SYMBOLS)
    replaced = trees.manifest.defaults
    inputs = {
        path: repr((path, t.entry.sha256, t.entry.changed, t.entry.digest, replaced, index is None, t.upstream_sha256))
        for path, t in tasks.items()
    }
    packed = results.recall(inputs, partial(_said, index))
    before = {path: symbols.key(path, tasks[path].upstream_sha256) for path in inputs if path not in packed}
    theirs = symbols.load(before)
    missing = [tasks[path]._replace(theirs=theirs.get(path)) for path in before]
    weights = [(8 if t.entry.changed else 1) * t.entry.lines_after for t in missing]
    judge = partial(_judge, trees.out, trees.source.root, replaced, index)
    judged = dict(zip(before, map_files(judge, missing, weights, jobs=trees.jobs), strict=True))
    for path, each in judged.items():
        results.learn(inputs[path], Recorded(each.questions, _said(index, each.questions), each.seen))
    results.save()
    read = {path: each.symbols for path, each in judged.items() if each.symbols is not None}
    symbols.save({path: symbols.key(path, tasks[path].entry.sha256) for path in read}, read)
    symbols.save(before, {path: each.theirs for path, each in judged.items() if each.theirs is not None})
    return [unpack(packed[path] if path in packed else judged[path].seen) for path in inputs]


def _said(index: RuleIndex | None, questions: tuple[Question, ...]) -> bytes:
    return index.said(questions) if index else digest_of(())


def _judge(
    out: Path, upstream: Path, replaced: tuple[tuple[str, str], ...], index: RuleIndex | None, task: _Task
) -> _Judged:
    """Ask all checks of one file."""
    entry, path = task.entry, task.entry.path
    data = _bytes(out / path, entry.sha256)
    seen = Seen("compiled")
    seen.look()
    same = bool(task.upstream_sha256) and not entry.changed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data, path)
            compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 0
        seen.find(path, line, f"does not compile: {getattr(error, 'msg', None) or error}", inherited=same)
        return _Judged(pack(seen))
    if not entry.changed or not task.upstream_sha256:
        # Symbols that were read of the same bytes are not read again.
        known = same and task.theirs is not None and entry.sha256 == task.upstream_sha256
        return _Judged(pack(seen), None if known else pack(symbols_of(tree, path, data)))
    asked = AskedIndex(index) if index is not None else None
    source = _bytes(upstream / path, task.upstream_sha256)
    pair = FilePair(entry, data, tree, source, replaced, asked.as_index() if asked else None)
    if task.theirs is not None:
        pair.source_symbols = unpack(task.theirs)
    try:
        for check in FILE_CHECKS:
            answer = check(pair)
            seen.counts.update(answer.counts)
            seen.findings += answer.findings
    except (SyntaxError, UnicodeDecodeError, tokenize.TokenError) as error:
        seen.look(check="subsequence files")
        seen.find(path, 0, f"cannot be split into tokens: {error}", check="subsequence")
    read = pair.__dict__.get("source_symbols") if task.theirs is None else None
    questions = asked.questions if asked else ()
    return _Judged(pack(seen), pack(pair.symbols), pack(read) if read else None, questions)


def _bytes(file: Path, sha256: str) -> bytes:
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ShrinkerError(f"{file} changed while it was read", "run again when nothing writes to it")
    return data
