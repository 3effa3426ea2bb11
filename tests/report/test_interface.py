"""What the command line and the server of a generated tree have otherwise than upstream's,
and why.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from shrinker.program.interface.compare import compare_interfaces
from shrinker.program.interface.offers import read_endpoints, read_flags, read_offered
from shrinker.program.interface.syntax import Syntax
from shrinker.ruleset import Ruleset
from shrinker.values.graph import Graph
from shrinker.values.interface import UNEXPLAINED
from shrinker.values.upstream import modules_of
from tests.cli.small import RULES as SMALL
from tests.cli.small import World, small_world
from tests.program.small_tree import write_tree
from tests.small import read_archive, rule

FILES = read_archive(Path(__file__).with_name("interface.txtar"))
REFUSAL = {"feature": "other kinds", "argument": "args", "instead": "Leave it out."}
RULES = "\n".join(
    (
        SMALL["world.toml"],
        rule(
            *("remove", "remove-old"),
            feature="the old endpoints",
            definitions=["sglang.srt.server.old", "sglang.srt.server.root"],
        ),
        rule("default", "plain-backend", where=["sglang.srt.args.Args"], text="fancy", by="plain"),
        rule(
            "reject",
            "refuse-kinds",
            **REFUSAL,
            function="sglang.srt.args.check",
            attribute="kind_of",
            values=["two"],
        ),
        rule(
            *("reject", "refuse-later"),
            **REFUSAL,
            function="sglang.srt.args.check_later",
            attribute="later",
            set=True,
            optional=True,
        ),
        rule(
            "endpoint_stub", "answer", function="sglang.srt.server.lifespan", argument="application"
        ),
    )
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = small_world(tmp_path_factory.mktemp("interface"), FILES, SMALL | {"world.toml": RULES})
    world.shrink().expect(0)
    return world


@pytest.fixture(scope="module")
def report(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((world.reports / "interface.json").read_text())
    return found


def rows(differences: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        tuple(d[key] for key in ("where", "subject", "kind", "before", "after", "rule"))
        for d in differences
    ]


def test_every_difference_of_flags_has_its_rule(report: dict[str, Any]) -> None:
    args = "sglang.srt.args.Args"
    assert rows(report["flags"]) == [
        (args, "--backend", "default changed", "'fancy'", "'plain'", "plain-backend"),
        (args, "--npu-cards", "removed", "", "", "npu"),
        (args, "--parser", "choice removed", "'npu'", "", "remove-npu"),
        ("sglang.srt.npu.add", "(all)", "removed", "1 flag", "", "remove-npu"),
    ]
    assert report["unexplained"] == 0
    assert [(r["subject"], r["values"]) for r in report["refused"]] == [("--kind", ["two"])]


def test_every_removed_endpoint_has_its_rule(report: dict[str, Any]) -> None:
    assert rows(report["endpoints"]) == [
        (
            "sglang.srt.server.old",
            "POST /old/{item} or what OLD_ROUTE names",
            "removed",
            "",
            "",
            "remove-old",
        ),
        (
            "sglang.srt.server.root",
            "GET (no default) or what ROOT_ROUTE names",
            "removed",
            "",
            "",
            "remove-old",
        ),
    ]


def test_the_page_says_the_same(world: World) -> None:
    page = (world.reports / "interface.md").read_text()
    row = (
        "| `sglang.srt.args.Args` | `--backend` | default changed | `'fancy'` | `'plain'` | "
        "`plain-backend` |"
    )
    assert row in page
    assert "`POST /old/{item} or what OLD_ROUTE names` | removed | `remove-old`" in page


def test_the_generated_server_knows_what_it_no_longer_answers(world: World) -> None:
    text = (world.out / "python/sglang/removed_features.py").read_text()
    row = "Endpoint('sglang.srt.server.lifespan', {}, ('{}',), 'the old endpoints', 'remove-old'),"
    assert row.format("'/old/{item}', 'OLD_ROUTE'", "POST") in text
    assert row.format("'', 'ROOT_ROUTE'", "GET") in text
    assert text.count("    Endpoint(") == 2
    look = 'refuse("sglang.srt.server.lifespan", application)'
    assert look in (world.out / "python/sglang/srt/server.py").read_text()


@pytest.mark.parametrize(
    ("path", "before", "after", "subject"),
    [
        (
            "args.py",
            '        parser.add_argument("--verbose", action="store_true")\n',
            "",
            "--verbose",
        ),
        ("args.py", 'KINDS = ["one", "two"]', 'KINDS = ["one"]', "--kind"),
        ("args.py", 'action="store_true"', 'action="store_false"', "--verbose"),
        ("args.py", "default=None, help", 'default="auto", help', "--parser"),
        ("args.py", 'aliases=["--sort"]', "aliases=[]", "--kind"),
        ("server.py", '@app.get("/health")\n', "", "GET /health"),
        ("server.py", 'methods=["GET", "POST"]', 'methods=["GET"]', "POST /ready"),
    ],
)
def test_what_disappears_without_a_rule_is_unexplained(
    tmp_path: Path, path: str, before: str, after: str, subject: str
) -> None:
    sources = {
        name.removeprefix("python/sglang/"): text
        for name, text in FILES.items()
        if name.startswith("python")
    }
    tree = write_tree(tmp_path / "upstream", sources)
    changed = sources["srt/" + path].replace(before, after)
    assert changed != sources["srt/" + path]
    write_tree(tmp_path / "out", sources | {"srt/" + path: changed})
    graph = Graph((), {file.path: "kept" for file in tree.files}, {}, ())
    written = Syntax(modules_of(graph.kept), lambda name: (tmp_path / "out" / name).read_bytes())
    upstream = Syntax(modules_of(tree.by_path), tree.read)
    found = compare_interfaces(read_offered(upstream), written, Ruleset(), {}, graph)
    [difference] = [*found.flags, *found.endpoints]
    assert (difference.subject, difference.rule) == (subject, UNEXPLAINED)
    [finding] = found.unexplained()
    assert (
        finding.check == "interface"
        and subject in finding.message
        and finding.path == f"python/sglang/srt/{path}"
    )


def test_strict_mode_refuses_what_is_unexplained(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shrinker.program.interface.compare.rule_of", lambda *_: "")
    monkeypatch.setattr("shrinker.program.interface.compare.around", lambda *_: None)
    done = world.shrink("--strict", "--no-cache")
    assert done.code != 0
    assert "[interface] sglang.srt.args.Args: --npu-cards removed, and no rule says why" in done.err


def test_what_is_read_of_flags_and_endpoints(tmp_path: Path) -> None:
    texts = {
        name.removeprefix("python/").removesuffix(".py").replace("/", "."): text
        for name, text in FILES.items()
    }
    syntax = Syntax({name: name for name in texts}, lambda name: texts[name].encode())
    flags = {flag.names: flag for flag in read_flags(syntax, sorted(texts))}
    others = {("--backend",), ("--parser",), ("--npu-cards",), ("--verbose",), ("--cards",)}
    assert {*flags} == {("--kind", "--sort"), *others}
    choices = flags["--parser",].choices
    assert choices and [choice.text for choice in choices] == ["'auto'", "'plain'", "'npu'"]
    assert dict(flags["--kind", "--sort"].parts)["default"] == "'one'"
    endpoints = {endpoint.names for endpoint in read_endpoints(syntax, sorted(texts))}
    assert {("GET", "/loads", ""), ("POST", "/ready", "")} <= endpoints


_MAKER = """
from typing import Annotated as A
class Arg: pass
def add_cli_args_of(parser, cls): pass
"""
_MODEL = "from sglang.maker import A, Arg\nclass Model:\n    "


def flags_of(texts: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Names of the flags that are read of some modules, each with its command line; and what was
    not read.
    """
    texts = {"sglang.maker": _MAKER, **texts}
    offered = read_offered(
        Syntax({name: name for name in texts}, lambda name: texts[name].encode())
    )
    return {name: flag.where for flag in offered.flags for name in flag.names}, [
        f.message for f in offered.unread
    ]


