"""Branches of the preprocessor: what must stay comes first; then any program is asked of the
compiler's own preprocessor, before and after.
"""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shrinker.syntax.native.conditionals import refuted_lines, without_refuted
from tests.small import read_cases

UNDEFINED = ("AMD", "AMD_TYPE")

CASES = read_cases(Path(__file__).with_name("conditionals.txtar"))


def _left(text: str) -> str:
    gone = {
        n
        for each in refuted_lines(text.encode(), UNDEFINED)
        for n in range(each.lines.first, each.lines.last + 1)
    }
    return "".join(
        line for n, line in enumerate(text.splitlines(keepends=True), 1) if n not in gone
    )


@pytest.mark.parametrize("name", CASES)
def test_what_is_left(name: str) -> None:
    text = CASES[name]["text"]
    left = CASES[name].get("left", text)
    assert _left(text) == left
    assert without_refuted(text.encode(), UNDEFINED).decode().split() == left.split()


def test_it_is_said_by_which_macros() -> None:
    (found,) = refuted_lines(b"#if defined(AMD) || AMD_TYPE\n#endif\n", UNDEFINED)
    assert found.macros == {"AMD", "AMD_TYPE"}


TESTS = st.recursive(
    st.sampled_from(
        ["defined(AMD)", "AMD", "defined A", "A", "defined(B)", "B > 1", "AMD_TYPE", "1", "0"]
    ),
    lambda inner: st.one_of(
        inner.map("!({})".format),
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
    ),
    max_leaves=4,
)
GROUPS = st.recursive(
    st.just("int x;\n"),
    lambda inner: st.tuples(
        st.one_of(
            TESTS.map("#if {}".format), st.sampled_from(["#ifdef AMD", "#ifndef AMD", "#ifdef A"])
        ),
        st.lists(inner, max_size=2),
        st.lists(st.tuples(TESTS, inner), max_size=2),
        st.one_of(st.none(), inner),
    ).map(
        lambda group: (
            f"{group[0]}\n{''.join(group[1])}{''.join(f'#elif {test}' + chr(10) + body for test, body in group[2])}"
            f"{'' if group[3] is None else '#else' + chr(10) + group[3]}#endif\n"
        )
    ),
    max_leaves=6,
)
DEFINES = ("", "#define A 1\n", "#define A 0\n#define B 2\n", "#define A 3\n#define B 1\n")


@settings(max_examples=60, deadline=None)
@given(st.lists(GROUPS, min_size=1, max_size=4))
def test_the_compiler_reads_the_same(groups: list[str]) -> None:
    text = "".join(groups)
    numbered = "".join(
        line.replace("x;", f"x{number};")
        for number, line in enumerate(text.splitlines(keepends=True), 1)
    )
    forms = (numbered, _left(numbered))
    # All in one process: what undefines the macros parts them.
    separate = "".join(
        f"{defines}{form}\n#undef A\n#undef B\nnext\n" for defines in DEFINES for form in forms
    )
    read = subprocess.run(
        ["cpp", "-P", "-undef", "-w"], input=separate, capture_output=True, text=True, check=True
    )
    parts = [part.split() for part in read.stdout.split("next")[:-1]]
    assert parts[::2] == parts[1::2]
