"""Drift of upstream, seeded into a small one: check-upstream names it with its site, and the tree
stays sound.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from shrinker.upgrade.check_upstream import upstream_line
from tests.cli.small import FILES, Done, World, small_world
from tests.cli.small import RULES as SMALL
from tests.small import read_archive, rule, write

UTILS = "python/sglang/srt/utils.py"
SERVER = "python/sglang/srt/server.py"
PLATFORM = "python/sglang/srt/platforms/interface.py"

BASE = FILES | read_archive(Path(__file__).with_name("drifting.txtar"))
RULES = {
    "world.toml": "\n".join(
        (
            rule("root", "root", modules=["sglang"]),
            rule("fact", "others", calls=["sglang.**.is_npu", "sglang.**.is_xpu"], value=False),
            rule("fact", "hip", calls=["sglang.**.is_hip"], value=False),
            rule(
                "remove",
                "remove-npu",
                feature="Ascend NPU",
                modules=["sglang.srt.npu", "sglang.srt.hardware.npu"],
            ),
            rule("platform", "words", words=["npu", "xpu", "hip"]),
            rule("platform", "own", words=["cuda"], own=True),
            rule("leftover", "anything", kind=["strings", "names"]),
        )
    ),
    "profiles/small.toml": SMALL["profiles/small.toml"],
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = small_world(tmp_path, BASE, RULES)
    shutil.copytree(world.upstream, tmp_path / "before")
    return world


def _asked(world: World, *more: str) -> Done:
    words = [
        "--since",
        f"path:{world.folder / 'before'}",
        "--rules",
        str(world.rules),
        "--profile",
        "small",
    ]
    return world.run(["check-upstream", f"path:{world.upstream}", *words, "--jobs", "1", *more])


def _check(world: World, code: int = 1) -> dict[str, list[dict[str, Any]]]:
    """Symptoms by section."""
    done = _asked(world, "--json")
    assert done.code == code, done.err + done.out
    found = json.loads(done.out)
    assert found["files"] > 5, "the tree was generated, with its evidence"
    out: dict[str, list[dict[str, Any]]] = {}
    for row in found["symptoms"]:
        out.setdefault(row["section"], []).append(row)
    return out


def _change(world: World, path: str, *pairs: tuple[str, str]) -> None:
    file = world.upstream / path
    text = file.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


def _always(world: World, files: dict[str, str]) -> None:
    """Files of both upstreams, in which nothing is new then."""
    for folder in (world.upstream, world.folder / "before"):
        write(folder, files)
    assert _check(world, code=0) == {}


def _kept(world: World, path: str) -> str:
    world.shrink().expect(0)
    return (world.out / path).read_text()


def test_nothing_new_is_nothing_to_look_at(world: World) -> None:
    assert _check(world, code=0) == {}
    assert "WAVES = 32" in _kept(world, SERVER) and "64" not in _kept(world, SERVER)


def test_a_renamed_predicate(world: World) -> None:
    for path in (UTILS, SERVER):
        _change(world, path, ("is_hip", "is_radeon"))
    found = _check(world)
    (row,) = found["unnamed-predicate"]
    assert (
        row["name"] == "is_radeon" and row["sites"] == [f"{SERVER}:4"] and "[[fact]]" in row["rule"]
    )
    (lost,) = found["lost"]
    assert lost["name"] == "sglang.**.is_hip" and "rule hip (world.toml:" in lost["text"]
    assert lost["sites"] == [f"{UTILS}:12"] and "`is_radeon`" in lost["text"]
    assert 'calls = ["sglang.**.is_radeon"]' in lost["rule"]
    (rule,) = found["unmatched-rule"]
    assert rule["name"] == "hip" and rule["sites"] == ["world.toml:12"]
    assert "WAVES = 64" in _kept(world, SERVER), "what is not known stays"


def test_one_name_of_a_rule_that_matches_all_the_same(world: World) -> None:
    for path in (UTILS, SERVER):
        _change(world, path, ("is_xpu", "asks_for_it"))
    found = _check(world)
    assert list(found) == ["lost"], (
        "strict mode sees neither a rule without a match nor a name that looks like a predicate"
    )
    (row,) = found["lost"]
    assert (
        row["name"] == "sglang.**.is_xpu"
        and row["sites"] == [f"{UTILS}:8"]
        and "`asks_for_it`" in row["text"]
    )
    assert "if asks_for_it():" in _kept(world, SERVER), "what is not known stays"


def test_an_optional_root_and_a_removed_module_that_are_gone(world: World) -> None:
    root = rule("root", "tools", modules=["sglang.srt.tool"], optional=True)
    write(world.rules, {"world.toml": RULES["world.toml"] + "\n" + root})
    _always(world, {"python/sglang/srt/tool.py": "A = 1\n"})
    (world.upstream / "python/sglang/srt/tool.py").rename(
        world.upstream / "python/sglang/srt/gadget.py"
    )
    (row,) = _check(world)["lost"]
    assert (row["name"], row["sites"]) == ("sglang.srt.tool", ["python/sglang/srt/tool.py"])


def test_a_backend_that_is_registered_beside_others(world: World) -> None:
    rows = "".join(
        f"\n\n@register_backend({n!r})\ndef made_{n}():\n    return 1\n"
        for n in ("npu", "xpu", "cuda")
    )
    more = (
        "BACKENDS = {}\n\n\ndef register_backend(name):\n    return lambda f: "
        "BACKENDS.setdefault(name, f)\n"
    ) + rows
    _always(
        world,
        {
            "python/sglang/srt/backends.py": more,
            SERVER: "import sglang.srt.backends\n" + BASE[SERVER],
        },
    )
    new = more + "\n\n@register_backend('tpu9')\ndef made_tpu9():\n    return 1\n"
    write(world.upstream, {"python/sglang/srt/backends.py": new})
    (row,) = _check(world)["platforms"]
    assert row["name"] == "tpu9" and row["sites"] == ["python/sglang/srt/backends.py:23"]


@pytest.mark.parametrize(
    "names", [("npu",), ("npu", "xpu", "hip")], ids=["one that a rule removes", "some"]
)
def test_a_backend_folder_beside_others(world: World, names: tuple[str, ...]) -> None:
    _always(world, {f"python/sglang/srt/hardware/{name}/__init__.py": "A = 1\n" for name in names})
    write(world.upstream, {"python/sglang/srt/hardware/tpu9/__init__.py": "A = 1\n"})
    (row,) = _check(world)["platforms"]
    assert (row["name"], row["sites"]) == ("tpu9", ["python/sglang/srt/hardware/tpu9"])


def test_a_new_platform_backend(world: World) -> None:
    write(world.upstream, {"python/sglang/srt/platforms/tpu9.py": "NAME = 'tpu9'\n"})
    _change(
        world,
        PLATFORM,
        ("    HIP = 3\n", "    HIP = 3\n    TPU9 = 4\n"),
        ('"npu")', '"npu", "tpu9")'),
    )
    _change(
        world, PLATFORM, ("return Kind.CUDA", "return Kind.TPU9 if name == 'tpu9' else Kind.CUDA")
    )
    (row,) = _check(world)["platforms"]
    assert (
        row["name"] == "tpu9"
        and f"{PLATFORM}:8" in row["sites"]
        and 'words = ["tpu9"]' in row["rule"]
    )
    assert "Kind.TPU9" in _kept(world, PLATFORM)


def test_texts_beside_platforms_and_objects_that_join_others_are_nothing_to_look_at(
    world: World,
) -> None:
    more = (
        "WORDS = ['cuda', 'hip', 'page_size', 'base_gpu', 'api_key', 'dtype']\n\n\ndef join(pool, "
        "one):\n    pool.register_one(one)\n\n\n"
    )
    _change(world, SERVER, ("print(", f"{more}join(print, WORDS)\n\nprint("))
    assert not _check(world, code=0)


def test_a_new_kind_of_registry(world: World) -> None:
    maker = (
        "GADGETS = {}\n\n\ndef register_gadget(name):\n    return lambda f: "
        "GADGETS.setdefault(name, f)\n\n\n"
    )
    gadget = (
        "@register_gadget('hip')\ndef gadget():\n    return start(), WAVES, "
        "platforms.find('cuda')\n\n\n"
    )
    _change(
        world,
        SERVER,
        ("print(", maker),
        ('start(), WAVES, platforms.find("cuda"))', f"{gadget}print(GADGETS)"),
    )
    (row,) = _check(world)["registries"]
    assert (
        row["name"] == "register_gadget"
        and row["sites"] == [f"{SERVER}:21"]
        and "registers" in row["rule"]
    )
    assert "@register_gadget('hip')" in _kept(world, SERVER)


def test_a_root_that_is_gone(world: World) -> None:
    write(
        world.rules,
        {
            "world.toml": RULES["world.toml"].replace(
                '["sglang"]', '["sglang", "sglang.srt.launch"]'
            )
        },
    )
    _always(world, {"python/sglang/srt/launch.py": "import sglang.srt.server\n"})
    (world.upstream / "python/sglang/srt/launch.py").unlink()
    (row,) = _check(world)["missing-root"]
    assert "sglang.srt.launch" in row["sites"][0] and "rename it" in row["text"]
    assert "WAVES" in _kept(world, SERVER)


def test_walks_entry_points_data_and_folders(world: World) -> None:
    write(
        world.upstream,
        {
            "python/sglang/srt/fresh/__init__.py": "import pkgutil\nfrom importlib.metadata import entry_points\n\n\n"
            "def walk():\n    return [*pkgutil.iter_modules(__path__), "
            "*entry_points(group='sglang.plugins')]\n\n\nprint(walk())\n",
            "python/sglang/srt/fresh/tables/a.json": "{}\n",
            "python/pyproject.toml": BASE["python/pyproject.toml"]
            + "[project.scripts]\nserve = 'sglang.srt.fresh:walk'\n",
        },
    )
    _change(world, SERVER, ("print(", "import sglang.srt.fresh\n\nprint("))
    found = _check(world)
    (walk,) = found["walks"]
    assert walk["name"] == "sglang.srt.fresh: iter_modules(__path__)" and "[[walk]]" in walk["rule"]
    names = [row["name"] for row in found["entry points"]]
    assert names == ["entry_points('sglang.plugins')", "serve = sglang.srt.fresh:walk"]
    (data,) = found["package data"]
    assert (
        data["sites"] == ["python/sglang/srt/fresh/tables/a.json"]
        and "tables/*.json" in data["rule"]
    )
    (folder,) = found["folders"]
    assert folder["name"] == "python/sglang/srt/fresh" and folder["text"].startswith(
        "1 files of it are kept"
    )


def test_a_rule_that_is_pasted_ends_the_symptom(world: World) -> None:
    write(world.upstream, {"python/sglang/srt/platforms/tpu9.py": "NAME = 'tpu9'\n"})
    _change(world, PLATFORM, ('"npu")', '"npu", "tpu9")'))
    (row,) = _check(world)["platforms"]
    text = "\n".join(line.removeprefix("    ") for line in row["rule"].splitlines())
    write(world.rules, {"world.toml": RULES["world.toml"] + "\n" + text + "\n"})
    assert "platforms" not in _check(world, code=0)


def test_an_upstream_that_cannot_be_generated_is_told_with_the_rest(world: World) -> None:
    write(world.upstream, {SERVER: "def broken(:\n", "python/sglang/srt/fresh/a.py": ""})
    done = _asked(world)
    assert done.code == 1, done.err
    assert (
        "The tree could not be generated (1)" in done.out and "python/sglang/srt/fresh" in done.out
    )


def test_bad_input(world: World) -> None:
    for words in (
        ["release:x y"],
        [f"path:{world.folder / 'nowhere'}"],
        [f"path:{world.upstream}", "--since", "path:"],
    ):
        done = world.run(
            ["check-upstream", *words, "--rules", str(world.rules), "--profile", "small"]
        )
        assert done.code == 2 and "next: " in done.err


def test_lines_are_those_of_upstream() -> None:
    upstream = "import a\nif x():\n    pass\nif y():\n    one()\nif y():\n    two()\n"
    generated = "# Modified.\nimport a\nif y():\n    one()\nif y():\n    two()\n"
    assert [upstream_line(generated, upstream, n) for n in (2, 3, 4, 5, 6)] == [1, 4, 5, 6, 7]
    assert upstream_line(generated, upstream, 99) == 99
