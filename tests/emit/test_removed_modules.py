"""Imports of removed modules in a generated tree: what must stay as it was first, then the named error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shrinker.emit.refusals import refusals_module, removed_modules
from shrinker.emit.rewrite import rewrite_file
from shrinker.values.edits import Guard, Span
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Removal
from shrinker.verify.subsequence import align
from shrinker.verify.tokens import split

P = "python/sglang/"
KEPT = [f"{P}__init__.py", f"{P}srt/__init__.py", f"{P}srt/models/one.py", f"{P}mixed/kept.py"]
REMOVED = {
    f"{P}srt/models/llama.py": Removal("models", "r"),
    f"{P}vision/__init__.py": Removal("vision", "r"),
    f"{P}vision/deep/encoder.py": Removal("vision", "r"),
    f"{P}vision/table.json": Removal("vision", "r"),
    f"{P}bare/tool.py": Removal("vision", "r"),
    f"{P}lost.py": Removal("unreachable", "r"),
    f"{P}mixed/lost.py": Removal("unreachable", "r"),
    f"{P}mixed/gone.py": Removal("vision", "r"),
    f"{P}both/__init__.py": Removal("unreachable", "r"),
    f"{P}both/gone.py": Removal("vision", "r"),
    f"{P}plain/gone.py": Removal("vision", "r"),
    f"{P}plain/lost.py": Removal("unreachable", "r"),
    "docs/x.py": Removal("unreachable", "r"),
}
ROWS = {
    "sglang.bare": "vision",
    "sglang.both": "unreachable",
    "sglang.both.gone": "vision",
    "sglang.lost": "unreachable",
    "sglang.mixed.gone": "vision",
    "sglang.mixed.lost": "unreachable",
    "sglang.plain": "vision",
    "sglang.plain.lost": "unreachable",
    "sglang.srt.models.llama": "models",
    "sglang.vision": "vision",
}
SOURCE = '"""The package."""\n\nfrom __future__ import annotations\n\n# First.\nVERSION = 1\n'


def _folded() -> dict[str, FoldedModule]:
    edits = (Guard(Span(6, 0, 6, 11)),)
    module = FoldedModule(KEPT[0], "sglang", True, "", 6, edits, "", (), (), (), (), (), ())
    return {module.path: module}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folded = _folded()
    text = refusals_module([], [], folded, KEPT, REMOVED, {"models": "other models", "vision": "vision models"})
    assert text is not None
    written = rewrite_file(SOURCE.encode(), folded[KEPT[0]].edits).decode()
    for path in KEPT:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(written if path == KEPT[0] else "")
    (tmp_path / P / "removed_features.py").write_text(text)
    return tmp_path / "python"


def run(tree: Path, code: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_what_stays_as_it_was(tree: Path) -> None:
    code = """
import importlib, importlib.util, pkgutil, sys
import sglang, sglang.srt.models.one, sglang.mixed.kept
from sglang.removed_features import guard
guard()
assert [type(f).__name__ for f in sys.meta_path].count("_Guard") == 1
for name in ("sglang.vision.deep", "sglang.plain.lost"):
    try:
        importlib.util.find_spec(name)
    except ModuleNotFoundError:
        pass
    else:
        raise AssertionError(name)
for name in ("sglang.lost", "sglang.vision", "sglang.srt.models.llama", "sglang.mixed.gone", "nothing"):
    assert importlib.util.find_spec(name) is None, name
assert [m.name for m in pkgutil.iter_modules(sglang.__path__)] == ["removed_features", "srt"]
for name in ("sglang.never", "sglang.srt.models.never", "sglang.losty", "nothing", "sglang.mixed.never"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name == name
    else:
        raise AssertionError(name)
try:
    from sglang.srt.models import never
except ImportError as error:
    assert "RemovedFeatureError" not in repr(error)
print("fine")
"""
    assert run(tree, code) == (0, "fine\n")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sglang.srt.models.llama", "(other models, removed by rule models)"),
        ("from sglang.srt.models import llama", "the module sglang.srt.models.llama is"),
        ("from sglang.srt.models.llama import Llama", "take rule models out"),
        ("import importlib; importlib.import_module('sglang.vision.deep.encoder')", "the module sglang.vision is"),
        ("import sglang.bare.tool", "(vision models, removed by rule vision)"),
        ("import sglang.plain.lost", "the module sglang.plain is"),
        ("import sglang.lost", "(unreachable: nothing kept uses it)"),
        ("import sglang.mixed.lost", "[[keep]] rule"),
        ("import sglang\ntry:\n    import sglang.lost\nexcept ImportError:\n    pass", "RemovedFeatureError"),
        ("import pickle; pickle.loads(b'csglang.lost\\nThing\\n.')", "the module sglang.lost is"),
    ],
)
def test_the_named_error(tree: Path, code: str, said: str) -> None:
    status, text = run(tree, code)
    assert status == 1 and "RemovedFeatureError: shrinker: " in text and said in text
    assert "ModuleNotFoundError" not in text


@pytest.mark.parametrize(
    ("module", "said"), [("sglang.vision.deep", "removed by rule vision"), ("sglang.lost", "nothing kept uses it")]
)
def test_command_line(tree: Path, module: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module], cwd=tree, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode and said in done.stderr


def test_rows() -> None:
    assert removed_modules(REMOVED, KEPT) == ROWS
    assert list(removed_modules(REMOVED, KEPT)) == list(ROWS)


def test_no_table_without_a_guard() -> None:
    assert refusals_module([], [], {}, KEPT, REMOVED) is None


def test_the_line_is_the_first_that_runs_and_the_judge_knows_it() -> None:
    line = "from sglang.removed_features import guard as _guard; _guard()"
    ours = rewrite_file(SOURCE.encode(), _folded()[KEPT[0]].edits).decode()
    assert line in ours and ours.index("__future__") < ours.index(line) < ours.index("VERSION")
    found = align(split(ours), split(SOURCE))
    assert not found.mismatches and found.used["guard of imports"] == 1
    for other in (line + "; x()", line.replace("as _guard", "as other"), f"{line}\n{line}"):
        assert align(split(f"{other}\n{SOURCE}"), split(SOURCE)).mismatches, other
