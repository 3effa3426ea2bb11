"""Public names that are gone: what counts as one, and why it went."""

from __future__ import annotations

from pathlib import Path

from shrinker.cache import Cache
from shrinker.program.definitions import public_definitions
from shrinker.program.written import written_imports
from shrinker.report.api import DROPPED, IMPORTED, INTERNAL, SAID, api_page, definitions_data, removed_definitions
from shrinker.ruleset.load import load_rules
from shrinker.values.graph import Graph, Removal
from shrinker.values.upstream import UpstreamTree
from tests.program.small_tree import write_tree
from tests.small import rule

P = "python/sglang/"
KEPT = """\
import json
import os as system
from torch import nn
from sglang.other import handed as on, _private
from .beside import near
from sglang.star import *

__all__ = ["first"]
first: int = 1
declared: int
a, (b, c) = 1, (2, 3)
attribute.of_something = 4
_own = 5


def helper():
    inner = 1
    return inner


class Tool:
    member = 1


if first:
    def guarded():
        pass
else:
    try:
        import sys
    except ImportError:
        first = 2
        tried = 3
# says: alone
def alone():
    return alone


def used():
    return a
"""

RULES = rule("dropped", "dropped-tpu", words=["tpu"]) + rule("internal", "internal-lost", names=["sglang.lost.L*"])


def _tree(folder: Path) -> UpstreamTree:
    return write_tree(
        folder,
        {
            "__init__.py": "",
            "kept.py": KEPT,
            "ruled.py": "def one(): ...\ndef two(): ...\n_three = 1\n",
            "lost.py": "from sglang.kept import used\nclass Lost: ...\nclass TpuPool: ...\n",
            "broken.py": "def (",
        },
    )


def test_what_counts(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    path = f"{P}kept.py"
    (found,) = public_definitions({path: tree.by_path[path].sha256}, tree.read, Cache.off()).values()
    assert [(one.name, one.kind, one.guarded) for one in found] == [
        ("on", "import", False),
        ("near", "import", False),
        ("sglang.star", "star", False),
        ("first", "assign", False),
        ("a", "assign", False),
        ("b", "assign", False),
        ("c", "assign", False),
        ("helper", "function", False),
        ("Tool", "class", False),
        ("guarded", "function", True),
        ("tried", "assign", True),
        ("alone", "function", False),
        ("used", "function", False),
    ]
    assert next((one.line, one.end_line) for one in found if one.name == "helper") == (16, 18)


def test_why_they_went(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    path = f"{P}kept.py"
    removed = {
        f"{P}ruled.py": Removal("remove-ruled", "r"),
        f"{P}lost.py": Removal("unreachable", "r"),
        f"{P}broken.py": Removal("unreachable", "r"),
        "docs/other.py": Removal("unreachable", "r"),
    }
    graph = Graph((), {path: "root"}, removed, ())
    (found,) = public_definitions({path: tree.by_path[path].sha256}, tree.read, Cache.off()).values()
    named = {one.name: one for one in found}
    lost = {path: {named[n]: "unreachable" for n in ("a", "alone", "used", "on")} | {named["Tool"]: "remove-tool"}}
    gone = removed_definitions(tree, graph, Cache.off())
    (file := tmp_path / "rules.toml").write_text(RULES)
    rules = load_rules([file])
    page = api_page(tree, graph, lost, gone, written_imports(tree), rules)
    assert page.ruled == [("sglang.kept", "remove-tool", ["Tool"]), ("sglang.ruled", "remove-ruled", ["one", "two"])]
    # What a definition says of itself, and a comment, count as nothing.
    assert page.unread == [("sglang.kept", ["alone()"])]
    assert page.counts == {IMPORTED: 1, SAID: 1, DROPPED: 1, INTERNAL: 1}
    assert (page.handed, page.count(page.unread), page.count(page.ruled)) == (1, 1, 3)
    assert definitions_data(gone) == {
        "one": [[f"{P}ruled.py", 1]],
        "two": [[f"{P}ruled.py", 2]],
        "Lost": [[f"{P}lost.py", 2]],
        "TpuPool": [[f"{P}lost.py", 3]],
    }
