"""Fold predicates away with ast-grep; prints a JSON document.

The rules follow its documentation: `fix` of a YAML rule, `has` and `nthChild` to tell the clauses
of an `if`, applied with `scan --update-all`, pass after pass until nothing changes. ast-grep
indents the text that it inserts.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

_PASSES = 20
_CLAUSES = 8
_APPLIED = re.compile(r"Applied (\d+) change")
_TESTS = [
    {"kind": kind, "field": "condition"}
    for kind in ("if_statement", "elif_clause", "while_statement")
]
_OPERATORS = (
    "boolean_operator",
    "not_operator",
    "parenthesized_expression",
    "conditional_expression",
    "if_clause",
    "assert_statement",
)
_CLAUSE = {"any": [{"kind": "elif_clause"}, {"kind": "else_clause"}]}
_AFTER_TRUE = {"kind": "elif_clause", "has": {"field": "condition", "kind": "true"}}


def predicate_rules(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the predicates; a flag only in the files where it is one."""
    found: list[dict[str, Any]] = []
    for literal in (True, False):
        names = [name for name, value in given["calls"].items() if value is literal]
        if names:
            # A whole name stands alone, a last component stands after whatever it is a method of.
            whole = "|".join(re.escape(name) for name in names if "." in name)
            last = "|".join(name for name in names if "." not in name)
            regex = "|".join(filter(None, [whole and f"^({whole})$", last and rf"(^|\.)({last})$"]))
            function = {
                "field": "function",
                "regex": regex,
                "any": _kinds("identifier", "attribute"),
            }
            found.append(_rule(f"call-{literal}", {"kind": "call", "has": function}, str(literal)))
    for number, (name, value) in enumerate(given["dotted"].items()):
        found.append(_rule(f"dotted-{number}", {"kind": "attribute", "pattern": name}, str(value)))
    places: dict[tuple[str, bool], list[str]] = {}
    for path, flags in given["flags"].items():
        for name, value in flags.items():
            places.setdefault((name, value), []).append(path)
    for number, ((name, value), paths) in enumerate(sorted(places.items())):
        # A field is a property of the relation: each such place is a relation of its own.
        inside = [
            {"inside": {"any": _kinds(*_OPERATORS)}},
            *({"inside": place} for place in _TESTS),
        ]
        read = {"kind": "identifier", "regex": f"^{name}$", "any": inside}
        found.append({**_rule(f"flag-{number}", read, str(value)), "files": paths})
    return found


def cleanup_rules() -> list[dict[str, Any]]:
    """Return what becomes of constants."""
    expressions = {
        "not True": "False",
        "not False": "True",
        "None is not None": "False",
        "None is None": "True",
        "(True)": "True",
        "(False)": "False",
        "False and $X": "False",
        "$X and False": "False",
        "True and $X": "$X",
        "$X and True": "$X",
        "True or $X": "True",
        "$X or True": "True",
        "False or $X": "$X",
        "$X or False": "$X",
        "$X if True else $Y": "$X",
        "$X if False else $Y": "$Y",
    }
    found = [
        _rule(f"expression-{n}", {"pattern": p}, fix)
        for n, (p, fix) in enumerate(expressions.items())
    ]
    found.append(_rule("if-true", _all("if_statement", _test("true"), _body("consequence")), "$B"))
    found.append(
        _rule("if-false", {**_all("if_statement", _test("false")), "not": {"has": _CLAUSE}}, "pass")
    )
    alternative = {
        "kind": "else_clause",
        "has": {"field": "body", "kind": "block", "pattern": "$B"},
    }
    only_else = _all("if_statement", _test("false"), {"has": alternative})
    found.append(
        _rule("if-false-else", {**only_else, "not": {"has": {"kind": "elif_clause"}}}, "$B")
    )
    for clauses in range(1, _CLAUSES + 1):
        # The first elif becomes the if; the clauses after it follow as they are.
        first = {
            "all": [
                _clause(1),
                {"kind": "elif_clause"},
                {"has": {"field": "condition", "pattern": "$C"}},
            ],
            "has": {"field": "consequence", "kind": "block", "pattern": "$B"},
        }
        rest = [
            {"has": {"all": [_clause(n), {"pattern": f"$R{n}"}]}} for n in range(2, clauses + 1)
        ]
        rule = _all("if_statement", _test("false"), {"has": first}, *rest)
        fix = "\n".join(["if $C:", "    $B", *(f"$R{n}" for n in range(2, clauses + 1))])
        found.append(
            _rule(f"if-false-elif-{clauses}", {**rule, "not": {"has": _clause(clauses + 1)}}, fix)
        )
    found.append(_rule("elif-false", _all("elif_clause", _test("false")), ""))
    found.append(
        _rule(
            "elif-true", _all("elif_clause", _test("true"), _body("consequence")), "else:\n    $B"
        )
    )
    found.append(
        _rule("after-elif-true", {**_CLAUSE, "follows": {**_AFTER_TRUE, "stopBy": "end"}}, "")
    )
    return found


def main() -> None:
    """Command line: FOLDER PREDICATES.json --tool PATH --threads N."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("predicates", type=Path)
    parser.add_argument("--no-flags", action="store_true", help="the predicates alone")
    parser.add_argument("--tool", default="ast-grep")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    given = json.loads(arguments.predicates.read_text("utf-8"))
    if arguments.no_flags:
        given["flags"] = {}
    start = time.perf_counter()
    folder = arguments.folder
    rules = folder / ".ast-grep-rules"
    rules.mkdir()
    # YAML reads JSON.
    for rule in [*predicate_rules(given), *cleanup_rules()]:
        (rules / f"{rule['id']}.yml").write_text(json.dumps(rule), "utf-8")
    (folder / "sgconfig.yml").write_text(json.dumps({"ruleDirs": [rules.name]}), "utf-8")
    passes, changes = 0, []
    command = [
        arguments.tool,
        "scan",
        "--update-all",
        "--no-ignore",
        "vcs",
        "--threads",
        str(arguments.threads),
    ]
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.py")}
    targets = ["."]
    while targets and passes < _PASSES:
        passes += 1
        done = subprocess.run([*command, *targets], cwd=folder, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr or done.returncode)
        applied = _APPLIED.search(done.stdout + done.stderr)
        changes.append(int(applied[1]) if applied else 0)
        # Only what the last pass wrote can change again.
        before, times = times, {path: path.stat().st_mtime_ns for path in times}
        targets = [str(path.relative_to(folder)) for path in times if times[path] != before[path]]
    print(
        json.dumps({"passes": passes, "changes": changes, "seconds": time.perf_counter() - start})
    )


def _rule(name: str, rule: dict[str, Any], fix: str) -> dict[str, Any]:
    return {"id": name, "language": "python", "rule": rule, "fix": fix}


def _kinds(*kinds: str) -> list[dict[str, Any]]:
    return [{"kind": kind} for kind in kinds]


def _all(kind: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "all": list(rules)}


def _test(kind: str) -> dict[str, Any]:
    return {"has": {"field": "condition", "kind": kind}}


def _body(field: str) -> dict[str, Any]:
    return {"has": {"field": field, "kind": "block", "pattern": "$B"}}


def _clause(number: int) -> dict[str, Any]:
    """Return the clause with this number, counted from 1."""
    return {**_CLAUSE, "nthChild": {"position": number, "ofRule": _CLAUSE}}


if __name__ == "__main__":
    main()
