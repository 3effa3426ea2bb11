"""What earlier runs left changes how long an analysis takes, and nothing that it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from shrinker.cache import Cache
from shrinker.pipeline import analyse
from shrinker.ruleset import Ruleset
from tests.fold.programs import PROGRAMS, make_tree, read_program
from tests.pipeline.silent import Silent
from tests.program.symbols.support import ROOT, small_rules
from tests.small import rule

_RULES = (
    ROOT
    + rule("fact", "fact-hip", calls=["sglang.srt.utils.is_hip"], value=False)
    + rule("keep", "keep-notes", paths=["notes/**"])
    + rule("keep", "keep-kernels", paths=["kernels/**"])
    + rule("remove", "remove-gone", feature="another platform", modules=["sglang.gone", "sglang.other"])
    + rule("sibling_package", "kernels", folder="kernels/fast")
)
LAUNCH, PARTS = "python/sglang/launch_server.py", "python/sglang/parts.py"
FILES = {
    "docs/use.md": "words\n",
    "notes/first.txt": "words\n",
    "notes/use.py": "from sglang.parts import start\n\nprint(start)\n",
    "kernels/fast/__init__.py": "try:\n    from sglang.other import RATE\nexcept ImportError:\n    RATE = 1\n",
    "python/sglang/data/kernel.cu": '#include "kernel.h"\n',
    "python/sglang/data/kernel.h": "int spared;\n",
    "python/sglang/gone.py": "from sglang.parts import spare\n\n\nEngine().forgotten()\n",
    "python/sglang/other.py": "RATE = 2\n",
    LAUNCH: """\
from sglang.parts import start
from sglang.srt.utils import is_hip


def main():
    if is_hip():
        start().only_hip()
    print(start().run())


if __name__ == "__main__":
    main()
""",
    PARTS: """\
KERNEL = "data/kernel.cu"


class Engine:
    def run(self):
        return self.inner() + 1

    def inner(self):
        return 2

    def only_hip(self):
        return 3

    def forgotten(self):
        return 4

    def public(self):
        return 6


def start():
    open(KERNEL)
    return Engine()


def spare():
    return 7
""",
}
_RESCUING = {
    LAUNCH: FILES[LAUNCH]
    .replace("print(", "print(RATE, ")
    .replace("\n\n\ndef", "\nfrom sglang.other import RATE\n\n\ndef", 1)
}


def _rules(folder: Path, more: str = "") -> Ruleset:
    return small_rules(folder, more, root=_RULES)


def _said(folder: Path, files: dict[str, str], rules: Ruleset, cache: Cache | None, **more: Any) -> dict[str, Any]:
    """All that an analysis says, ready to be compared."""
    return asdict(analyse(make_tree(folder, files), rules, 1, {}, Silent(), cache, **more))


def _found(folder: Path, files: dict[str, str], rules: Ruleset, cold: dict[str, Any], **more: Any) -> bool:
    """Whether the analysis of an earlier run was used; either way it is what a cold run says."""
    cache = Cache(folder.parent / "cache")
    assert _said(folder, files, rules, cache, **more) == cold
    assert cache.counts["analyses"].asked == 1
    return cache.counts["analyses"].found == 1


_CHANGES: dict[str, tuple[bool, dict[str, str | None]]] = {
    "nothing": (True, {}),
    "a file that no step kept": (True, {"docs/use.md": "other words\n"}),
    "a file outside came": (False, {"notes/second.txt": "words\n"}),
    "a file outside went": (False, {"notes/first.txt": None}),
    "a kept file names something": (False, {"notes/first.txt": "only_hip\n"}),
    "a kept file that names the package names more": (
        False,
        {"notes/use.py": FILES["notes/use.py"] + "print(public)\n"},
    ),
    "a companion": (False, {"kernels/fast/__init__.py": "RATE = 3\n"}),
    "a kernel names something": (False, {"python/sglang/data/kernel.cu": '#include "kernel.h"\nint only_hip;\n'}),
    "a module came": (False, {"python/sglang/fresh.py": ""}),
    "a module went": (False, {"python/sglang/gone.py": None}),
    "a removed module names a method": (False, {"python/sglang/gone.py": "Engine().public()\n"}),
    "a kept module names more": (False, {LAUNCH: FILES[LAUNCH].replace(".run()", ".run(), start().public()")}),
    "a kept module needs a removed one": (False, dict(_RESCUING)),
}


@pytest.mark.parametrize(("found", "change"), _CHANGES.values(), ids=_CHANGES.keys())
def test_an_analysis_is_used_again_where_nothing_that_it_looks_at_changed(
    tmp_path: Path, found: bool, change: dict[str, str | None]
) -> None:
    rules = _rules(tmp_path)
    _said(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    files = {path: text for path, text in {**FILES, **change}.items() if text is not None}
    cold = _said(tmp_path / "cold", files, rules, None)
    assert _found(tmp_path / "warm", files, rules, cold) is found
    # And then it is known.
    assert _found(tmp_path / "once more", files, rules, cold)


def test_other_rules_and_files_that_cannot_be_written_are_another_analysis(tmp_path: Path) -> None:
    rules = _rules(tmp_path)
    _said(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    other = _rules(tmp_path / "other", rule("keep", "keep-docs", paths=["docs/**"]))
    assert not _found(tmp_path / "warm", FILES, other, _said(tmp_path / "cold", FILES, other, None))
    stay = {"unwritable": {PARTS: "cannot be written"}}
    cold = _said(tmp_path / "cold stay", FILES, rules, None, **stay)
    assert not _found(tmp_path / "warm stay", FILES, rules, cold, **stay)


def _edits(files: dict[str, str]) -> Iterator[dict[str, str]]:
    for path, text in files.items():
        yield files | {path: text + "\n# edited\n"}
        yield files | {path: "# edited\n" + text}
        yield files | {path: text + "\nEDITED = 1\n"}
        yield files | {path: text.replace("return ", "return not ")}


@pytest.mark.parametrize("archive", sorted((PROGRAMS / "symbols").glob("*.txtar")), ids=lambda path: path.stem)
def test_a_warm_analysis_is_a_cold_one(tmp_path: Path, archive: Path) -> None:
    """Foldings of earlier runs are used again: each in a world that answers as it did."""
    rules = _rules(tmp_path)
    files = {path: text for path, text in read_program(archive).files.items() if path.endswith(".py")}
    cache = Cache(tmp_path / "cache")
    _said(tmp_path / "first", files, rules, cache)
    for number, edited in enumerate(_edits(files)):
        cold = _said(tmp_path / f"cold{number}", edited, rules, None)
        _found(tmp_path / f"warm{number}", edited, rules, cold)
    assert cache.counts["folded"].asked > 0


def test_what_lies_beside_the_package_sees_the_modules_that_stay(tmp_path: Path) -> None:
    """A module that a rule removes is rescued by code that needs it: then it is there for a companion, too."""
    rules, path = _rules(tmp_path), "kernels/fast/__init__.py"
    tree = make_tree(tmp_path / "rescued", FILES | _RESCUING)
    found = analyse(tree, rules, 1, {}, Silent())
    assert list(found.rescued) == ["sglang.other"] and not found.folded[path].edits
    # And where it is not there, the companion has no need to try.
    without = analyse(make_tree(tmp_path / "without", FILES), rules, 1, {}, Silent())
    assert without.folded[path].edits
