"""`why` and `why-not` for definitions, members and statements, from a saved search."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shrinker.pipeline import analyse
from shrinker.program import answers
from shrinker.program.answers import SavedRun
from shrinker.program.saved import graph_data
from shrinker.program.symbols.costs import cost_of
from shrinker.program.symbols.saved import NO_SYMBOLS, symbol_data
from shrinker.program.symbols.table import Dropped
from shrinker.project import RULES_FOLDER
from shrinker.ruleset.load import load_rules
from shrinker.values.errors import InputError
from tests.fold.programs import make_tree
from tests.program.symbols.support import PLATFORM, ROOT, Silent

FILES = {
    "python/sglang/__init__.py": "",
    "python/sglang/srt/__init__.py": "",
    "python/sglang/srt/utils.py": "def is_hip():\n    return False\n",
    "python/sglang/gone.py": "from sglang.parts import lost\n\n\nclass Kernel:\n    pass\n",
    "python/sglang/alone.py": "from sglang.parts import Engine, outer_one\n\nEngine().forgotten()\n",
    # A name that many share, nearer to the root than the call of one that two share; and one that makes objects.
    "python/sglang/shared.py": """\
class A:
    def __init__(self):
        pass

    def step(self):
        return 1

    def enter(self):
        return self.last()

    def last(self):
        return 1


class B:
    def step(self):
        return 1

    def enter(self):
        return 1


class C:
    def step(self):
        return 1


class D:
    def step(self):
        return 1


class E:
    def step(self):
        return A().last()


def plain(x):
    return further(x)


def further(x):
    return x.enter()


def run(x):
    x.__init__()
    x.step()
    plain(x)
    return A, B, C, D, E
""",
    "python/sglang/launch_server.py": """\
import sglang.parts, sglang.shared
from sglang.parts import Engine, start
from sglang.srt.utils import is_hip


def main():
    engine = start()
    if is_hip():
        engine.only_hip()
    print(engine.run(), sglang.parts.start(), sglang.shared.run(engine))


if __name__ == "__main__":
    main()
""",
    "python/sglang/parts.py": """\
class Engine:
    def run(self):
        return self._inner()

    def _inner(self):
        return 1

    def only_hip(self):
        return self.deeper()

    def deeper(self):
        return 2

    def forgotten(self):
        return 3


def start():
    return Engine()


def lost():
    return 4


def unheard():
    return 5


def outer_one():
    return inner_one()


def inner_one():
    return 6


TABLE = [1]
TABLE.append(2)


class Holder:
    class State:
        def size(self):
            return 1

    def made(self):
        return self.State()


class Unheld:
    class State2:
        pass


print(Holder().made())
import sglang.lines
""",
    "python/sglang/lines.py": """\
from sglang.srt.utils import is_hip

_hip = is_hip()
if _hip:
    WIDE = 8
    SIZE = WIDE
else:
    SIZE = 4
TEXT = '''
FAKE = 1
'''


def width(x):
    if not is_hip():
        return x
    else:
        first = x
        return first


_more = 1
print(width(SIZE), TEXT, _more)
import sglang.twin

if __name__ == "__main__":
    print("alone")
""",
    # A flag of the same name, which is another one.
    "python/sglang/twin.py": """\
from sglang.srt.utils import is_hip

_hip = is_hip()
if _hip:
    print("twin")
import sglang.branches
""",
    "python/sglang/branches.py": """\
from sglang.srt.utils import is_hip
from sglang.names import taken, unasked
from sglang.names import left as other
from sglang.stars import *

if is_hip():
    from sglang.names import both
else:
    from sglang.plain import both

try:
    from elsewhere import one

    def inside():
        return one
except ImportError:
    inside = None
