"""An analysis may be supposed to hold while the search of symbols is made anew; what it hands over then is what a cold run says."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from shrinker.cache import Cache
from shrinker.pipeline import analyse
from shrinker.pipeline.analysis import Decided
from shrinker.program.symbols.moved import moved_symbols
from shrinker.program.symbols.saved import symbol_data
from shrinker.ruleset import Ruleset
from tests.fold.programs import make_tree, read_program
from tests.pipeline.test_remembered import FILES as _FILES
from tests.pipeline.test_remembered import LAUNCH, PARTS, _decided, _edits, _rules
from tests.program.symbols.test_programs import ARCHIVES, _Silent

FILES = _FILES | {
    PARTS: _FILES[PARTS].replace("self.inner() + 1", "self._inner() + len(TABLE)").replace("def inner", "def _inner")
}
"""What a method does is no other module's business; a short function is interpreted."""

DISPROVED, ANEW = "disproved", "anew"
MOVED, SEARCHED = "moved", "searched"


def _all(decided: Decided) -> dict[str, Any]:
    assert decided.symbols is not None
    names = ("graph", "folded", "rescued", "written", "distributions")
    data, edges = symbol_data(decided.symbols, decided.graph, decided.written)
    return {name: getattr(decided, name) for name in names} | {"symbols": data, "edges": edges}


