"""The levels on a whole upstream: what is unchanged passes, and each of many random deletions is
found.
"""

import ast
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from shrinker.cache import Cache
from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.ruleset import load_profile
from shrinker.source import open_upstream
from shrinker.values.upstream import PACKAGE_PREFIX
from tests.check.trees import Case, manifest_of

RELEASE = "release:0.5.7"
REPOSITORY = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.network
MODULES, FUNCTIONS = 10, 40


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Case:
    tree = open_upstream(RELEASE, repository=REPOSITORY)
    out = tmp_path_factory.mktemp("out")
    shutil.copytree(tree.root, out, dirs_exist_ok=True)
    # Starts empty: as in a run, what one level read of a file the next one does not read again, nor
    # where nothing was deleted.
    return Case(tree, out, manifest_of(tree, out), cache=Cache())


LOOKED_AT = {
    "form": ("compiled", 1000),
    "references": ("imports", 1000),
    "capabilities": ("modules", 20),
}


@pytest.mark.parametrize("level", EVIDENCE_LEVELS)
def test_upstream_itself_passes(real: Case, level: str) -> None:
    rules = load_profile("deepseek") if level == "capabilities" else None
    evidence = replace(real, rules=rules).evidence(level, jobs=2).held()
    assert evidence.findings == ()
    check, least = LOOKED_AT[level]
    assert dict(evidence.checks)[check] > least


def test_each_deletion_is_found(real: Case) -> None:
    chance = random.Random(0)
    texts = {
        f.path: real.tree.read(f.path).decode() for f in real.tree.files if f.path.endswith(".py")
    }
    gone: list[str] = []
    paths = sorted(p for p in texts if "/srt/" in p)
    chance.shuffle(paths)
    imported = set(
        re.findall(r"^from sglang\.([\w.]+) import", "\n".join(texts.values()), re.MULTILINE)
    )
    for path in paths:
        dotted = path.removeprefix(PACKAGE_PREFIX).removesuffix(".py").replace("/", ".")
        if len(gone) < MODULES and dotted in imported:
            (real.out / path).unlink()
            gone.append(f"sglang.{dotted}")
        elif len(gone) < MODULES + FUNCTIONS and (
            name := _delete_a_used_function(real.out / path, texts[path], chance)
        ):
            gone.append(name)
    real.manifest = manifest_of(real.tree, real.out)
    assert real.evidence("form", jobs=2).findings == ()
    messages = " ".join(f.message for f in real.evidence("references", jobs=2).findings)
    assert [name for name in gone if not re.search(rf"\b{re.escape(name)}\b", messages)] == []


def _delete_a_used_function(file: Path, text: str, chance: random.Random) -> str | None:
    """Cut one top-level function out of a file that calls it by name elsewhere; its name."""
    tree = ast.parse(text)
    bound = [n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    bound += [
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    choices = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and bound.count(node.name) == 1:
            others = [
                n for statement in tree.body if statement is not node for n in ast.walk(statement)
            ]
            if any(isinstance(n, ast.Name) and n.id == node.name for n in others):
                choices.append(node)
    if not choices:
        return None
    node = chance.choice(choices)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = text.split("\n")
    del lines[first - 1 : node.end_lineno]
    file.write_text("\n".join(lines))
    return node.name
