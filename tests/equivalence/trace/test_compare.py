"""What an executed line needs to be accounted for, on a small tree: first what may be missing, then
what may not.
"""

from pathlib import Path

import pytest

from equivalence.trace import reasons
from equivalence.trace.compare import Comparison, Stated, compare
from shrinker.check.trees import RuleIndex
from shrinker.ruleset.load import load_rules
from tests.small import read_archive, rule, write

TEXTS = read_archive(Path(__file__).with_name("compared.txtar"))
PLATFORM, SERVER, SHRUNK, SMALL_PLATFORM, STATE, BEGUN = TEXTS.values()
RUNNING = {
    "platform.py": frozenset({2, 10, 12, 13, 14}),
    "server.py": frozenset({9, 10, 11, 14, 16, 17, 18, 19, 20, 22, 23, 26, 27}),
}
IMPORTING = {
    "platform.py": frozenset({1, 2, 5, 6, 9, 17}),
    "server.py": frozenset({1, 3, 4, 7, 8, 13}),
}


def trees(folder: Path, upstream: dict[str, str], generated: dict[str, str]) -> tuple[Path, Path]:
    return write(folder / "upstream", upstream), write(folder / "generated", generated)


def compared(
    folder: Path, server: str = SHRUNK, platform: str | None = SMALL_PLATFORM, **stated
) -> Comparison:
    left = {"server.py": server} | ({} if platform is None else {"platform.py": platform})
    both = trees(folder, {"server.py": SERVER, "platform.py": PLATFORM}, left)
    return compare(RUNNING, IMPORTING, *both, Stated(**stated))


def missing(found: Comparison) -> list[tuple[str, int]]:
    return [(line.path.removeprefix("python/sglang/"), line.line) for line in found.missing]


def test_all_that_was_decided_is_accounted_for(tmp_path: Path) -> None:
    found = compared(tmp_path)
    assert found.missing == []
    assert sum(found.lines.values()) == len(
        RUNNING["platform.py"] | IMPORTING["platform.py"]
    ) + len(RUNNING["server.py"] | IMPORTING["server.py"])
    # `elif request` became `if request`, the conditional expression a text.
    assert found.lines[reasons.CONDITION] == 2
    assert found.lines[reasons.IMPORT] == 1
    assert found.lines[reasons.ASSIGNMENT] == 1
    assert found.lines[reasons.CALL] == 1
    assert found.lines[reasons.FUNCTION] == 5
    assert found.lines["found simplified"] == 3


@pytest.mark.parametrize(
    ("gone", "line"),
    [
        ("        self.size = size\n", 9),
        ("        self.queue = []\n", 11),
        ("            self.queue.append(request)\n", 23),
        ("        self.queue.append(kind if request else fallback)\n", 26),
        ("        return len(self.queue)\n", 27),
        ('        kind = "cuda"\n', 17),
        ("        fallback = None\n", 18),
        ('tell("loaded")\n', 4),
    ],
)
def test_a_line_that_was_executed_and_is_gone_is_named(
    tmp_path: Path, gone: str, line: int
) -> None:
    assert SHRUNK.count(gone) == 1
    left = SHRUNK.replace(gone, "            pass\n" if gone.startswith(" " * 12) else "")
    found = compared(tmp_path, left)
    # `self.size` has no other reader, and is a finding for its own sake only when something reads
    # it.
    if gone == "        self.size = size\n":
        found = compared(tmp_path, left + "\n    def more(self):\n        return self.size\n")
    assert missing(found) == [("server.py", line)]


def test_a_function_that_is_gone_has_no_effect(tmp_path: Path) -> None:
    before = compared(tmp_path)
    assert before.missing == []
    more = {"more.py": "def limit_of(server):\n    return server.limit\n"}
    both = trees(
        tmp_path,
        {"platform.py": PLATFORM.replace("    limit = 4\n", "    server.limit = 4\n")},
        more,
    )
    found = compare(RUNNING, IMPORTING, *both)
    assert {*missing(found)} == {
        *(("platform.py", line) for line in (10, 12, 13, 14)),
        ("server.py", 16),
    }


