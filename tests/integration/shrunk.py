"""Real releases, shrunk by the command as a person would run it, and what must not be in any of
them.
"""

import ast
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.version import Version

from shrinker.ruleset.models import Api, Rule
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.source.index import index_url
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import UpstreamTree

REPOSITORY = Path(__file__).resolve().parents[2]

EARLIER = "api-earlier-places"
"""The rule whose names are those of earlier releases: the older release has them, the newest has
not.
"""


def command(*arguments: str, timeout: int = 600) -> subprocess.CompletedProcess[str]:
    """Run `shrinker` in a process of its own."""
    words = [sys.executable, "-m", "shrinker", *arguments]
    return subprocess.run(words, capture_output=True, text=True, cwd=REPOSITORY, timeout=timeout)


@dataclass(frozen=True)
class Shrunk:
    """A release and what became of it."""

    release: str
    folder: Path
    jobs: int
    profile: str = "deepseek"
    strict: bool = False

    def make(self) -> "Shrunk":
        """Run `shrinker shrink`."""
        places = ("--out", str(self.out), "--reports", str(self.reports))
        what = ["--upstream", f"release:{self.release}", "--profile", self.profile]
        if self.strict:
            what.append("--strict")
        # On a machine that does much else, one takes ten minutes now and then.
        done = command("shrink", *what, *places, "--jobs", str(self.jobs), "--json", timeout=1800)
        (self.folder / "stderr").write_text(done.stderr)
        assert done.returncode == 0, done.stderr[-4000:]
        (self.folder / "result.json").write_text(done.stdout)
        return self

    @cached_property
    def upstream(self) -> UpstreamTree:
        return open_upstream(f"release:{self.release}", repository=REPOSITORY)

    @property
    def wheel(self) -> Path:
        """The file of the package index that upstream was read from."""
        assert self.upstream.identity.version == self.release
        index = hashlib.sha256(index_url().encode()).hexdigest()[:16]
        row = json.loads(
            (default_folder() / "index" / index / f"{self.release}.json").read_text("utf-8")
        )
        return default_folder() / "downloads" / str(row["sha256"]) / str(row["filename"])

    @property
    def trees(self) -> tuple[Path, Path]:
        """The folders that hold the package: upstream's and its own."""
        return self.upstream.root / "python", self.out / "python"

    @property
    def out(self) -> Path:
        return self.folder / "tree"

    @property
    def reports(self) -> Path:
        return self.folder / "reports"

    @cached_property
    def result(self) -> dict[str, Any]:
        """What `--json` printed."""
        document: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return document

    @cached_property
    def paths(self) -> list[str]:
        """Files of the tree."""
        return sorted(
            p.relative_to(self.out).as_posix() for p in self.out.rglob("*") if p.is_file()
        )

    @cached_property
    def manifest(self) -> Manifest:
        return Manifest.from_json((self.out / "SHRINK.json").read_text(), "SHRINK.json")

    @cached_property
    def uncertain(self) -> set[str]:
        """Paths that `uncertain.txt` lists as a whole: kept although a rule would remove them."""
        rows = [
            line.split("\t") for line in (self.reports / "uncertain.txt").read_text().splitlines()
        ]
        return {row[0] for row in rows if row[0][:1] != "#" and ":" not in row[0]}


def bound(tree: Path, module: str) -> set[str]:
    """Names of the module level of a module that is there."""
    path = tree / (module.replace(".", "/") + ".py")
    if not path.is_file():
        path = path.with_suffix("") / "__init__.py"
    nodes = ast.walk(ast.parse(path.read_bytes())) if path.is_file() else ()
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
    return found


def speaks_of(rule: Rule, release: str) -> bool:
    """Tell whether a release has what a rule names, by what the rule says of releases."""
    before = bool(rule.since) and Version(release) < Version(rule.since)
    return not before and not (rule.until and Version(release) > Version(rule.until))


def check_api(rule: Api, upstream: Path, tree: Path) -> None:
    """Every name that a rule takes from a module that upstream has is in the tree, and upstream has
    some of each module.
    """
    for module in rule.modules:
        before = {name for name in bound(upstream, module) if rule.takes(module, name)}
        here = {name for name in before if any(name == n.rpartition(".")[2] for n in rule.names)}
        assert before, f"{rule.id}: {module}"
        assert here <= bound(tree, module), rule.id


PLATFORM = re.compile(
    r"/hardware_backend/(npu|xpu|cpu|mlx|musa|hpu)/"
    r"|/(npu|ascend|rocm|aiter|musa|mlx|hpu|xpu|wave_ops|multimodal_gen)/"
    r"|/[^/]*_?(npu|ascend|aiter|rocm|xpu|hpu|musa|mlx|intel_amx|amx_utils)(_[^/]*)?\.(py|cpp|cu|cuh|h|mm|toml)$"
    r"|device_name=(AMD|Radeon)"
    r"|/wave_[^/]*\.py$"
    r"|[^/]*_hip\.(py|cu|cpp|h)$"
)
REVIEWED = re.compile(
    r"/(fla|dllm|multimodal)/|/(mm_utils|multimodal|multimodal_cache|mamba|deepseek_ocr|encoding_dsv4|(base_)?swa_memory_pool)\.py$"
)
"""Rescues of removed features that a person has looked at: one helper of each is read on every run.
"""
RESCUED = {
    # Upstream tells Transformers of these classes in a loop, whatever is served.
    "python/sglang/srt/configs/cosmos3.py",
    # The kind of a checkpoint is asked for before its architecture is refused.
    "python/sglang/srt/configs/deepseek_v41.py",
    # Masks of what was sampled are computed by it, whoever drew the drafts.
    "python/sglang/srt/speculative/dflash_utils.py",
    # Embeddings that a request brings along travel by it, to any model.
    "python/sglang/srt/utils/cuda_ipc_transport_utils.py",
}
"""Those of a whole file of release 0.5.23, and what reads each."""
MODELS = "python/sglang/srt/models/"
KEPT_MODELS = re.compile(
    r"(__init__|deepseek|deepseek_v2|deepseek_nextn|registry|utils)\.py|deepseek_common/.*"
)
PROCESSORS = "python/sglang/srt/multimodal/processors/"


def other_platforms(shrunk: Shrunk) -> list[str]:
    """Files of another platform that `uncertain.txt` does not list with a reason."""
    return [
        path
        for path in shrunk.paths
        if PLATFORM.search(f"/{path}") and path not in shrunk.uncertain
    ]


def other_models(shrunk: Shrunk) -> list[str]:
    """Model and processor files that are not DeepSeek's."""
    models = [
        p
        for p in shrunk.paths
        if p.startswith(MODELS) and not KEPT_MODELS.fullmatch(p[len(MODELS) :])
    ]
    kept = ("__init__.py", "base_processor.py")
    return models + [
        p for p in shrunk.paths if p.startswith(PROCESSORS) and p[len(PROCESSORS) :] not in kept
    ]


def check(shrunk: Shrunk) -> None:
    """The patterns find a lot in upstream and nothing in the tree."""
    assert sum(1 for path in shrunk.upstream.by_path if PLATFORM.search(f"/{path}")) > 20
    assert other_platforms(shrunk) == []
    assert other_models(shrunk) == []
    rescued = {p for p in shrunk.uncertain if p.endswith(".py") and not REVIEWED.search(p)}
    assert rescued <= RESCUED, f"a person has to look at these rescues: {sorted(rescued - RESCUED)}"
