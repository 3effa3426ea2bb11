"""What the levels compare by themselves: help texts, OpenAPI documents, what two runs called; first
what is no difference.
"""

from pathlib import Path
from typing import Any

import pytest

from equivalence.levels.listed import (
    compare_documents,
    compare_help,
    options,
    removed_endpoints,
    removed_sockets,
)
from equivalence.levels.result import Ledger
from equivalence.levels.server import compare_answers, compare_choices, compare_removed
from equivalence.serving.record import NO_TIME, Answer, Answers
from tests.small import read_archive

HELP = read_archive(Path(__file__).with_name("texts.txtar"))["help.txt"]


def rows(**row: Any) -> list[dict[str, Any]]:
    return [{"before": "", "after": "", **row}]


def test_entries_are_found_by_their_longest_name() -> None:
    found = options(HELP)
    assert list(found) == ["(text)", "--help", "--backend", "--size", "--only-there"]
    assert found["--size"] == "--size SIZE How large (default: 4)."
    assert "more options:" in found["(text)"]


WITHOUT_SWITCH = HELP.replace("  --only-there          A switch.\n", "")
ONE_CHOICE = HELP.replace("{a,b,c}", "{a}").replace(", 'b', 'c'", "")
LAST_CHOICE = HELP.replace("{a,b,c}", "{c}").replace("'a', 'b', ", "")
NO_B = rows(subject="--backend", kind="choice removed", before="'b'")


@pytest.mark.parametrize(
    ("after", "listed", "refused", "found"),
    [
        (HELP, [], [], []),
        (HELP.replace("                        Which", "      Which"), [], [], []),
        (WITHOUT_SWITCH, rows(subject="--only-there", kind="removed"), [], []),
        (HELP.replace("{a,b,c}", "{a,c}").replace(" 'b',", ""), NO_B, [], []),
        (ONE_CHOICE, [], [{"subject": "--backend", "values": ["b", "c"], "only": []}], []),
        (LAST_CHOICE, [], [{"subject": "--backend", "values": ["a", "b"], "only": []}], []),
        (ONE_CHOICE, [], [{"subject": "--backend", "values": [], "only": ["a"]}], []),
        (
            HELP.replace("4", "8"),
            rows(subject="--size", kind="default changed", before="4", after="8"),
            [],
            [],
        ),
        (WITHOUT_SWITCH, [], [], ["--only-there"]),
        (HELP + "  --new                 A switch.\n", [], [], ["--new"]),
        (HELP.replace("{a,b,c}", "{a,c}"), [], [], ["--backend"]),
        (HELP.replace("{a,b,c}", "{a}"), NO_B, [], ["--backend"]),
        (
            HELP.replace("4", "8"),
            rows(subject="--size", kind="default changed", before="4", after="9"),
            [],
            ["--size"],
        ),
        (HELP.replace("Serve", "Serves").replace("more options", "others"), [], [], ["(text)"]),
    ],
)
def test_differences_of_help_that_are_not_listed_are_found(
    after: str, listed: list[Any], refused: list[Any], found: list[str]
) -> None:
    assert [name for name, _ in compare_help(HELP, after, listed, refused)] == found


def document(**paths: Any) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "paths": {f"/{name}": operations for name, operations in paths.items()},
        "components": {"schemas": {"Used": {"type": "object"}, "Alone": {"type": "string"}}},
    }


def operation(schema: str) -> dict[str, Any]:
    return {"requestBody": {"$ref": f"#/components/schemas/{schema}"}}


def test_a_listed_endpoint_goes_with_what_only_it_uses() -> None:
    before = document(kept={"get": operation("Used")}, gone={"post": operation("Alone")})
    after = document(kept={"get": operation("Used")})
    del after["components"]["schemas"]["Alone"]
    for subject in ("POST /gone", "POST /gone or what ROUTE names"):
        assert list(compare_documents(before, after, rows(subject=subject, kind="removed"))) == []
    assert [place for place, _ in compare_documents(before, after, [])] == [
        "/components/schemas/Alone",
        "/paths//gone",
    ]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d["paths"]["/kept"]["get"].update(summary="x"), "/paths//kept/get/summary"),
        (
            lambda d: d["components"]["schemas"]["Used"].update(type="array"),
            "/components/schemas/Used/type",
        ),
        (lambda d: d["paths"].update({"/new": {"get": {}}}), "/paths//new"),
    ],
)
def test_a_changed_document_is_found(change: Any, place: str) -> None:
    before, after = (document(kept={"get": operation("Used")}) for _ in range(2))
    assert list(compare_documents(before, after, [])) == []
    change(after)
    assert [where for where, _ in compare_documents(before, after, [])] == [place]


