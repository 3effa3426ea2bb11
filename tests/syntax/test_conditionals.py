"""Branches of the preprocessor: what must stay comes first; then any program is asked of the compiler's own preprocessor, before and after."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shrinker.syntax.native.conditionals import refuted_lines, without_refuted

UNDEFINED = ("AMD", "AMD_TYPE")

STAYS = {
    "no such macro": "#ifdef A\nint a;\n#endif\n",
    "a macro that only begins alike": "#ifdef AMD_OTHER\nint a;\n#endif\n",
    "a test of nothing": "#if 0\nint AMD;\n#endif\n",
    "what more than the macro decides": "#if defined(AMD) || defined(A)\nint a;\n#endif\n",
    "a test that is only possible": "#if !defined(AMD) && A >= 12\nint a;\n#endif\n",
    "an open test after a refuted one": "#ifdef AMD\nint a;\n#elif A\nint b;\n#endif\n",
    "a comparison": "#if AMD < 3\nint a;\n#endif\n",
    "a call": "#if AMD(3)\nint a;\n#endif\n",
    "in a comment": "/*\n#ifdef AMD\n#endif\n*/\n",
    "in a text": 'const char* a = R"(\n#ifdef AMD\n)";\n',
    "a group that does not close": "#ifdef AMD\nint a;\n",
}
GOES = {
    "refuted": ("#ifdef AMD  // HIP\nint a;\n#endif\nint b;\n", "int b;\n"),
    "by its value": ("#if AMD\nint a;\n#endif\nint b;\n", "int b;\n"),
    "the other arm": ("#if defined(AMD)\nint a;\n#else\nint b;\n#endif\n", "int b;\n"),
    "what is always true": ("#ifndef AMD\nint a;\n#else\nint b;\n#endif\n", "int a;\n"),
    "after a refuted one": ("#ifdef AMD\nint a;\n#elif !defined(AMD)\nint b;\n#else\nint c;\n#endif\n", "int b;\n"),
    "in the middle": (
        "#if A\nint a;\n#elif AMD\nint b;\n#else\nint c;\n#endif\n",
        "#if A\nint a;\n#else\nint c;\n#endif\n",
    ),
    "all that follows": (
        "#if A\nint a;\n#elif !AMD\nint b;\n#else\nint c;\n#endif\n",
        "#if A\nint a;\n#elif !AMD\nint b;\n#endif\n",
    ),
    "both macros": ("#if defined(AMD) || AMD_TYPE\nint a;\n#endif\n", ""),
    "whatever the rest says": ("#if A(3) && (defined AMD)\nint a;\n#endif\n", ""),
    "over two lines": ("#if defined(AMD) \\\n    && A\nint a;\n#endif\nint b;\n", "int b;\n"),
    "an inner group": ("#ifdef A\n#ifdef AMD\nint a;\n#endif\nint b;\n#endif\n", "#ifdef A\nint b;\n#endif\n"),
    "in the middle of a statement": ("int a =\n#ifdef AMD\n1\n#else\n2\n#endif\n;\n", "int a =\n2\n;\n"),
}


def _left(text: str) -> str:
    gone = {n for each in refuted_lines(text.encode(), UNDEFINED) for n in range(each.lines.first, each.lines.last + 1)}
    return "".join(line for n, line in enumerate(text.splitlines(keepends=True), 1) if n not in gone)


@pytest.mark.parametrize(
    ("text", "left"), [*((text, text) for text in STAYS.values()), *GOES.values()], ids=[*STAYS, *GOES]
)
def test_what_is_left(text: str, left: str) -> None:
    assert _left(text) == left
    assert without_refuted(text.encode(), UNDEFINED).decode().split() == left.split()


def test_it_is_said_by_which_macros() -> None:
    (found,) = refuted_lines(b"#if defined(AMD) || AMD_TYPE\n#endif\n", UNDEFINED)
    assert found.macros == {"AMD", "AMD_TYPE"}


TESTS = st.recursive(
    st.sampled_from(["defined(AMD)", "AMD", "defined A", "A", "defined(B)", "B > 1", "AMD_TYPE", "1", "0"]),
    lambda inner: st.one_of(
        inner.map("!({})".format),
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda parts: f"({' '.join(parts)})"),
    ),
    max_leaves=4,
)
GROUPS = st.recursive(
    st.just("int x;\n"),
    lambda inner: st.tuples(
        st.one_of(TESTS.map("#if {}".format), st.sampled_from(["#ifdef AMD", "#ifndef AMD", "#ifdef A"])),
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
        line.replace("x;", f"x{number};") for number, line in enumerate(text.splitlines(keepends=True), 1)
    )
    forms = (numbered, _left(numbered))
    # All in one process: what undefines the macros parts them.
    separate = "".join(f"{defines}{form}\n#undef A\n#undef B\nnext\n" for defines in DEFINES for form in forms)
    read = subprocess.run(["cpp", "-P", "-undef", "-w"], input=separate, capture_output=True, text=True, check=True)
    parts = [part.split() for part in read.stdout.split("next")[:-1]]
    assert parts[::2] == parts[1::2]