def test_a_function_that_is_still_named_is_not_gone_for_a_reason(tmp_path: Path) -> None:
    left = SHRUNK.replace(
        "        fallback = None\n", "        fallback = None\n        is_npu()\n"
    )
    found = compared(tmp_path, left)
    assert missing(found) == [("platform.py", 2), ("server.py", 14)]


def test_a_definition_of_the_same_name_elsewhere_is_another_function(tmp_path: Path) -> None:
    compared(tmp_path)
    after = tmp_path / "generated"
    (after / "more.py").write_text("def is_npu():\n    return True\n\n\nprint(is_npu())\n")
    (after / "asks.py").write_text("from sglang.more import is_npu\n\nprint(is_npu())\n")
    assert compare(RUNNING, IMPORTING, tmp_path / "upstream", after).missing == []
    (after / "asks.py").write_text("import sglang.more\n\nprint('sglang.platform.is_npu')\n")
    found = compare(RUNNING, IMPORTING, tmp_path / "upstream", after)
    assert ("platform.py", 2) in {*missing(found)}


def test_a_fact_states_what_a_function_gives(tmp_path: Path) -> None:
    found = compared(tmp_path, calls=("sglang.platform.is_npu", "sglang.**.prepare"))
    assert found.lines[reasons.STATED] == 5
    assert found.missing == []


def test_a_module_that_is_gone_only_ran_while_it_was_imported(tmp_path: Path) -> None:
    left = SHRUNK.replace("from sglang.platform import tell\n", "").replace('tell("loaded")\n', "")
    found = compared(tmp_path, left, None)
    assert missing(found) == [("server.py", 4)]
    assert found.lines[reasons.MODULE] == 4
    running = RUNNING | {"platform.py": frozenset({2, 6})}
    both = trees(tmp_path, {}, {})
    again = compare(running, IMPORTING, *both)
    assert ("platform.py", 6) in {*missing(again)}
    removed = compare(running, IMPORTING, *both, Stated(modules=("sglang.platform",)))
    assert removed.lines[reasons.REMOVED] >= 1


WITH_EFFECT = (
    "def limit_of(server):\n    server.start()\n    return server.limit\n\n\ndef f():\n    return "
    "limit_of(f)\n"
)


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        (Stated(), ""),
        (Stated(definitions=("sglang.limits.limit_of",)), reasons.REMOVED),
        (Stated(pure=("sglang.**.limit_of",)), reasons.FUNCTION),
        (Stated(pure=(".limit_of",)), ""),
    ],
)
def test_a_rule_speaks_of_a_function_that_is_gone(
    tmp_path: Path, stated: Stated, kind: str
) -> None:
    ran = {"limits.py": frozenset({2, 3})}
    kept = "def f():\n    return 4\n"
    both = trees(tmp_path, {"limits.py": WITH_EFFECT}, {"limits.py": kept})
    found = compare(ran, {}, *both, stated)
    assert len(found.missing) == (0 if kind else 2) and (not kind or found.lines[kind] == 2)
    # What is still named is missed.
    named = kept + "\n\ndef g():\n    return limit_of(g)\n"
    both = trees(tmp_path / "named", {"limits.py": WITH_EFFECT}, {"limits.py": named})
    assert len(compare(ran, {}, *both, stated).missing) == 2


@pytest.mark.parametrize(
    ("left", "findings"),
    [
        ("", 0),
        ("class Gone: ...\n", 1),
        ("print(Gone)\n", 1),
        ("x = lambda y: y.Gone\n", 1),
    ],
)
def test_what_the_tree_knows_nothing_of_is_not_registered(
    tmp_path: Path, left: str, findings: int
) -> None:
    text = "from sglang.there import Gone, table\ntable.register(Gone.kind, Gone)\n"
    both = trees(
        tmp_path,
        {"files.py": text},
        {"files.py": "from sglang.there import table\n", "more.py": left},
    )
    found = compare({}, {"files.py": frozenset({1, 2})}, *both)
    assert len(found.missing) == findings


