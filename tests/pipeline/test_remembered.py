"""An analysis of an earlier run is used again only where a new one would say the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shrinker.cache import Cache
from shrinker.cache.workers import WorkerPool
from shrinker.fold import workers
from shrinker.pipeline import analyse
from shrinker.program.symbols.saved import symbol_data
from shrinker.project import RULES_FOLDER
from shrinker.ruleset import Ruleset
from shrinker.ruleset.load import load_rules
from tests.fold.programs import make_tree, read_program
from tests.program.symbols.test_programs import _ROOT, ARCHIVES, _Silent
from tests.program.symbols.test_why import _MORE

_OWN = """
[[keep]]
id = "keep-notes"
why = "Named by hand."
paths = ["notes/**"]

[[remove]]
id = "remove-tests"
why = "Not served."
feature = "tests"
paths = ["test/**"]

[[remove]]
id = "remove-models"
why = "Not served."
feature = "other models"
modules = ["sglang.models", "sglang.models.**", "sglang.inner_models"]
"""
_COMPANION = """
[[remove]]
id = "remove-other"
why = "Not served."
feature = "other models"
modules = ["sglang.other"]

[[keep]]
id = "keep-kernels"
why = "Travels beside the package."
paths = ["kernels/**"]

[[sibling_package]]
id = "kernels"
why = "A package of a test."
folder = "kernels/fast"
"""
FILES = {
    "LICENSE": "mine\n",
    "notes/first.txt": "words\n",
    "notes/kernel.rs": "// public only_rust\nfn scale() {}\n",
    "notes/later.py": "from sglang import later\n",
    "notes/use.py": "from sglang.parts import start\n\nprint(start)\n",
    "python/sglang/data/kernel.cu": '#include "kernel.h"\n',
    "python/sglang/data/kernel.h": "int spared;\n",
    "python/sglang/data/more.h": "",
    "python/sglang/data/table.json": "{}\n",
    "python/sglang/gone.py": "from sglang.parts import spare\n\n\nclass Kernel:\n    pass\n\n\nEngine().forgotten()\n",
    "python/sglang/idle.py": "from sglang.parts import start\n\nstart().later()\n",
    "python/sglang/launch_server.py": """\
from sglang.parts import start
from sglang.srt.utils import is_hip


def main():
    if is_hip():
        start().only_hip()
        start().only_rust()
    print(start().run())


if __name__ == "__main__":
    main()
""",
    "python/sglang/models/__init__.py": "",
    "python/sglang/models/first.py": "from sglang.parts import spare\n\nEngine().rarely()\n",
    "python/sglang/models/second.py": "from sglang.parts import spare\n",
    "python/sglang/parts.py": """\
TABLE = "data/table.json"  # of all models
KERNEL = "data/kernel.cu"


class Engine:
    def run(self):
        return self.inner() + 1  # as inner_models

    def inner(self):
        return 2

    def only_hip(self):
        return 3

    def only_rust(self):
        return 9

    def forgotten(self):
        return 4

    def later(self):
        return 5

    def public(self):
        return 6

    def rarely(self):
        return 10


def start():
    open(TABLE), open(KERNEL)
    return Engine()


def spare():
    return 7


def unnamed():
    return 8
