"""`why` and `why-not` for definitions, members and statements, from a saved search."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.pipeline import Run, analyse
from shrinker.program import answers
from shrinker.program.answers import SavedRun
from shrinker.program.saved import graph_data
from shrinker.program.ways import cost_of
from shrinker.values.errors import InputError
from shrinker.values.graph import Removed
from tests.fold.programs import make_tree
from tests.program.symbols.support import PLATFORM, small_rules
from tests.small import Silent, read_archive

FILES = read_archive(Path(__file__).with_name("asked.txtar"))


def saved_run(folder: Path) -> SavedRun:
    """What `why` and `why-not` read of a run, written into the folder."""
    decided = analyse(
        Run(make_tree(folder / "up", FILES), small_rules(folder, PLATFORM), 1, Silent())
    )
    graph = graph_data(decided.graph, decided.folded)
    found = {"graph": graph, "symbols": decided.symbols, "symbol_edges": decided.symbol_edges}
    for name, data in found.items():
        (folder / f"{name}.json").write_text(json.dumps(data))
    return SavedRun(folder / "graph.json")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    return saved_run(tmp_path_factory.mktemp("why"))


def _steps(graph: SavedRun, query: str) -> list[str]:
    return [
        f"{s.kind} {s.dst.removeprefix('symbol:')} {s.line}"
        for s in answers.why(graph, query)[0].steps
    ]


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
        return [
            step.rsplit(" ", 1)[0].replace("sglang.shared.", "") for step in _steps(graph, query)
        ][3:]

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
    assert (
        cost_of("by name", "name:decode", 1)
        > cost_of("by name", "name:prefill", 1)
        > cost_of("name", "", 1)
    )


def test_all_gives_a_chain_for_each_place(graph: SavedRun) -> None:
    shortest, every = answers.why(graph, "start"), answers.why(graph, "start", every=True)
    assert len(shortest) == 1
    assert len(every) > 1
    assert len({chain.steps for chain in every}) == len(every)
    assert every[0].steps[0].src.startswith("root:")


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("python/sglang/parts.py:15", "symbol:sglang.parts.15"),
        ("sglang.parts", "module:sglang.parts"),
        ("sglang.parts.Holder.State", "symbol:sglang.parts.Holder"),
        ("State", "symbol:sglang.parts.Holder"),
        ("sglang.parts.Holder.State.size", "symbol:sglang.parts.Holder"),
    ],
    ids=["a line", "a module", "a class in a class", "by its name", "what is in it"],
)
def test_a_chain_ends_at_what_holds_what_was_asked_for(
    graph: SavedRun, query: str, target: str
) -> None:
    (chain,) = answers.why(graph, query)
    assert chain.target == target
    with pytest.raises(InputError, match="is kept"):
        answers.why_not(graph, query)


def _dropped(graph: SavedRun, query: str) -> Removed:
    (found,) = answers.why_not(graph, query)
    assert found.symbol
    return found


def test_a_removed_symbol_says_who_named_it_and_what_would_keep_it(graph: SavedRun) -> None:
    found = _dropped(graph, "sglang.parts.inner_one")
    assert (found.path, found.line, found.rule) == ("python/sglang/parts.py", 13, "unreachable")
    assert [(s.path, s.line, s.source, s.fate) for s in found.named_by] == [
        ("python/sglang/parts.py", 12, "sglang.parts.outer_one", "itself removed (unreachable)")
    ]
    assert [(s.src, s.dst, s.line) for s in found.alive] == [
        ("file:python/sglang/alone.py", "symbol:sglang.parts.outer_one", 1),
        ("symbol:sglang.parts.outer_one", "symbol:sglang.parts.inner_one", 12),
    ]


def test_what_nobody_names_has_nothing_that_would_keep_it(graph: SavedRun) -> None:
    found = _dropped(graph, "sglang.parts.unheard")
    assert found.reason == "nothing kept names it"
    assert found.named_by == () and found.alive == ()


def test_what_folding_removed_names_its_rule(graph: SavedRun) -> None:
    # Only a dead branch named it.
    found = _dropped(graph, "Engine.only_hip")
    assert (found.rule, found.line) == ("unreachable", 5)
    # With the dead branch, not with its own lines.
    (site,) = found.named_by
    assert (site.path, site.line, site.source) == (
        "python/sglang/launch_server.py",
        9,
        "sglang.launch_server.main",
    )
    assert site.fate == "folded away by fact-hip: `is_hip()` is false (line 8)"
    (step,) = found.alive
    assert (step.src, step.dst) == ("symbol:sglang.launch_server.main", f"symbol:{found.symbol}")


def test_a_member_of_a_class_that_goes_is_named_by_what_named_the_class(graph: SavedRun) -> None:
    # The dead branch looks the same name up, of an object of another class.
    found = _dropped(graph, "Unheld.only_hip")
    assert found.reason == "its class goes: nothing kept names sglang.parts.Unheld"
    assert (found.symbol, found.named_by, found.alive) == ("sglang.parts.Unheld.only_hip", (), ())
    # One that folding removed, too.
    gone = _dropped(graph, "Twin.forgotten")
    assert (gone.rule, gone.line, gone.named_by, gone.alive) == ("fact-hip", 8, (), ())


def test_what_was_assigned_and_is_gone_is_answered(graph: SavedRun) -> None:
    found = _dropped(graph, "sglang.lines._hip")
    assert (found.line, found.rule) == (3, "fact-hip")
    assert [(site.path, site.line) for site in found.named_by] == [("python/sglang/lines.py", 4)]


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
def test_a_line_that_went_has_what_was_decided_there(
    graph: SavedRun, line: int, at: int, text: str
) -> None:
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


@pytest.mark.parametrize("query", ["sglang/gone.py:4", "sglang.gone.Kernel"])
def test_what_a_removed_file_held_is_answered_by_the_file(graph: SavedRun, query: str) -> None:
    (found,) = answers.why_not(graph, query)
    assert (found.symbol, found.path, found.rule) == ("", "python/sglang/gone.py", "remove-gone")


GONE, NO_FILE = "is not in the generated tree", "neither the tree nor upstream has"


@pytest.mark.parametrize(
    ("ask", "query", "said"),
    [
        (answers.why, "sglang.parts.inner_one", GONE),
        (answers.why, "sglang.parts.lost", GONE),
        (answers.why, "Engine.forgotten", GONE),
        (answers.why, "sglang.gone.Kernel", GONE),
        (answers.why, "sglang.lines._hip", GONE),
        (answers.why_not, "sglang.parts.start", "is kept"),
        # It stands in a text.
        (answers.why_not, "sglang.lines.FAKE", NO_FILE),
        (answers.why_not, "sglang.parts.nonsense", NO_FILE),
        (answers.why, "sglang.parts.nonsense", NO_FILE),
        (answers.why, "sglang/lines.py:2", r"line 2 of sglang/lines\.py belongs to no statement"),
        (
            answers.why_not,
            "sglang/lines.py:2",
            r"line 2 of sglang/lines\.py belongs to no statement",
        ),
    ],
)
def test_what_has_no_such_answer(
    graph: SavedRun, ask: Callable[..., object], query: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        ask(graph, query)


def test_a_removed_class_in_a_class_is_answered_by_that_class(graph: SavedRun) -> None:
    assert _dropped(graph, "sglang.parts.Unheld.State2").symbol == "sglang.parts.Unheld"


def test_without_a_search_answers_are_of_files(graph: SavedRun, tmp_path: Path) -> None:
    (chain,) = answers.why(_with_search(graph, tmp_path, None), "start")
    assert chain.target == "module:sglang.parts"


@pytest.mark.parametrize("saved", ["{", "[]"])
def test_a_damaged_search_is_refused(graph: SavedRun, tmp_path: Path, saved: str) -> None:
    with pytest.raises(InputError, match="search"):
        answers.why(_with_search(graph, tmp_path, saved), "Engine._inner")


def _with_search(graph: SavedRun, folder: Path, saved: str | None) -> SavedRun:
    shutil.copy(graph.graph, folder / "graph.json")
    if saved is not None:
        (folder / "symbols.json").write_text(saved)
    return SavedRun(folder / "graph.json")


def test_an_import_leads_to_its_place_and_what_became_of_it(graph: SavedRun) -> None:
    symbols = graph.symbols
    assert symbols is not None

    def asked(name: str) -> list[tuple[int, str, bool | None]]:
        return [
            (one.line, one.target, None if one.unit is None else symbols.units[one.unit].live)
            for one in symbols.imported(name)
        ]

    assert (
        asked("sglang.branches.taken")
        == asked("branches.taken")
        == [(2, "sglang.names.taken", True)]
    )
    assert asked("branches.unasked.size") == [(2, "sglang.names.unasked.size", False)]
    assert asked("branches.other") == [(3, "sglang.names.left", False)]
    assert asked("branches.by_star") == [(4, "sglang.stars.by_star", True)]
    assert asked("branches.both") == [
        (7, "sglang.names.both", None),
        (9, "sglang.plain.both", True),
    ]
    # What the statement around it decides for all that it binds.
    assert asked("branches.one") == [(12, "elsewhere.one", True)]
    assert asked("parts.Engine") == asked("Engine.run") == asked("taken") == []
    assert [chain.target for chain in answers.why(graph, "sglang.branches.inside")] == [
        "symbol:sglang.branches.inside,one"
    ]