def test_the_endpoints_that_can_be_asked_for() -> None:
    listed = [
        *rows(subject="POST /v1/responses", kind="removed"),
        *rows(subject="GET /v1/responses/{response_id}", kind="removed"),
        *rows(subject="POST /api/chat or what CHAT_ROUTE names", kind="removed"),
        *rows(subject="GET (no default) or what ROOT_ROUTE names", kind="removed"),
        *rows(subject="(all)", kind="removed"),
        *rows(subject="WEBSOCKET /v1/talk", kind="removed"),
        *rows(subject="POST /changed", kind="schema changed"),
    ]
    assert removed_sockets(listed) == {"/v1/talk"}
    assert removed_endpoints(listed) == {
        "POST /v1/responses": ("POST", "/v1/responses"),
        "GET /v1/responses/{response_id}": ("GET", "/v1/responses/{response_id}"),
        "POST /api/chat": ("POST", "/api/chat"),
    }


@pytest.mark.parametrize(
    ("answers", "findings"),
    [
        ({}, 0),
        ({"POST /gone": [404, '{"feature": "gone", "rule": "remove-gone"}']}, 0),
        ({"POST /gone": [404, '{"detail": "Not Found"}'], "GET /left": [200, ""]}, 2),
        ({"raised": "InvalidURL", "text": "URL can't contain control characters"}, 1),
    ],
)
def test_removed_endpoints_name_their_rule(answers: dict[str, Any], findings: int) -> None:
    ledger = Ledger("x")
    compare_removed(answers, ledger)
    assert len(ledger.findings) == findings


def called(
    *kernels: str, stubs: tuple[str, ...] = (), compiled: tuple[str, ...] = ()
) -> dict[str, frozenset[str]]:
    return {
        "kernel": frozenset(kernels),
        "stub": frozenset(stubs),
        "loaded": frozenset(),
        "compiled": frozenset(compiled),
    }


def test_calls() -> None:
    ledger = Ledger("x")
    ledger.compare_calls(called("a", "b"), called("a", "b"))
    ledger.compare_calls(called(compiled=("c",)), called(compiled=("c",)))
    assert ledger.findings == [] and ledger.checks == {"kernels": 2, "compiled modules": 1}
    ledger.compare_calls(called("a", "b"), called("a"), "run")
    ledger.compare_calls(called(stubs=("p.q",)), called(stubs=("p.q",)))
    assert [f.message for f in ledger.findings] == [
        "run: kernel b: only in upstream",
        "p.q was called in both trees, and has no reference",
    ]


def test_compiled_modules_of_one_tree_only_are_found() -> None:
    ledger = Ledger("x")
    ledger.compare_calls(called(compiled=("core",)), called(compiled=("other",)))
    assert [(f.check, f.message) for f in ledger.findings] == [
        ("compiled modules", "compiled core: only in upstream"),
        ("compiled modules", "compiled other: only in the generated tree"),
    ]


def test_logs_that_name_other_choices_are_found() -> None:
    ledger, moment = Ledger("x"), "[2026-01-02 03:04:05] "
    before = f"{moment}Init Unified Radix Cache. Tree Core: Rust\n{moment}Prefill batch, backend\n"
    compare_choices(before, before.replace("03:04:05", "09:09:09"), ledger, "run")
    compare_choices("", f"{moment}Nothing is said here of any.\n", ledger, "run")
    assert ledger.findings == [] and ledger.checks["choices"] == 1
    compare_choices(before, f"{moment}Using the Python TreeCore: it has no other\n", ledger, "run")
    assert [f.message for f in ledger.findings] == [
        "run: only the log of upstream says: Init Unified Radix Cache. Tree Core: Rust",
        "run: only the log of generated says: Using the Python TreeCore: it has no other",
    ]


def test_a_required_check_that_looked_at_nothing_fails() -> None:
    ledger = Ledger("x")
    ledger.checks["one"] += 3
    assert ledger.result(["one"]).passed
    result = ledger.result(["one", "two"])
    assert not result.passed
    assert [f.check for f in result.evidence.findings] == ["two"]


def _answers(**errors: str) -> Answers:
    names = ("first", "second", "third")
    return {n: Answer(0, "", None, errors[n]) if n in errors else Answer(200, "", n) for n in names}


def _compared(upstream: Answers, generated: Answers) -> Ledger:
    ledger = Ledger("server")
    compare_answers(upstream, generated, ledger, "script")
    return ledger


def test_equal_answers_are_no_finding() -> None:
    ledger = _compared(_answers(), _answers())
    assert ledger.findings == [] and ledger.checks == {"requests": 3}


def test_a_server_that_was_too_slow_is_said_once() -> None:
    ledger = _compared(_answers(second=NO_TIME, third=NO_TIME), _answers(third=NO_TIME))
    upstream, generated = [finding.message for finding in ledger.findings]
    assert upstream.startswith(
        "script: upstream: no time was left for 2 request(s), from second on"
    )
    assert generated.startswith(
        "script: generated: no time was left for 1 request(s), from third on"
    )
    assert "--timeout-factor" in upstream and ledger.checks == {"requests": 1}


def test_a_request_that_only_one_server_answers_is_found() -> None:
    found = _compared(_answers(), _answers(first="TimeoutError: timed out")).findings
    assert found and all("first" in finding.message for finding in found)
    found = _compared(_answers(first="timed out"), _answers(first="timed out")).findings
    assert [finding.message for finding in found] == ["script: first: no answer from either server"]