""",
    "test/test_parts.py": "from sglang.parts import start\n",
}
LAUNCH, PARTS, GONE = "python/sglang/launch_server.py", "python/sglang/parts.py", "python/sglang/gone.py"
IDLE = "python/sglang/idle.py"


def _rules(folder: Path, own: str = _OWN) -> Ruleset:
    folder.mkdir(exist_ok=True)
    (folder / "rules.toml").write_text(_ROOT + _MORE + own)
    return load_rules([folder / "rules.toml", RULES_FOLDER / "package/protocols.toml"])


def _decided(folder: Path, files: dict[str, str], rules: Ruleset, cache: Cache | None, jobs: int = 1) -> dict[str, Any]:
    """All that an analysis says, ready to be compared."""
    decided = analyse(make_tree(folder, files), rules, jobs, {}, _Silent(), cache, symbols=True)
    assert decided.symbols is not None
    names = ("graph", "folded", "rescued", "written", "distributions")
    data, edges = symbol_data(decided.symbols, decided.graph, decided.written)
    return {name: getattr(decided, name) for name in names} | {"symbols": data, "edges": edges}


def _again(folder: Path, files: dict[str, str], rules: Ruleset, cold: dict[str, Any], jobs: int = 1) -> bool:
    """Whether the analysis of an earlier run was used; either way it is what a cold run says."""
    cache = Cache(folder.parent / "cache")
    assert _decided(folder, files, rules, cache, jobs) == cold
    counts = cache.counts["analyses"]
    assert counts.asked == 1
    return counts.found == 1


_ALIKE: dict[str, dict[str, str | None]] = {
    "nothing changed": {},
    "a document came": {"docs/new.md": "text\n"},
    "a test came": {"test/test_more.py": "import sglang.parts\n"},
    "a test changed": {"test/test_parts.py": "# nothing\n"},
    "a test went": {"test/test_parts.py": None},
    "a file that nobody names changed": {"LICENSE": "yours\n"},
    "a comment after a kept module": {LAUNCH: FILES[LAUNCH] + "# more\n"},
    "a comment beside what stays": {PARTS: FILES[PARTS].replace("return 2", "return 2  # more")},
    "a removed module moved": {GONE: "# more\n\n" + FILES[GONE]},
    "a removed module has another class": {GONE: FILES[GONE].replace("Kernel", "Kernels")},
    "a removed module names a method too": {GONE: FILES[GONE] + "Engine().later()\n"},
    "a module that nothing reaches moved": {IDLE: "# more\n" + FILES[IDLE]},
    "another module names the method": {
        IDLE: FILES[IDLE].replace("later", "other"),
        GONE: FILES[GONE] + "Engine().later()\n",
    },
}
_ALIKE |= {
    "a kept file came": {"notes/second.txt": "words\n"},
    "a kept file went": {"notes/first.txt": None},
    "a kept file changed": {"notes/first.txt": "phrase\n"},
    "a kept file says what another one says": {"notes/first.txt": "words public\n"},
    "a kept file that names what no round asked for came": {"notes/second.txt": "unnamed\n"},
    "a kept file names what no round asked for": {"notes/first.txt": "unnamed\n"},
    "a kept file names no more what no round asked for": {"notes/kernel.rs": "// only_rust\nfn scale() {}\n"},
    "a comment names it where the package is named": {"notes/use.py": "# unnamed\n" + FILES["notes/use.py"]},
    "a kernel names it": {"python/sglang/data/kernel.cu": '#include "kernel.h"\nint unnamed;\n'},
    "a kept file that names something has another name": {
        "notes/kernel.rs": None,
        "notes/nucleus.rs": FILES["notes/kernel.rs"],
    },
    "another kept file names something": {
        "notes/kernel.rs": "fn scale() {}\n",
        "notes/first.txt": "public only_rust\n",
    },
    "a kept file that has no words changed": {"notes/first.md": "unnamed\n"},
    "a kept file that names the package says more": {"notes/use.py": FILES["notes/use.py"] + "print(phrase)\n"},
    "a data file changed": {"python/sglang/data/table.json": '["unnamed"]\n'},
    "a kernel changed": {"python/sglang/data/kernel.cu": '#include "kernel.h"\nint phrase;\n'},
}
FIRST, SECOND, THIRD = (f"python/sglang/models/{name}.py" for name in ("first", "second", "third"))
_ALIKE |= {
    "a removed module came": {THIRD: "class Third:\n    pass\n"},
    "a removed package came": {"python/sglang/models/more/__init__.py": "", "python/sglang/models/more/run.py": ""},
    "a removed module came that imports what another one imports": {THIRD: FILES[SECOND]},
    "a removed module went whose imports another one has": {SECOND: None},
    "a removed module imports what nobody writes": {SECOND: "from sglang.models.first import Whatever\n"},
    "a removed module came that imports what nobody writes": {THIRD: "from sglang.models.first import Whatever\n"},
    "a removed module has another name": {FIRST: None, THIRD: FILES[FIRST]},
    "a removed module names a method that went with another": {FIRST: None, SECOND: FILES[FIRST]},
    "a removed module came whose name is written elsewhere": {"python/sglang/models/main.py": ""},
    "a removed module came, and another one changed": {THIRD: "", SECOND: FILES[SECOND] + "# more\n"},
}
_OTHER: dict[str, dict[str, str | None]] = {
    "a module came": {"python/sglang/fresh.py": ""},
    "a module went": {IDLE: None},
    "a kept file that names something came": {"notes/second.txt": "only_hip\n"},
    "a kept file names something": {"notes/first.txt": "only_hip\n"},
    "a kept file names something no more": {"notes/kernel.rs": "fn scale() {}\n"},
    "another file names something, which only the analysis may keep": {
        "notes/kernel.rs": "fn scale() {}\n",
        "python/sglang/data/kernel.h": "int only_rust;\n",
    },
    "a kept file that names the package came": {"notes/again.py": FILES["notes/use.py"]},
    "a kept file that names the package went": {"notes/use.py": None},
    "a kept file that names the package names more": {"notes/use.py": FILES["notes/use.py"] + "print(public)\n"},
    "a kept file looks up what it named": {"notes/use.py": "from sglang.parts import start\n\nprint(x.start)\n"},
    "a comment names something where the package is named": {"notes/use.py": "# only_hip\n" + FILES["notes/use.py"]},
    "a kernel names something": {"python/sglang/data/kernel.cu": '#include "kernel.h"\nint only_hip;\n'},
    "a kernel includes another header": {"python/sglang/data/kernel.cu": '#include "more.h"\n'},
    "a kernel's include moved": {"python/sglang/data/kernel.cu": '\n#include "kernel.h"\n'},
    "a comment that moves what stays": {LAUNCH: "# more\n" + FILES[LAUNCH]},
    "code that names more": {LAUNCH: FILES[LAUNCH].replace(".run()", ".run(), start().later()")},
    "a definition in a string": {PARTS: FILES[PARTS].replace("return 2", 'return """\ndef spare():\n    pass\n"""')},
    "code that goes says something else": {LAUNCH: FILES[LAUNCH].replace(".only_hip()", ".forgotten()")},
    "a removed module imports something else": {GONE: FILES[GONE].replace("import spare", "import unnamed")},
    "a removed module names a method that nobody named": {GONE: FILES[GONE] + "Engine().public()\n"},
    "a removed module names a method no more": {GONE: FILES[GONE].replace("Engine().forgotten()\n", "")},
    "a module that nothing reaches names a method no more": {IDLE: FILES[IDLE].replace("later", "other")},
    "a removed module came that imports something else": {THIRD: "from sglang.parts import unnamed\n"},
    "a removed module came that names a method that nobody named": {THIRD: "Engine().public()\n"},
    "a removed module went that alone named a method": {FIRST: None},
    "a removed module came whose name is written where its package is": {"python/sglang/models/inner.py": ""},
    "a removed module came whose name is written, and its package stays": {"python/sglang/inner_models.py": ""},
    "a removed module came, and a kept one changed": {THIRD: "", LAUNCH: FILES[LAUNCH] + "# more\n"},
    "a removed module went that a kept one names no more": {
        SECOND: None,
        LAUNCH: FILES[LAUNCH].replace("print(", "print(1, "),
    },
    "a module that nothing reaches defines a name": {IDLE: FILES[IDLE] + "NAME = 1\n"},
}


def _edited(change: dict[str, str | None]) -> dict[str, str]:
    return {path: text for path, text in {**FILES, **change}.items() if text is not None}


@pytest.mark.parametrize("change", _OTHER.values(), ids=_OTHER.keys())
def test_a_change_that_may_matter_is_analysed(tmp_path: Path, change: dict[str, str | None]) -> None:
    rules = _rules(tmp_path)
    _decided(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    files = _edited(change)
    cold = _decided(tmp_path / "cold", files, rules, None)
    assert not _again(tmp_path / "warm", files, rules, cold)
    # And then it is known.
    assert _again(tmp_path / "once more", files, rules, cold)


@pytest.mark.parametrize("change", _ALIKE.values(), ids=_ALIKE.keys())
def test_a_change_that_no_answer_depends_on_is_not(tmp_path: Path, change: dict[str, str | None]) -> None:
    rules = _rules(tmp_path)
    _decided(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    files = _edited(change)
    assert _again(tmp_path / "warm", files, rules, _decided(tmp_path / "cold", files, rules, None))


@pytest.mark.parametrize("alike", [True, False])
def test_steps_are_folded_in_other_processes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alike: bool) -> None:
    # Each step of each module in a process of its own: any size is enough for that.
    monkeypatch.setattr(workers, "_SERIAL_BYTES", 0)
    started: list[int] = []

    class Pool(WorkerPool):
        def __init__(self, jobs: int, *others: Any, **named: Any) -> None:
            started.append(jobs)
            super().__init__(jobs, *others, **named)

    rules = _rules(tmp_path)
    _decided(tmp_path / "before", FILES, rules, Cache(tmp_path / "cache"))
    names = [
        "a comment beside what stays",
        "a comment after a kept module",
        *([] if alike else ["code that names more"]),
    ]
    files = _edited({path: text for name in names for path, text in (_ALIKE | _OTHER)[name].items()})
    cold = _decided(tmp_path / "cold", files, rules, None)
    with monkeypatch.context() as patched:
        patched.setattr(workers, "WorkerPool", Pool)
        assert _again(tmp_path / "warm", files, rules, cold, jobs=2) is alike
    assert started[0] == 2


def test_other_rules_are_another_analysis(tmp_path: Path) -> None:
    _decided(tmp_path / "before", FILES, _rules(tmp_path), Cache(tmp_path / "cache"))
    rules = _rules(tmp_path / "other", own="")
    assert not _again(tmp_path / "warm", FILES, rules, _decided(tmp_path / "cold", FILES, rules, None))


def _edits(files: dict[str, str]) -> Iterator[dict[str, str]]:
    for path, text in files.items():
        yield files | {path: text + "\n# edited\n"}
        yield files | {path: "# edited\n" + text}
        yield files | {path: text + "\nEDITED = 1\n"}
        yield files | {path: text.replace("return ", "return not ")}


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.stem)
def test_a_warm_analysis_is_a_cold_one(tmp_path: Path, archive: Path) -> None:
    rules = _rules(tmp_path)
    files = {path: text for path, text in read_program(archive).files.items() if path.endswith(".py")}
    _decided(tmp_path / "first", files, rules, Cache(tmp_path / "cache"))
    used = 0
    for number, edited in enumerate(_edits(files)):
        cold = _decided(tmp_path / f"cold{number}", edited, rules, None)
        used += _again(tmp_path / f"warm{number}", edited, rules, cold)
    assert used > 0


def test_what_lies_beside_the_package_sees_the_modules_that_stay(tmp_path: Path) -> None:
    """A module that a rule removes is rescued by code that needs it: then it is there for a companion, too."""
    rules = _rules(tmp_path, _COMPANION)
    files = FILES | {
        "python/sglang/other.py": "RATE = 2\n",
        "kernels/fast/__init__.py": "try:\n    from sglang.other import RATE\nexcept ImportError:\n    RATE = 1\n",
        LAUNCH: FILES[LAUNCH]
        .replace("print(", "print(RATE, ")
        .replace("\n\n\ndef", "\nfrom sglang.other import RATE\n\n\ndef", 1),
    }
    first = _decided(tmp_path / "before", files, rules, Cache(tmp_path / "cache"))
    assert list(first["rescued"]) == ["sglang.other"]
    assert not first["folded"]["kernels/fast/__init__.py"].edits
    changed = files | {LAUNCH: files[LAUNCH] + "# more\n"}
    assert _again(tmp_path / "warm", changed, rules, _decided(tmp_path / "cold", changed, rules, None))
    # And where it is not there, the companion has no need to try.
    without = files | {LAUNCH: FILES[LAUNCH]}
    assert _decided(tmp_path / "without", without, rules, None)["folded"]["kernels/fast/__init__.py"].edits
