"""What a wrong rule does by itself: the same files as a whole run makes, as far as nothing follows from them. What stays as it is comes first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shrinker.cache import Cache
from shrinker.pipeline import generate
from shrinker.ruleset import Ruleset, with_rule
from shrinker.ruleset.load import load_rules
from shrinker.values.upstream import UpstreamTree
from tests.fold.programs import make_tree
from tests.program.symbols.support import ROOT
from tests.small import Silent
from tools.mutation.direct_effect import DirectEffect
from tools.mutation.wrong_rules import WrongRule

P = "python/sglang/"
FILES = {
    "LICENSE": "mine\n",
    f"{P}__init__.py": "",
    f"{P}launch_server.py": "import sglang.asks, sglang.far, sglang.loads, sglang.needs, sglang.plain\n\n\nprint(sglang)\n",
    f"{P}flags.py": "import os\n\n\ndef is_fast():\n    return bool(os.environ.get('FAST'))\n\n\nON = is_fast()\n",
    f"{P}between.py": "from sglang.flags import ON as QUICK\n\nprint(QUICK)\n",
    f"{P}far.py": "from sglang.between import QUICK\n\nif QUICK:\n    print('quick')\nprint('far')\n",
    f"{P}asks.py": "from sglang.flags import is_fast\n\nprint('fast' if is_fast() else 'slow')\n",
    f"{P}plain.py": "print('plain')\n",
    f"{P}extra.py": "def start():\n    print('extra')\n",
    f"{P}loads.py": "def run(x):\n    if x:\n        from sglang.extra import start\n        start()\n    print(x)\n\n\nrun(1)\n",
    f"{P}base.py": "class Base: ...\n",
    f"{P}needs.py": "from sglang.base import Base\n\n\nclass Own(Base): ...\n\n\nprint(Own)\n",
}
Plant = Callable[..., tuple[dict[str, str | None], dict[str, str | None]]]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    tree: UpstreamTree = make_tree(tmp_path / "upstream", FILES)
    (rules_file := tmp_path / "rules.toml").write_text(ROOT)
    rules: Ruleset = load_rules([rules_file])
    cache = Cache(tmp_path / "cache")

    def made(name: str, of: Ruleset) -> dict[str, str]:
        (out := tmp_path / name).mkdir()
        manifest = generate(tree, of, out, 1, Silent(), cache)
        return {e.path: (out / e.path).read_text() for e in manifest.files if e.lines_before and e.path.endswith(".py")}

    right = made("right", rules)
    direct = DirectEffect(tree, rules, 1, Silent(), cache)

    def planted(table: str, **row: Any) -> tuple[dict[str, str | None], dict[str, str | None]]:
        wrong = WrongRule("x", "y", table, tuple(row.items()))
        other = with_rule(rules, table, wrong.data())
        whole = made("wrong", other)
        changed = {path: whole.get(path) for path in right if whole.get(path) != right[path]}
        return direct.of(other, wrong.words), changed

    return planted


def test_a_rule_about_nothing(plant: Plant) -> None:
    assert plant("facts", calls=(".is_other",), value=False) == ({}, {})


def test_a_module_that_is_needed_stays(plant: Plant) -> None:
    assert plant("removes", feature="bases", modules=("sglang.base",)) == ({}, {})


def test_a_predicate_and_all_that_it_gives_a_value(plant: Plant) -> None:
    found, whole = plant("facts", calls=("sglang.flags.is_fast",), value=False)
    # A run sees then that nothing reads the flag any more; what stays of a file is the same.
    assert whole.keys() == found.keys() and {path for path, text in whole.items() if text is None} == {
        f"{P}flags.py",
        f"{P}between.py",
    }
    assert f"{P}plain.py" not in found
    for path in (f"{P}asks.py", f"{P}far.py"):
        assert (found[path] or "").splitlines()[-1] == (whole[path] or "").splitlines()[-1]
    assert (
        "quick" not in (found[f"{P}far.py"] or "") and "fast" not in (found[f"{P}asks.py"] or "").partition("print")[2]
    )


def test_a_module_that_goes(plant: Plant) -> None:
    found, whole = plant("removes", feature="extras", modules=("sglang.extra",))
    assert found == whole and found[f"{P}extra.py"] is None
    assert "extras" in (found[f"{P}loads.py"] or "")