@pytest.mark.parametrize(
    "server",
    [
        "class Args(Model):\n    ",
        "NAMESPACES = [Model]\ncollect(NAMESPACES)\nclass Args:\n    ",
        "NAMESPACES = (Model,)\nArgs = defstruct('Args', NAMESPACES)\nclass Args:\n    ",
    ],
    ids=["a base", "a list of classes", "a tuple of classes, and a name bound twice"],
)
def test_flags_that_other_classes_declare_are_read(server: str) -> None:
    head = "from sglang.model import Model\nfrom sglang.maker import A, Arg, add_cli_args_of\n"
    texts = {
        "sglang.model": (
            f'{_MODEL}model_path: A[str, Arg(help="where", aliases=["--model"])]\n'
            "    hidden: int = 1\n"
        ),
        "sglang.args": (
            f'{head}{server}port: A[int, "its port"] = 1\ndef add(parser):\n'
            "    add_cli_args_of(parser, Args)\n"
        ),
    }
    found, unread = flags_of(texts)
    wanted = dict.fromkeys(("--model-path", "--model"), "sglang.args.Args")
    assert {
        name: where for name, where in found.items() if "model" in name
    } == wanted and not unread


def test_a_switch_that_can_be_taken_back_has_two_names() -> None:
    field = 'fused: A[bool, Arg(help="faster", action=argparse.BooleanOptionalAction)] = True\n'
    texts = {
        "sglang.args": f"{_MODEL}{field}def add(parser):\n    add_cli_args_of(parser, Model)\n"
    }
    assert flags_of(texts) == (dict.fromkeys(("--fused", "--no-fused"), "sglang.args.Model"), [])


def test_declarations_of_which_no_command_line_is_read_are_a_question() -> None:
    texts = {"sglang.model": f'{_MODEL}path: A[str, "where"] = ""\n'}
    found, unread = flags_of(texts)
    assert not found and unread == [
        "1 fields of Model are declared as flags, and no command line was read of it"
    ]
    # Other annotations are nothing to ask about.
    assert flags_of(
        {"sglang.model": 'from typing import Annotated as A\nclass M:\n    p: A[str, "x"] = ""\n'}
    ) == (
        {},
        [],
    )