def _outcome(
    folder: Path, files: dict[str, str], rules: Ruleset, cold: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> str:
    """How the second run came to what it says, which is what a cold run says."""
    moved: list[bool] = []

    def spied(*arguments: Any) -> Any:
        found = moved_symbols(*arguments)
        moved.append(found is not None)
        return found

    monkeypatch.setattr("shrinker.pipeline.rebase.moved_symbols", spied)
    tree = make_tree(folder, files)
    with ExitStack() as stack:
        decided = analyse(tree, rules, 1, {}, _Silent(), Cache(folder.parent / "cache"), symbols=True, stack=stack)
        supposed = decided.proof is not None
        if not decided.proven():
            return DISPROVED
        assert _all(decided) == cold
        if not supposed:
            return "again" if decided.again else ANEW
        return MOVED if moved[-1] else SEARCHED


_CHANGES: dict[str, tuple[str, dict[str, str]]] = {
    # What must not be taken for granted comes first.
    "a function that nothing reached is called": (
        DISPROVED,
        {PARTS: FILES[PARTS].replace("return 2", "return unnamed()")},
    ),
    "a method that alone was called is called no more": (
        DISPROVED,
        {PARTS: FILES[PARTS].replace("self._inner() + len", "self.run() + len")},
    ),
    "a name that a round asked for is written": (
        ANEW,
        {PARTS: FILES[PARTS].replace("return 2", "only_hip = 2\n        return only_hip")},
    ),
    "a function that others may interpret": (ANEW, {PARTS: FILES[PARTS].replace("return Engine()", "return None")}),
    "a function more": (ANEW, {PARTS: FILES[PARTS] + "\n\ndef more():\n    return 1\n"}),
    "an import more": (ANEW, {LAUNCH: FILES[LAUNCH].replace("def main():", "import sglang.idle\n\n\ndef main():")}),
    "a local import more": (
        ANEW,
        {PARTS: FILES[PARTS].replace("return 2", "import sglang.idle\n\n        return 2")},
    ),
    "a branch more that folding decides": (
        ANEW,
        {LAUNCH: FILES[LAUNCH].replace("    print(", "    if is_hip():\n        start().unnamed()\n    print(")},
    ),
    "a text that names a file": (ANEW, {PARTS: FILES[PARTS].replace("return 2", 'return open("data/kernel.h")')}),
    # Rounds take the method away, but not before one of them saw what it names.
    "a method that goes in a round names a file": (
        ANEW,
        {PARTS: FILES[PARTS].replace("return 3", 'return open("data/more.h")')},
    ),
    "a method that goes in a round answers something else": (
        MOVED,
        {PARTS: FILES[PARTS].replace("return 3", "return 4")},
    ),
    "other code that goes": (ANEW, {LAUNCH: FILES[LAUNCH].replace(".only_hip()", ".forgotten()")}),
    # What stood on one line stands on two: only a search tells which of them an edge means.
    "one line becomes two": (
        SEARCHED,
        {
            PARTS: FILES[PARTS].replace(
                "return self._inner() + len(TABLE)", "return (self._inner() +\n            len(TABLE))"
            )
        },
    ),
    "a name that lives is named once more": (SEARCHED, {PARTS: FILES[PARTS].replace("return 2", "return KERNEL")}),
    "a name that lives is named once less": (SEARCHED, {PARTS: FILES[PARTS].replace("+ len(TABLE)", "")}),
    "a local name": (MOVED, {PARTS: FILES[PARTS].replace("return 2", "local = 2\n        return local")}),
    "a definition in a string": (
        ANEW,
        {PARTS: FILES[PARTS].replace("return 2", 'return """\ndef spare():\n    pass\n"""')},
    ),
    "a text leaves the first line, which stands for the whole module": (
        SEARCHED,
        {PARTS: "# more\n" + FILES[PARTS]},
    ),
    "a comment that moves what stays": (MOVED, {LAUNCH: "# more\n" + FILES[LAUNCH]}),
    "a comment that moves what goes": (
        MOVED,
        {PARTS: FILES[PARTS].replace("class Engine", "# more\n\n\nclass Engine")},
    ),
    "another number": (MOVED, {PARTS: FILES[PARTS].replace("return 2", "return 3")}),
    "another order of operands": (
        MOVED,
        {PARTS: FILES[PARTS].replace("self._inner() + len(TABLE)", "len(TABLE) + self._inner()")},
    ),
    "two modules": (MOVED, {LAUNCH: "# more\n" + FILES[LAUNCH], PARTS: FILES[PARTS].replace("class", "\n\nclass", 1)}),
    "the same": ("again", {}),
}


@pytest.mark.parametrize(("outcome", "change"), _CHANGES.values(), ids=_CHANGES.keys())
def test_what_a_change_inside_modules_leads_to(
    tmp_path: Path, outcome: str, change: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = _rules(tmp_path)
    first = _decided(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    files = FILES | change
    assert files != FILES or outcome == "again", "the change is none"
    cold = _decided(tmp_path / "cold", files, rules, None)
    assert _outcome(tmp_path / "warm", files, rules, cold, monkeypatch) == outcome
    if outcome == DISPROVED:
        # What was handed over did not hold: decided anew, it does.
        assert _decided(tmp_path / "anew", files, rules, Cache(tmp_path / "cache")) == cold
    # The way back is no other one.
    assert _decided(tmp_path / "back", FILES, rules, Cache(tmp_path / "cache")) == first


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.stem)
def test_what_is_supposed_is_what_a_cold_run_says(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = _rules(tmp_path)
    files = {path: text for path, text in read_program(archive).files.items() if path.endswith(".py")}
    _decided(tmp_path / "first", files, rules, Cache(tmp_path / "cache"))
    outcomes = {
        _outcome(
            tmp_path / f"warm{number}",
            edited,
            rules,
            _decided(tmp_path / f"cold{number}", edited, rules, None),
            monkeypatch,
        )
        for number, edited in enumerate(_edits(files))
    }
    assert outcomes & {MOVED, SEARCHED}


def test_a_rescue_says_where_the_use_is_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = _rules(tmp_path, _OTHER_MODELS)
    files = FILES | {
        "python/sglang/other.py": "RATE = 2\n",
        LAUNCH: FILES[LAUNCH]
        .replace("print(", "print(RATE, ")
        .replace("\n\n\ndef", "\nfrom sglang.other import RATE\n\n\ndef", 1),
    }
    first = _decided(tmp_path / "before", files, rules, Cache(tmp_path / "cache"))
    changed = files | {LAUNCH: "# more\n" + files[LAUNCH]}
    cold = _decided(tmp_path / "cold", changed, rules, None)
    assert cold["rescued"] != first["rescued"]
    assert _outcome(tmp_path / "warm", changed, rules, cold, monkeypatch) == MOVED


_OTHER_MODELS = """
[[remove]]
id = "remove-other"
why = "Not served."
feature = "other models"
modules = ["sglang.other"]
"""


def test_a_step_that_looks_otherwise_is_not_asked_for_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left to look at after that, which must not be taken for that all of it looks alike."""
    rules = _rules(tmp_path)
    _decided(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    files = FILES | {LAUNCH: FILES[LAUNCH] + "# more\n"}
    answers = iter([False])
    monkeypatch.setattr("shrinker.fold.reuse.FoldedAgain.looks_alike", lambda *_, **__: next(answers, True))
    cold = _decided(tmp_path / "cold", files, rules, None)
    assert _outcome(tmp_path / "warm", files, rules, cold, monkeypatch) == ANEW
