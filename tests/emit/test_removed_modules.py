"""Imports of removed modules in a generated tree: what must stay as it was first, then the named
error.
"""

from pathlib import Path

import pytest

from shrinker.check.subsequence import align, split
from shrinker.emit.lost_names import LostNames, Row
from shrinker.emit.refusals import refusals_module, removed_modules
from shrinker.emit.rewrite import rewrite_file
from shrinker.values.edits import Guard, Span
from shrinker.values.graph import Removal
from tests.emit.small_tree import folded_module
from tests.small import python, read_archive, write

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
LOST = LostNames(
    [
        Row("sglang", "OpenEye", "vision"),
        Row("sglang.mixed.kept", "helper", "unreachable"),
        Row("sglang.mixed.kept", "Tool", "unreachable"),
        Row("sglang.srt", "handed_on", "unreachable"),
        Row("sglang.srt.models.one", "went", "unreachable"),
    ]
)
TEXTS = read_archive(Path(__file__).with_name("removed_modules.txtar"))
SOURCE = '"""The package."""\n\nfrom __future__ import annotations\n\n# First.\nVERSION = 1\n'


FOLDED = {KEPT[0]: folded_module(KEPT[0], (Guard(Span(6, 0, 6, 11)),))}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    features = {"models": "other models", "vision": "vision models"}
    text = refusals_module([], [], FOLDED, KEPT, REMOVED, features, lost=LOST)
    assert text is not None
    written = rewrite_file(SOURCE.encode(), FOLDED[KEPT[0]].edits).decode()
    own = {
        KEPT[0]: written,
        KEPT[-1]: TEXTS["own.py"],
        KEPT[-2]: TEXTS["asking.py"],
        f"{P}removed_features.py": text,
    }
    return write(tmp_path, {**dict.fromkeys(KEPT, ""), **own}) / "python"


def run(tree: Path, *arguments: str) -> tuple[int, str]:
    done = python(tree, *arguments)
    return done.returncode, done.stderr or done.stdout


def test_what_stays_as_it_was(tree: Path) -> None:
    assert run(tree, "-c", TEXTS["stays.py"]) == (0, "fine\n")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sglang.srt.models.llama", "(other models, removed by rule models)"),
        ("from sglang.srt.models import llama", "the module sglang.srt.models.llama is"),
        ("from sglang.srt.models.llama import Llama", "take rule models out"),
        (
            "import importlib; importlib.import_module('sglang.vision.deep.encoder')",
            "the module sglang.vision is",
        ),
        ("import sglang.bare.tool", "(vision models, removed by rule vision)"),
        ("import sglang.plain.lost", "the module sglang.plain is"),
        ("import sglang.lost", "(unreachable: nothing kept uses it)"),
        ("import sglang.mixed.lost", "[[keep]] rule"),
        ("import pickle; pickle.loads(b'csglang.lost\\nThing\\n.')", "the module sglang.lost is"),
    ],
)
def test_the_named_error(tree: Path, code: str, said: str) -> None:
    status, text = run(tree, "-c", code)
    assert status == 1 and "RemovedModuleError: shrinker: " in text and said in text
    assert "ModuleNotFoundError" not in text


HELPER = "shrinker: the name helper of the module sglang.mixed.kept is"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "from sglang.mixed.kept import helper",
            [f"RemovedNameError: {HELPER}", "(unreachable: nothing kept uses it)", "[[api]] rule"],
        ),
        (
            "from sglang import OpenEye",
            ["RemovedNameError: shrinker: the name OpenEye of the module sglang is"],
        ),
        (
            "import sglang; sglang.OpenEye",
            [
                "RemovedAttributeError",
                "(vision models, removed by rule vision). To get it back, take rule vision out",
            ],
        ),
        ("from sglang.srt import handed_on", ["RemovedNameError"]),
        (
            "import importlib, sglang.mixed.kept as m; importlib.reload(m).helper",
            ["RemovedAttributeError"],
        ),
        # Code of the tree, and what it calls.
        *(
            (
                f"import sglang.srt.models.one as m; m.{ask}()",
                ["RemovedFeatureError: shrinker: the name helper"],
            )
            for ask in ("by_import", "by_attribute", "by_pickle")
        ),
        (
            "import sglang.srt.models.one as m; m.by_module()",
            ["RemovedFeatureError: shrinker: the module sglang.vision"],
        ),
    ],
)
def test_the_named_error_of_names(tree: Path, code: str, said: list[str]) -> None:
    status, text = run(tree, "-c", code)
    assert status == 1 and all(part in text for part in said), text


def test_code_outside_may_look_whether_it_is_there(tree: Path) -> None:
    assert run(tree, "-c", TEXTS["outside.py"]) == (0, "fine\n")


def test_an_import_inside_a_function_runs_no_code_of_the_guard(tree: Path) -> None:
    """It asks the module for `__path__`, which a module of one file has not got: a server does so
    at each step.
    """
    assert run(tree, "-c", TEXTS["inside.py"]) == (0, "fine\n")


@pytest.mark.parametrize(
    ("module", "said"),
    [("sglang.vision.deep", "removed by rule vision"), ("sglang.lost", "nothing kept uses it")],
)
def test_command_line(tree: Path, module: str, said: str) -> None:
    status, text = run(tree, "-m", module)
    assert status and said in text


def test_rows() -> None:
    assert removed_modules(REMOVED, KEPT) == ROWS
    assert list(removed_modules(REMOVED, KEPT)) == list(ROWS)


def test_no_table_without_a_guard() -> None:
    assert refusals_module([], [], {}, KEPT, REMOVED) is None


def test_the_line_is_the_first_that_runs_and_the_judge_knows_it() -> None:
    line = "from sglang.removed_features import guard as _guard; _guard()"
    ours = rewrite_file(SOURCE.encode(), FOLDED[KEPT[0]].edits).decode()
    assert line in ours and ours.index("__future__") < ours.index(line) < ours.index("VERSION")
    found = align(split(ours), split(SOURCE))
    assert not found.mismatches and found.used["guard of imports"] == 1
    for other in (line + "; x()", line.replace("as _guard", "as other"), f"{line}\n{line}"):
        assert align(split(f"{other}\n{SOURCE}"), split(SOURCE)).mismatches, other