def test_a_refused_value_is_not_registered(tmp_path: Path) -> None:
    left = SHRUNK.replace('tell("loaded")\n', "")
    assert compared(tmp_path, left).missing
    found = compared(tmp_path, left, refused=frozenset({"loaded"}))
    assert found.missing == []
    assert found.lines[reasons.REGISTRATION] == 1


RULES = rule(
    *("domain", "backends"),
    names=["sglang.**.backend"],
    registers=["sglang.**.Backends.register"],
    never=["other"],
)


@pytest.mark.parametrize(("name", "findings"), [("other", 0), ("served", 1)])
def test_what_a_rule_says_nothing_asks_for_is_not_registered(
    tmp_path: Path, name: str, findings: int
) -> None:
    (tmp_path / "rules.toml").write_text(RULES)
    index = RuleIndex(load_rules([tmp_path / "rules.toml"]))
    text = "class Backends: ...\n"
    asks = f'{text}Backends.register("{name}", Backends)\n'
    both = trees(tmp_path, {"backends.py": asks}, {"backends.py": text})
    found = compare({}, {"backends.py": frozenset({1, 2})}, *both, Stated(index=index))
    assert len(found.missing) == findings


def test_the_same_line_in_two_branches(tmp_path: Path) -> None:
    """The one that was executed is looked for where it may stand, not where the text is met
    first.
    """
    text, ran = (
        "def f(hip):\n    if hip:\n        g(1)\n    else:\n        g(1)\n    h()\n",
        {"x.py": frozenset({2, 5, 6})},
    )
    both = trees(tmp_path, {"x.py": text}, {"x.py": "def f(hip):\n    g(1)\n    h()\n"})
    assert compare(ran, {}, *both).missing == []
    write(both[1], {"x.py": "def f(hip):\n    h()\n"})
    assert (
        missing(found := compare(ran, {}, *both)) == [("x.py", 5)]
        and "g ( 1 )" in found.missing[0].message
    )


def test_a_call_of_what_does_nothing_any_more(tmp_path: Path) -> None:
    ran = {"x.py": frozenset({2, 3, 7})}
    text = (
        "def track(b):\n    if not b.hybrid():\n        return\n    b.go()\n\ndef f(b):\n    "
        "track(b)\n    h()\n"
    )
    left = 'def track(b):\n    """What."""\n    return\n\ndef f(b):\n    h()\n'
    both = trees(tmp_path, {"x.py": text}, {"x.py": left})
    found = compare(ran, {}, *both)
    assert found.missing == []
    assert found.lines[reasons.CALL] == 1
    # Another function of the name does something: it may be the one that was called.
    write(both[1], {"y.py": "class A:\n    def track(self, b):\n        b.go()\n"})
    found = compare(ran, {}, *both)
    assert missing(found) == [("x.py", 7)]


@pytest.mark.parametrize(
    ("more", "lines"), [("", []), ("        self.more = Rows()\n", [("state.py", 3)])]
)
def test_what_only_a_stated_function_makes_is_stated_with_it(
    tmp_path: Path, more: str, lines: list[tuple[str, int]]
) -> None:
    imported = "from sglang.state import Rows\n" if more else ""
    left = BEGUN.replace("        begin(self)\n", "").partition("\n\n\n")[2]
    both = trees(
        tmp_path, {"state.py": STATE, "server.py": imported + BEGUN + more}, {"server.py": left}
    )
    running = {
        "state.py": frozenset({3, 7}),
        "server.py": frozenset({11, 12, 13} if more else {10, 11}),
    }
    importing = {
        "state.py": frozenset({1, 2, 6}),
        "server.py": frozenset({1, 2, 5, 9, 10} if more else {1, 4, 8, 9}),
    }
    found = compare(running, importing, *both, Stated(calls=("sglang.state.begin",)))
    assert missing(found) == lines
    assert found.lines[reasons.STATED] == (1 if more else 2)
