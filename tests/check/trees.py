"""Small upstream and generated trees, written by hand, and a manifest that says what was generated;
rules of a small profile that name other platforms.
"""

import ast
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from shrinker.cache import Cache
from shrinker.check.levels import judge
from shrinker.check.trees import Trees
from shrinker.ruleset import Absent, Fact, Platform, Remove, Ruleset
from shrinker.ruleset.load import load_rules
from shrinker.values.form import digest
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile, Evidence
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree

Files = Mapping[str, str]
WHY = "A rule of a test."
RULES = Ruleset(
    facts=(
        Fact(id="npu", why=WHY, calls=("sglang.**.is_npu", ".is_aiter"), value=False),
        Fact(id="cpu", why=WHY, calls=("sglang.**.is_cpu", "torch.xpu.is_available"), value=False),
        Fact(id="cuda", why=WHY, calls=("sglang.**.is_cuda",), value=True, exact=False),
        Fact(id="version", why=WHY, names=("torch.version.hip",)),
        Fact(id="hooks", why=WHY, calls=("sglang.hooks.maybe_*",)),
        Fact(id="switch", why=WHY, environment=("SGLANG_FAST",), value=False),
        Fact(id="macros", why=WHY, macros=("AMD",), value=False),
    ),
    absents=(Absent(id="absent", why=WHY, modules=("aiter", "quark")),),
    removes=(Remove(id="remove", why=WHY, feature="NPU", modules=("sglang.srt.npu_*",)),),
    platforms=(
        Platform(id="words", why=WHY, words=("npu", "hip", "rocm", "aiter", "gfx*", "xpu")),
        Platform(id="own", why=WHY, words=("sm*",), own=True),
    ),
)


def emitted(tree: UpstreamTree, out: Path, path: str) -> EmittedFile:
    """The entry that `emit` would write for a file of `out`."""
    data = (out / path).read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    source = tree.by_path.get(path)
    changed = source is None or source.sha256 != sha256
    before = 0 if source is None else (tree.root / path).read_bytes().count(b"\n")
    shape = None
    if changed and path.endswith(".py"):
        try:
            shape = digest(ast.parse(data))
        except SyntaxError:
            shape = "broken"
    return EmittedFile(path, sha256, before, data.count(b"\n"), changed, shape)


def manifest_of(tree: UpstreamTree, out: Path) -> Manifest:
    """The manifest of a tree that is taken as it lies there."""
    found = [p.relative_to(out) for p in out.rglob("*") if p.is_file()]
    paths = sorted(
        p.as_posix() for p in found if "__pycache__" not in p.parts and p.name != "SHRINK.json"
    )
    files = tuple(emitted(tree, out, path) for path in paths)
    return Manifest("0.1.0", "deepseek", "0" * 64, tree.identity, files)


@dataclass
class Case:
    """Two trees in temporary folders."""

    tree: UpstreamTree
    out: Path
    manifest: Manifest
    rules: Ruleset | None = None
    cache: Cache | None = None

    def evidence(self, level: str, jobs: int = 1) -> Evidence:
        return judge(level, self.trees(self.rules, jobs, self.cache), lambda line: None)

    def trees(
        self, rules: Ruleset | None = None, jobs: int = 1, cache: Cache | None = None
    ) -> Trees:
        return Trees(self.tree, self.out, self.manifest, rules, jobs, cache or Cache())

    def ruled(self, text: str) -> Self:
        """The same, judged by the rules of the text."""
        (file := self.out.with_name("rules.toml")).write_text(text)
        self.rules = load_rules([file])
        return self

    def findings(self, level: str) -> list[tuple[str, str]]:
        """Check and path (below the package) of each finding."""
        found = self.evidence(level).findings
        return [(f.check, f.path.removeprefix(PACKAGE_PREFIX)) for f in found]


Build = Callable[..., Case]
"""What the fixture `case` is."""
GONE, LEFT = "# gone\n", "# left\n"
"""The end of a line that the generated tree does not have, and of one that it alone has."""


def what_is_left(files: Files, mark: str = GONE) -> Files:
    """Files without the lines that are marked; one of which nothing else is there goes as a
    whole.
    """
    left = {
        path: "".join(line for line in text.splitlines(True) if not line.endswith(mark))
        for path, text in files.items()
    }
    return {path: text for path, text in left.items() if text or not files[path]}


def less(text: str, *parts: str) -> str:
    """The text without these parts of it."""
    for part in parts:
        assert part in text
        text = text.replace(part, "]" if part.endswith("]") else "")
    return text
