"""Fold predicates away with Polyglot Piranha; prints a JSON document.

Piranha comes with clean-up rules for Java, Kotlin, Go, Ruby and Swift, none for Python, so those
for Python stand
here: what its Java rules do to constants, written as tree-sitter queries. Piranha replaces a node
    by text and moves no line to another indentation. `--unwrap all` puts every decided block in
    place of its `if` nevertheless; `--unwrap simple` only a block of one simple statement, and
    leaves the other `if`s.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

_PASSES = 20
# By name: it is there only where `make bench` has put it, and has no wheel for every Python.
piranha: Any = import_module("polyglot_piranha")
_CONDITIONS = (
    "(if_statement condition: (identifier) @f {m}) @n",
    "(elif_clause condition: (identifier) @f {m}) @n",
    "(while_statement condition: (identifier) @f {m}) @n",
    # Two queries: of two matches with one node around them Piranha sees the first only.
    "(boolean_operator left: (identifier) @f {m}) @n",
    "(boolean_operator right: (identifier) @f {m}) @n",
    "(not_operator argument: (identifier) @f {m}) @n",
    "(parenthesized_expression (identifier) @f {m}) @n",
    "(conditional_expression (_) . (identifier) @f {m}) @n",
    "(if_clause (identifier) @f {m}) @n",
    "(assert_statement . (identifier) @f {m}) @n",
)
# Anchors around an alternation match a block of two statements too; so the kind is told by the
# first word.
_SIMPLE = "(block . (_) @b .)"
_IS_SIMPLE = '(#not-match? @b "^(if|for|while|with|try|def|class|async|match)[ :(]|^@")'
_CLEANUP = {
    "not_true": ("(not_operator argument: (true)) @n", "False"),
    "not_false": ("(not_operator argument: (false)) @n", "True"),
    "none_is_not_none": (
        '((comparison_operator (none) (none)) @n (#eq? @n "None is not None"))',
        "False",
    ),
    "none_is_none": ('((comparison_operator (none) (none)) @n (#eq? @n "None is None"))', "True"),
    "parentheses": ("(parenthesized_expression [(true) (false)] @v) @n", "@v"),
    "false_and": ('(boolean_operator left: (false) operator: "and") @n', "False"),
    "and_false": ('(boolean_operator operator: "and" right: (false)) @n', "False"),
    "true_and": ('(boolean_operator left: (true) operator: "and" right: (_) @v) @n', "@v"),
    "and_true": ('(boolean_operator left: (_) @v operator: "and" right: (true)) @n', "@v"),
    "true_or": ('(boolean_operator left: (true) operator: "or") @n', "True"),
    "or_true": ('(boolean_operator operator: "or" right: (true)) @n', "True"),
    "false_or": ('(boolean_operator left: (false) operator: "or" right: (_) @v) @n', "@v"),
    "or_false": ('(boolean_operator left: (_) @v operator: "or" right: (false)) @n', "@v"),
    "ternary_true": ("(conditional_expression . (_) @v . (true) . (_) .) @n", "@v"),
    "ternary_false": ("(conditional_expression . (_) . (false) . (_) @v .) @n", "@v"),
    "elif_false": ("(elif_clause condition: (false)) @n", ""),
}
_ALONE = "(if_statement condition: (false) consequence: (_) .) @n"
_UNWRAP = {
    "simple": {
        "if_true": (
            f"((if_statement condition: (true) consequence: {_SIMPLE}) @n {_IS_SIMPLE})",
            "@b",
        ),
        "if_false": (_ALONE, "pass"),
        "if_false_else": (
            "((if_statement condition: (false) consequence: (_) . "
            f"alternative: (else_clause body: {_SIMPLE})) @n {_IS_SIMPLE})",
            "@b",
        ),
        "elif_true": (
            (
                "((if_statement alternative: (elif_clause condition: (true) consequence: "
                f"{_SIMPLE}) @n .) {_IS_SIMPLE})"
            ),
            "else: @b",
        ),
    },
    "all": {
        "if_true": ("(if_statement condition: (true) consequence: (block) @b) @n", "@b"),
        "if_false": (_ALONE, "pass"),
        "if_false_else": (
            (
                "(if_statement condition: (false) consequence: (_) . alternative: (else_clause "
                "body: (block) @b)) @n"
            ),
            "@b",
        ),
        "if_false_elif": (
            "(if_statement condition: (false) consequence: (_) . "
            "alternative: (elif_clause condition: (_) @c consequence: (block) @b) .) @n",
            "if @c: @b",
        ),
        "elif_true": (
            (
                "(if_statement alternative: (elif_clause condition: (true) consequence: (block) "
                "@b) @n .)"
            ),
            "else: @b",
        ),
    },
}


def rules(given: dict[str, Any], flags: dict[str, bool], unwrap: str) -> list[Any]:
    """Return the predicates as rules, then the clean-up."""
    found = []
    for literal in (True, False):
        names = [name for name, value in given["calls"].items() if value is literal]
        plain = "|".join(name for name in names if "." not in name)
        match = f'(#match? @f "^({plain})$")'
        if plain:
            found.append(
                _rule(
                    f"call_{literal}",
                    f"((call function: (identifier) @f) @n {match})",
                    "n",
                    str(literal),
                )
            )
            method = f"((call function: (attribute attribute: (identifier) @f)) @n {match})"
            found.append(_rule(f"method_{literal}", method, "n", str(literal)))
        for number, name in enumerate(name for name in names if "." in name):
            query = f'((call function: (attribute) @f) @n (#eq? @f "{name}"))'
            found.append(_rule(f"function_{literal}_{number}", query, "n", str(literal)))
        flagged = "|".join(name for name, value in flags.items() if value is literal)
        for number, query in enumerate(_CONDITIONS if flagged else ()):
            match = query.format(m=f'(#match? @f "^({flagged})$")')
            found.append(_rule(f"flag_{literal}_{number}", match, "f", str(literal)))
    for number, (name, value) in enumerate(given["dotted"].items()):
        found.append(
            _rule(f"dotted_{number}", f'((attribute) @n (#eq? @n "{name}"))', "n", str(value))
        )
    for name, (query, text) in {**_CLEANUP, **_UNWRAP[unwrap]}.items():
        found.append(_rule(name, query, "n", text))
    return found


def _rule(name: str, query: str, node: str, text: str) -> Any:
    return piranha.Rule(name, query=query, replace_node=node, replace=text)


def fold(paths: list[Path], graph: Any) -> tuple[int, int]:
    """Run passes until nothing changes; returns their number, and the files that Piranha gave up
    on.
    """
    given_up = 0
    for number in range(1, _PASSES + 1):
        written, lost = _pass(paths, graph)
        given_up += len(lost)
        if not written:
            return number, given_up
        # Only what the last pass wrote can change again.
        paths = written
    return _PASSES, given_up


def _pass(paths: list[Path], graph: Any) -> tuple[list[Path], list[Path]]:
    """Return one pass over the files, together, or one by one when Piranha dies of one of them:
    written, and given up.
    """
    try:
        found = piranha.execute_piranha(
            piranha.PiranhaArguments(
                language="python",
                paths_to_codebase=[str(path) for path in paths],
                rule_graph=graph,
                allow_dirty_ast=True,
                delete_consecutive_new_lines=False,
                delete_file_if_empty=False,
            )
        )
    except BaseException as error:
        # Its panics are no Exceptions.
        if isinstance(error, KeyboardInterrupt | MemoryError | SystemExit):
            raise
        if len(paths) == 1:
            return [], paths
        halves = [
            _pass(half, graph) for half in (paths[: len(paths) // 2], paths[len(paths) // 2 :])
        ]
        return halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]
    return [Path(one.path) for one in found if one.content != one.original_content], []


def main() -> None:
    """Command line: FOLDER PREDICATES.json --unwrap all|simple."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("predicates", type=Path)
    parser.add_argument("--no-flags", action="store_true", help="the predicates alone")
    parser.add_argument("--unwrap", choices=sorted(_UNWRAP), default="simple")
    arguments = parser.parse_args()
    given = json.loads(arguments.predicates.read_text("utf-8"))
    start = time.perf_counter()
    groups: dict[str, list[Path]] = defaultdict(list)
    # The queries have no word that Piranha could look for before it parses; other files hold
    # nothing to replace.
    words = re.compile(
        "|".join(rf"\b{re.escape(name)}\b" for name in [*given["calls"], *given["dotted"]])
    )
    for path in sorted(arguments.folder.rglob("*.py")):
        name = path.relative_to(arguments.folder).as_posix()
        flags = {} if arguments.no_flags else given["flags"].get(name, {})
        if flags or words.search(path.read_text("utf-8")):
            groups[json.dumps(flags, sort_keys=True)].append(path)
    passes, given_up = 0, 0
    for flags_text, paths in groups.items():
        graph = piranha.RuleGraph(
            rules=rules(given, json.loads(flags_text), arguments.unwrap), edges=[]
        )
        # A query that it cannot read is a fault of this file, not one that Piranha has with
        # upstream's.
        piranha.execute_piranha(
            piranha.PiranhaArguments(
                language="python", code_snippet="x = 1\n", rule_graph=graph, dry_run=True
            )
        )
        ran, lost = fold(paths, graph)
        passes, given_up = max(passes, ran), given_up + lost
    print(
        json.dumps({"passes": passes, "given_up": given_up, "seconds": time.perf_counter() - start})
    )


if __name__ == "__main__":
    main()