print(taken, by_star, both, inside)
""",
    "python/sglang/names.py": "taken, unasked, left, both = 1, 2, 3, 4\n",
    "python/sglang/plain.py": "both = 5\n",
    "python/sglang/stars.py": "by_star = 6\n",
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    folder = tmp_path_factory.mktemp("why")
    tree = make_tree(folder / "upstream", FILES)
    (folder / "rules.toml").write_text(ROOT + PLATFORM)
    rules = load_rules([folder / "rules.toml", RULES_FOLDER / "package/protocols.toml"])
    decided = analyse(tree, rules, 1, {}, Silent(), symbols=True)
    assert decided.symbols is not None
    saved = folder / "graph.json"
    saved.write_text(json.dumps(graph_data(decided.graph, decided.folded)))
    symbols, edges = symbol_data(decided.symbols, decided.graph, decided.written)
    saved.with_name("symbols.json").write_text(json.dumps(symbols))
    saved.with_name("symbol_edges.json").write_text(json.dumps(edges))
    return SavedRun(saved)


def _steps(graph: SavedRun, query: str) -> list[str]:
    return [f"{s.kind} {s.dst.removeprefix('symbol:')} {s.line}" for s in answers.why(graph, query)[0].steps]


def test_a_chain_has_every_edge_with_its_line(graph: SavedRun) -> None:
    assert _steps(graph, "sglang.parts.Engine._inner") == [
        "root module:sglang.launch_server 0",
        "effect sglang.launch_server.13 13",
        "name sglang.launch_server.main 14",
        "name name:run 10",
        "by name sglang.parts.Engine.run 2",
        "name sglang.parts.Engine._inner 3",
    ]


def test_a_member_that_is_found_by_its_name_has_a_chain_to_its_class_too(graph: SavedRun) -> None:
    targets = [chain.target for chain in answers.why(graph, "Engine.run")]
    assert targets == ["symbol:sglang.parts.Engine.run", "symbol:sglang.parts.Engine"]


def test_a_name_that_many_share_explains_less(graph: SavedRun) -> None:
    def way(query: str) -> list[str]:
        return [step.rsplit(" ", 1)[0].replace("sglang.shared.", "") for step in _steps(graph, query)][3:]

    # `step` is one step nearer, and five classes have one.
    assert way("sglang.shared.A.last") == [
        "name run",
        "name plain",
        "name further",
        "name name:enter",
        "by name A.enter",
        "name A.last",
    ]
    # Whoever spells such a name may mean any class; what makes the object means this one.
    assert way("sglang.shared.A.__init__") == ["name run", "name A", "protocol A.__init__"]


def test_a_name_that_objects_of_python_have_too_explains_less() -> None:
    assert cost_of("by name", "name:decode", 1) > cost_of("by name", "name:prefill", 1) > cost_of("name", "", 1)


def test_all_gives_a_chain_for_each_place(graph: SavedRun) -> None:
    shortest, every = answers.why(graph, "start"), answers.why(graph, "start", every=True)
    assert len(shortest) == 1
    assert len(every) > 1
    assert len({chain.steps for chain in every}) == len(every)
    assert every[0].steps[0].src.startswith("root:")


def test_a_statement_is_asked_for_by_its_line(graph: SavedRun) -> None:
    (chain,) = answers.why(graph, "python/sglang/parts.py:39")
    assert chain.target == "symbol:sglang.parts.39"
    assert chain.steps[-1].kind == "effect"


def test_a_module_is_answered_by_the_graph_of_files(graph: SavedRun) -> None:
    (chain,) = answers.why(graph, "sglang.parts")
    assert chain.target == "module:sglang.parts"


def _dropped(graph: SavedRun, query: str, *, alive: bool = False) -> Dropped:
    (found,) = answers.why_not(graph, query, alive=alive)
    assert isinstance(found, Dropped)
    return found


def test_a_removed_symbol_says_who_named_it_and_what_would_keep_it(graph: SavedRun) -> None:
    found = _dropped(graph, "sglang.parts.inner_one", alive=True)
    assert (found.path, found.line, found.rule) == ("python/sglang/parts.py", 34, "unreachable")
    assert [(s.path, s.line, s.source, s.fate) for s in found.named_by] == [
        ("python/sglang/parts.py", 31, "sglang.parts.outer_one", "itself removed (unreachable)")
    ]
    assert [(s.src, s.dst, s.line) for s in found.alive] == [
        ("file:python/sglang/alone.py", "symbol:sglang.parts.outer_one", 1),
        ("symbol:sglang.parts.outer_one", "symbol:sglang.parts.inner_one", 31),
    ]


def test_what_nobody_names_has_nothing_that_would_keep_it(graph: SavedRun) -> None:
    found = _dropped(graph, "sglang.parts.unheard", alive=True)
    assert found.reason == "nothing kept names it"
    assert found.named_by == () and found.alive == ()


def test_what_folding_removed_names_its_rule(graph: SavedRun) -> None:
    # The rounds of folding go before the search: they found that only a dead branch named it.
    found = _dropped(graph, "Engine.only_hip", alive=True)
    assert found.rule != "unreachable"
    assert found.line == 8
    # With the dead branch, not with its own lines.
    (site,) = found.named_by
    assert (site.path, site.line, site.source) == ("python/sglang/launch_server.py", 9, "sglang.launch_server.main")
    assert site.fate == "folded away by fact-hip: `is_hip()` is false"
    (step,) = found.alive
    assert (step.src, step.dst) == ("symbol:sglang.launch_server.main", f"symbol:{found.symbol}")


def test_what_was_assigned_and_is_gone_is_answered(graph: SavedRun) -> None:
    found = _dropped(graph, "sglang.lines._hip", alive=True)
    assert (found.line, found.rule) == (3, "fact-hip")
    assert [(site.path, site.line) for site in found.named_by] == [("python/sglang/lines.py", 4)]
    with pytest.raises(InputError, match="is not in the generated tree"):
        answers.why(graph, "sglang.lines._hip")
    # It stands in a text.
    with pytest.raises(InputError, match="no file named"):
        answers.why_not(graph, "sglang.lines.FAKE")


@pytest.mark.parametrize("line", [8, 10, 15, 16, 23])
def test_a_line_that_stays_is_kept(graph: SavedRun, line: int) -> None:
    assert answers.why(graph, f"lines.py:{line}")
    with pytest.raises(InputError, match="is kept"):
        answers.why_not(graph, f"lines.py:{line}")


@pytest.mark.parametrize(
    ("line", "at", "text"),
    [
        (3, 3, "`_hip = is_hip()` is removed"),
        (4, 4, "`_hip` is false"),
        (6, 4, "`_hip` is false"),
        (7, 4, "`_hip` is false"),
        (17, 15, "`not is_hip()` is true"),
        (19, 15, "`not is_hip()` is true"),
    ],
)
def test_a_line_that_went_has_what_was_decided_there(graph: SavedRun, line: int, at: int, text: str) -> None:
    found = _dropped(graph, f"sglang/lines.py:{line}")
    assert (found.path, found.line, found.rule) == ("python/sglang/lines.py", line, "fact-hip")
    assert found.reason == f"{text} (line {at})"
    with pytest.raises(InputError, match="is not in the generated tree"):
        answers.why(graph, f"sglang/lines.py:{line}")


@pytest.mark.parametrize("line", [26, 27])
def test_what_only_a_program_runs_says_that_no_root_does(graph: SavedRun, line: int) -> None:
    found = _dropped(graph, f"sglang/lines.py:{line}")
    assert (found.line, found.rule) == (26, "unreachable")
    assert found.reason == "no root runs the module as a program; a named error stands in its place"


def test_a_line_of_no_statement_is_said(graph: SavedRun) -> None:
    for ask in (answers.why, answers.why_not):
        with pytest.raises(InputError, match=r"line 2 of sglang/lines\.py belongs to no statement"):
            ask(graph, "sglang/lines.py:2")


def test_a_line_of_a_removed_file_is_answered_by_the_file(graph: SavedRun) -> None:
    (found,) = answers.why_not(graph, "sglang/gone.py:4")
    assert not isinstance(found, Dropped)
    assert (found.path, found.rule) == ("python/sglang/gone.py", "remove-gone")


def test_a_symbol_of_a_removed_file_is_answered_by_its_file(graph: SavedRun) -> None:
    (found,) = answers.why_not(graph, "sglang.gone.Kernel")
    assert not isinstance(found, Dropped)
    assert (found.path, found.rule) == ("python/sglang/gone.py", "remove-gone")


@pytest.mark.parametrize(
    "query", ["sglang.parts.inner_one", "sglang.parts.lost", "Engine.forgotten", "sglang.gone.Kernel"]
)
def test_why_of_what_is_removed_points_at_why_not(graph: SavedRun, query: str) -> None:
    with pytest.raises(InputError, match="is not in the generated tree"):
        answers.why(graph, query)


def test_why_not_of_what_is_kept_points_at_why(graph: SavedRun) -> None:
    with pytest.raises(InputError, match="is kept"):
        answers.why_not(graph, "sglang.parts.start")


def test_a_class_in_a_class_is_answered_by_that_class(graph: SavedRun) -> None:
    for query in ("sglang.parts.Holder.State", "State", "sglang.parts.Holder.State.size"):
        assert [chain.target for chain in answers.why(graph, query)] == ["symbol:sglang.parts.Holder"]
        with pytest.raises(InputError, match="is kept"):
            answers.why_not(graph, query)
    assert _dropped(graph, "sglang.parts.Unheld.State2").symbol == "sglang.parts.Unheld"


def test_nonsense_is_refused(graph: SavedRun) -> None:
    with pytest.raises(InputError, match="nothing kept is named"):
        answers.why(graph, "sglang.parts.nonsense")
    with pytest.raises(InputError, match="no file named"):
        answers.why_not(graph, "sglang.parts.nonsense")


def test_without_a_search_answers_are_of_files(graph: SavedRun, tmp_path: Path) -> None:
    other = tmp_path / "graph.json"
    other.write_bytes(graph.graph.read_bytes())
    for text in (None, json.dumps(NO_SYMBOLS[0])):
        if text is not None:
            other.with_name("symbols.json").write_text(text)
        (chain,) = answers.why(SavedRun(other), "start")
        assert chain.target == "module:sglang.parts"


def test_a_damaged_search_is_refused(graph: SavedRun, tmp_path: Path) -> None:
    other = tmp_path / "graph.json"
    other.write_bytes(graph.graph.read_bytes())
    for text in ("{", "[]"):
        other.with_name("symbols.json").write_text(text)
        with pytest.raises(InputError, match="search"):
            answers.why(SavedRun(other), "Engine._inner")


def test_an_import_leads_to_its_place_and_what_became_of_it(graph: SavedRun) -> None:
    symbols = graph.symbols
    assert symbols is not None

    def asked(name: str) -> list[tuple[int, str, bool | None]]:
        return [
            (one.line, one.target, None if one.unit is None else symbols.is_live(one.unit))
            for one in symbols.imported(name)
        ]

    assert asked("sglang.branches.taken") == asked("branches.taken") == [(2, "sglang.names.taken", True)]
    assert asked("branches.unasked.size") == [(2, "sglang.names.unasked.size", False)]
    assert asked("branches.other") == [(3, "sglang.names.left", False)]
    assert asked("branches.by_star") == [(4, "sglang.stars.by_star", True)]
    assert asked("branches.both") == [(7, "sglang.names.both", None), (9, "sglang.plain.both", True)]
    # What the statement around it decides for all that it binds.
    assert asked("branches.one") == [(12, "elsewhere.one", True)]
    assert asked("parts.Engine") == asked("Engine.run") == asked("taken") == []
    assert [chain.target for chain in answers.why(graph, "sglang.branches.inside")] == [
        "symbol:sglang.branches.inside,one"
    ]
