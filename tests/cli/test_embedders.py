"""What `shrink` and `verify` do with the wheels of programs outside."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from shrinker.source.wheels import Wheel
from tests.cli.small import Done, World
from tests.small import write

PINS = "shrinker.pipeline.verification.load_wheels"


def pin(monkeypatch: pytest.MonkeyPatch, cache: Path, program: str, *, here: bool = True) -> None:
    """A wheel of one file is pinned, and lies in the cache or does not."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("program.py", program)
    wheel = Wheel(
        "program",
        "program-1.0-py3-none-any.whl",
        hashlib.sha256(data.getvalue()).hexdigest(),
        "Tests.",
    )
    monkeypatch.setattr(PINS, lambda repository: (wheel,))
    if here:
        file = cache / "downloads" / wheel.sha256 / wheel.file
        file.parent.mkdir(parents=True)
        file.write_bytes(data.getvalue())


def _asked(world: World) -> Done:
    return world.verify("--level", "embedders")


def test_a_loss_is_open_for_an_upstream_that_nobody_answers_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(monkeypatch, world.folder / "cache", "from sglang.srt.orphan import LOST\n")
    done = world.shrink()
    assert (
        done.code == 0
        and "embedders: 1 open, `shrinker verify --level embedders` lists them" in done.err
    )


def test_a_loss_ends_a_strict_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, world.folder / "cache", "from sglang.srt.orphan import LOST\n")
    done = world.shrink("--strict")
    assert (
        done.code == 1 and "program.py:1: [imports] upstream has sglang.srt.orphan.LOST" in done.err
    )
    assert world.left() == {}


def test_what_a_rule_removes_ends_no_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "from sglang.srt.npu import start\nfrom sglang.srt.cuda import start as other\n"
    pin(monkeypatch, world.folder / "cache", program)
    assert world.shrink().code == 0
    done = _asked(world)
    # By the rules of the project, which this folder is.
    assert (
        done.code == 0
        and "sglang.srt.npu.start (remove-npu)" in done.out
        and "cuda" not in done.out
    )
    world.rules.rename(world.folder / "elsewhere")
    done = _asked(world)
    assert done.code == 1 and "sglang.srt.npu.start" in done.out and "cuda" not in done.out


def test_without_wheels_it_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, world.folder / "cache", "from sglang.srt.orphan import LOST\n", here=False)
    done = world.shrink()
    assert done.code == 0 and "embedders: not run" in done.err and "--level embedders" in done.err
    done = _asked(world)
    assert (
        done.code == 0
        and "embedders: not run" in done.out
        and "not shown" in done.out
        and "passed" not in done.out
    )


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("program.py", "import os\nfrom sglang.srt.orphan import LOST\n", 2),
        ("guide.md", "Take\n\n  ```python\n  from sglang.srt.orphan import LOST\n  ```\n", 4),
        ("guide.md", "Take\n\n```bash\nfrom sglang.srt.orphan import LOST\n```\nsglang\n", 0),
        (
            "book.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["!ls\\n", "from sglang.srt.orphan import LOST"]}]}',
            2,
        ),
        ("book.ipynb", "sglang has no cells", 0),
        (".venv/program.py", "from sglang.srt.orphan import LOST\n", None),
    ],
)
def test_what_a_folder_of_somebodys_own_uses(
    world: World, name: str, text: str, line: int | None
) -> None:
    assert world.shrink().code == 0
    more = "from sglang.srt.cuda import start\n" if line is not None else ""
    write(world.folder / "own", {name: text, "more.py": more})
    done = world.verify("--program", str(world.folder / "own"))
    found = (
        f"own: {name}:{line}: [imports] upstream has sglang.srt.orphan.LOST, this tree has not, "
        "and no rule says so"
    )
    if line is None:
        assert done.code == 2 and "names sglang" in done.err
    else:
        assert (done.code, found in done.out) == ((1, True) if line else (0, False)), (
            done.out + done.err
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--program", ".", "--all"], "--program is asked by the level embedders alone"),
        (["--program", "nowhere"], "nowhere is no program"),
    ],
)
def test_what_is_no_question_about_a_program(world: World, words: list[str], said: str) -> None:
    assert world.shrink().code == 0
    done = world.verify(*words)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err
