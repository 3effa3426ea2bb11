"""What the command line and the server of a generated tree have otherwise than upstream's, and why."""

import json
from pathlib import Path
from typing import Any

import pytest

from shrinker.program.interface.compare import compare_interfaces, read_offered
from shrinker.program.interface.endpoints import read_endpoints
from shrinker.program.interface.flags import read_flags
from shrinker.program.interface.syntax import Syntax
from shrinker.ruleset import Ruleset
from shrinker.values.graph import Graph
from shrinker.values.interface import UNEXPLAINED
from shrinker.values.upstream import modules_of
from tests.cli.small import RULES as SMALL
from tests.cli.small import World, small_world
from tests.program.small_tree import write_tree
from tests.small import rule

FILES = {
    "LICENSE": "Apache License\n",
    "python/sglang/__init__.py": "from sglang.srt import server\nfrom sglang.srt.args import main\n",
    "python/sglang/srt/__init__.py": "",
    "python/sglang/srt/parsers.py": """from sglang.srt.npu import NpuParser

class Plain: pass

class Parsers:
    table = {"plain": Plain, "npu": NpuParser}
""",
    "python/sglang/srt/npu.py": "class NpuParser:\n    pass\n\n\ndef add(parser):\n    parser.add_argument('--cards')\n",
    "python/sglang/srt/args.py": """import argparse
from dataclasses import dataclass

from sglang.srt.fields import A, Arg, add_cli_args_of
from sglang.srt.parsers import Parsers
from sglang.srt.utils import is_npu

KINDS = ["one", "two"]

@dataclass
class Args:
    kind_of: A[str, Arg(help="Which kind.", choices=KINDS, cli_name="--kind", aliases=["--sort"])] = "one"
    backend: A[str, "Who computes."] = "fancy"
    hidden: A[int, Arg(no_cli=True)] = 1

    @staticmethod
    def add_cli_args(parser):
        add_cli_args_of(parser, Args)
        names = list(Parsers.table.keys())
        parser.add_argument("--parser", choices=["auto"] + names, default=None, help=f"One of {names}.")
        if is_npu():
            parser.add_argument("--npu-cards", type=int, default=8)
        parser.add_argument("--verbose", action="store_true")

def check(args):
    print(args.backend, args.kind_of, args.hidden)

def main():
    parser = argparse.ArgumentParser()
    Args.add_cli_args(parser)
    print(parser.parse_args())
    check(Args())
""",
    "python/sglang/srt/fields.py": """from typing import Annotated as A

class Arg:
    def __init__(self, help="", choices=None, aliases=None, no_cli=False):
        self.all = (help, choices, aliases, no_cli)

def add_cli_args_of(parser, cls):
    print(parser, cls.__annotations__, Arg().all)
""",
    "python/sglang/srt/utils.py": "import torch\n\n\ndef is_npu():\n    return hasattr(torch, 'npu')\n",
    "python/sglang/srt/more.py": """from fastapi import APIRouter

router = APIRouter(prefix="/v2")

@router.get("/loads")
async def loads():
    return 1
""",
    "python/sglang/srt/server.py": """import os
from contextlib import asynccontextmanager

from fastapi import FastAPI

from sglang.srt.more import router as loads_router

@asynccontextmanager
async def lifespan(application):
    application.ready = True
    yield

app = FastAPI(lifespan=lifespan)
app.include_router(loads_router, prefix="/api")
root_route = os.environ.get("ROOT_ROUTE")

@app.get("/health")
@app.api_route("/ready", methods=["GET", "POST"])
async def health():
    return 1

@app.post(os.environ.get("OLD_ROUTE", "/old/{item}"))
async def old(item):
    return item

if root_route is not None:

    @app.get(root_route)
    async def root():
        return 1
""",
}
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
            "reject", "refuse-kinds", **REFUSAL, function="sglang.srt.args.check", attribute="kind_of", values=["two"]
        ),
        rule(
            *("reject", "refuse-later"),
            **REFUSAL,
            function="sglang.srt.args.check_later",
            attribute="later",
            set=True,
            optional=True,
        ),
        rule("endpoint_stub", "answer", function="sglang.srt.server.lifespan", argument="application"),
    )
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = small_world(tmp_path_factory.mktemp("interface"), FILES, SMALL | {"world.toml": RULES})
    done = world.shrink()
    assert done.code == 0, done.err
    return world


@pytest.fixture(scope="module")
def report(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((world.reports / "interface.json").read_text())
    return found


def rows(differences: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [tuple(d[key] for key in ("where", "subject", "kind", "before", "after", "rule")) for d in differences]


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
        ("sglang.srt.server.old", "POST /old/{item} or what OLD_ROUTE names", "removed", "", "", "remove-old"),
        ("sglang.srt.server.root", "GET (no default) or what ROOT_ROUTE names", "removed", "", "", "remove-old"),
    ]


def test_the_page_says_the_same(world: World) -> None:
    page = (world.reports / "interface.md").read_text()
    row = "| `sglang.srt.args.Args` | `--backend` | default changed | `'fancy'` | `'plain'` | `plain-backend` |"
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
        ("args.py", '        parser.add_argument("--verbose", action="store_true")\n', "", "--verbose"),
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
    sources = {name.removeprefix("python/sglang/"): text for name, text in FILES.items() if name.startswith("python")}
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
    assert finding.check == "interface" and subject in finding.message and finding.path == f"python/sglang/srt/{path}"


def test_strict_mode_refuses_what_is_unexplained(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shrinker.program.interface.compare.rule_of", lambda *_: "")
    monkeypatch.setattr("shrinker.program.interface.compare.around", lambda *_: None)
    done = world.shrink("--strict", "--no-cache")
    assert done.code != 0
    assert "[interface] sglang.srt.args.Args: --npu-cards removed, and no rule says why" in done.err


def test_what_is_read_of_flags_and_endpoints(tmp_path: Path) -> None:
    texts = {name.removeprefix("python/").removesuffix(".py").replace("/", "."): text for name, text in FILES.items()}
    syntax = Syntax({name: name for name in texts}, lambda name: texts[name].encode())
    flags = {flag.names: flag for flag in read_flags(syntax, sorted(texts))}
    others = {("--backend",), ("--parser",), ("--npu-cards",), ("--verbose",), ("--cards",)}
    assert {*flags} == {("--kind", "--sort"), *others}
    choices = flags["--parser",].choices
    assert choices and [choice.text for choice in choices] == ["'auto'", "'plain'", "'npu'"]
    assert dict(flags["--kind", "--sort"].parts)["default"] == "'one'"
    endpoints = {endpoint.names for endpoint in read_endpoints(syntax, sorted(texts))}
    assert {("GET", "/loads", ""), ("POST", "/ready", "")} <= endpoints
