"""Names that kept modules and classes have lost: what must stay as it was, then what who asks is
told.
"""

import hashlib
from pathlib import Path

import pytest

from shrinker.cache import Cache
from shrinker.emit.lost_names import LostNames, Row, find_lost_names
from shrinker.emit.refusals import refusals_module
from shrinker.emit.rewrite import rewrite_file
from shrinker.ruleset.models import Remove, Ruleset
from shrinker.values.edits import Guard, Span
from shrinker.values.outside import KnownNames
from tests.emit.small_tree import folded_module
from tests.program.small_tree import write_tree
from tests.small import python, read_archive, write

P = "python/sglang/"
TEXTS = read_archive(Path(__file__).with_name("lost_names.txtar"))
LOST = LostNames(
    gone=[
        Row("sglang.kept", "Plain.gone", "vision"),
        Row("sglang.kept", "Abstract.gone", "vision"),
        Row("sglang.kept", "Watched.gone", "vision"),
        Row("sglang.kept", "Shape.gone", "vision"),
        Row("sglang.kept", "Delegating.gone", "vision"),
        Row("sglang.kept", "Derived.here", "vision"),
        Row("sglang.kept", "Nowhere.gone", "vision"),
        Row("sglang.kept", "_private", "unreachable"),
        Row("sglang.kept", "gone_function", "unreachable"),
    ],
    values=[
        Row("sglang.kept", "_is_hip", False),
        Row("sglang.kept", "is_hip()", False),
        Row("sglang.kept", "Plain.flag", None),
        Row("sglang.kept", "Plain.answers()", 0),
        Row("sglang.kept", "Mode.is_other()", False),
        Row("sglang.kept", "Shaped.size", 3),
        Row("sglang.kept", "Plain.unset=", False),
        Row("sglang.kept", "Delegating.found=", 1),
        Row("sglang.kept", "Delegating.unset=", "text"),
        Row("sglang.kept", "Fields.unset=", 1),
    ],
    handed=[Row("sglang.user", "handed", "sglang.kept")],
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    source = "VERSION = 1\n"
    paths = [f"{P}{name}.py" for name in ("__init__", "kept", "user")]
    folded = {paths[0]: folded_module(paths[0], (Guard(Span(1, 0, 1, 11)),))}
    text = refusals_module([], [], folded, paths, {}, {"vision": "vision models"}, lost=LOST)
    assert text is not None
    first = rewrite_file(source.encode(), folded[paths[0]].edits).decode()
    own = {path: TEXTS[path.removeprefix(P)] for path in paths[1:]}
    return write(tmp_path, {paths[0]: first, f"{P}removed_features.py": text, **own}) / "python"


@pytest.mark.parametrize("program", ["stays.py", "known.py", "unknown.py"])
def test_who_asks(tree: Path, program: str) -> None:
    done = python(tree, "-c", TEXTS[program])
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr


def test_what_is_found(tmp_path: Path) -> None:
    files = {"kept.py": TEXTS["kept.py"], "one.py": TEXTS["before.py"], "__init__.py": ""}
    upstream = write_tree(tmp_path, files)
    texts = {f"{P}kept.py": TEXTS["kept.py"], f"{P}one.py": TEXTS["after.py"]}
    rule = Remove(
        id="wide", why="A rule of a test.", feature="it", members=("sglang.**.Kept.wide",)
    )
    known = KnownNames(
        values={"Kept.size": 4, "Kept.shared": 5, "stays": 6},
        results={"Kept.method": 1},
        unset={"Kept.also": 1},
        origins={"taken": "sglang.elsewhere", "helper": "sglang.kept"},
    )
    found = find_lost_names(
        upstream,
        Ruleset(removes=(rule,)),
        {path: folded_module(path) for path in texts},
        {path: hashlib.sha256(text.encode()).hexdigest() for path, text in texts.items()},
        lambda path: texts[path].encode(),
        Cache(),
        {f"{P}one.py": known},
    )
    # `helper` is nothing of the module that is said to hand it on.
    names = ("TYPE_CHECKING", "Went", "_private", "fast", "helper", "os", "taken")
    gone = {row.word: row.said for row in found.gone}
    assert gone == {**dict.fromkeys(names, "unreachable"), "Kept.wide": "wide"}
    values = {row.word: row.said for row in found.values}
    assert values == {"Kept.size": 4, "Kept.method()": 1, "Kept.also=": 1}
    assert not found.handed
    assert sorted(one.name for one in found.public[f"{P}one.py"]) == [
        "Went",
        "fast",
        "helper",
        "taken",
    ]
