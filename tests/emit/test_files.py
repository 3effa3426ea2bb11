"""Files as they are written: what must not change first, then headers, edits that do not fit,
pyproject.toml, _version.py and NOTICE.
"""

import ast
import re
import tomllib
from dataclasses import replace

import pytest

from shrinker.emit.package import HEADER, notice, pyproject, version_module, version_tuple
from shrinker.emit.rewrite import RewriteError, rewrite_file
from shrinker.values.distributions import Distributions
from shrinker.values.edits import (
    DropElement,
    DropStatement,
    Edit,
    Literal,
    Raise,
    Span,
    TakeBlock,
    TakeOperand,
)
from shrinker.values.upstream import DeclaredPackage, Identity
from tests.emit.reference import span

LINE = "# Modified."


ODD = {
    "empty": b"",
    "no line end": b"x = 1",
    "only comments": b"# a\n\n# b",
    "trailing blanks": b"x = 1   \n\t\n  # c  \n",
    "crlf": b"if a:\r\n    b\r\n",
    "form feed": b"a = 1\n\x0c\nb = 2\n",
    "tabs": b"if a:\n\tb\n\tif c:\n\t\td\n",
    "semicolons": b"a; b;\nif x: a; b;\n",
    "continuation": b"a = 1 + \\\n  2\n",
    "bom": b"\xef\xbb\xbfa = 1\n",
    "latin-1": "# -*- coding: latin-1 -*-\na = 'é'\n".encode("latin-1"),
    "mixed line ends": b"a = 1\r\nb = 2\nc = 3\rd = 4\n",
}


@pytest.mark.parametrize("source", ODD.values(), ids=ODD.keys())
def test_without_edits_a_file_is_itself(source: bytes) -> None:
    assert rewrite_file(source, []) == source


@pytest.mark.parametrize(
    "source", [s for s in ODD.values() if s], ids=[n for n, s in ODD.items() if s]
)
def test_everything_around_an_edit_is_itself(source: bytes) -> None:
    encoding = "latin-1" if b"latin-1" in source else "utf-8"
    if not source.endswith(b"\n"):
        source += b"\n"
    text = source.decode(encoding).removeprefix("\ufeff")
    # Comments and blank lines above a statement are the statement's.
    text, source = f"{text}kept\n", source + b"kept\n"
    edited = source + b"if F:\n    gone\n"
    node = ast.parse(f"{text}if F:\n    gone\n").body[-1]
    assert rewrite_file(edited, [DropStatement(span(node))]) == source


def _drop_last(text: str) -> list[DropStatement]:
    return [DropStatement(span(ast.parse(text).body[-1]))]


def test_the_header_comes_first() -> None:
    assert (
        rewrite_file(b"a = 1\nb = 2\n", _drop_last("a = 1\nb = 2\n"), header=LINE)
        == b"# Modified.\na = 1\n"
    )
    assert rewrite_file(b'"""Doc."""\n', [], header=LINE) == b'# Modified.\n"""Doc."""\n'
    assert rewrite_file(b"", [], header=LINE) == b"# Modified.\n"


def test_the_header_comes_after_what_must_be_first() -> None:
    assert (
        rewrite_file(b"#!/bin/sh\n# c\na\n", [], header=LINE) == b"#!/bin/sh\n# Modified.\n# c\na\n"
    )
    coding = b"#!/bin/sh\n# -*- coding: utf-8 -*-\na\n"
    assert (
        rewrite_file(coding, [], header=LINE)
        == b"#!/bin/sh\n# -*- coding: utf-8 -*-\n# Modified.\na\n"
    )
    assert (
        rewrite_file(b"# c\n# vim: set fileencoding=utf-8 :\na\n", [], header=LINE).splitlines()[2]
        == b"# Modified."
    )
    assert rewrite_file(b"a\n# coding: utf-8\n", [], header=LINE).startswith(b"# Modified.\na\n")
    assert rewrite_file(b"#!/bin/sh", [], header=LINE) == b"#!/bin/sh\n# Modified.\n"
    assert (
        rewrite_file(b"\xef\xbb\xbfa\r\n", [], header=LINE) == b"\xef\xbb\xbf# Modified.\r\na\r\n"
    )


def test_latin_1_stays_latin_1() -> None:
    text = "# -*- coding: latin-1 -*-\nx = 'é', F\n# é\ny = 1\n"
    first, second = ast.parse(text).body
    assert isinstance(first, ast.Assign) and isinstance(first.value, ast.Tuple)
    edits: list[Edit] = [DropElement(span(first.value.elts[1])), Raise(span(second), "é €")]
    out = rewrite_file(text.encode("latin-1"), edits)
    assert (
        out
        == b"# -*- coding: latin-1 -*-\nx = '\xe9',\n# \xe9\nraise RuntimeError(\"\xe9 \\u20ac\")\n"
    )
    assert isinstance(ast.parse(out).body[-1], ast.Raise)


def test_a_byte_order_mark_stays() -> None:
    text = "a = 1\nb = 2\n"
    assert rewrite_file(b"\xef\xbb\xbf" + text.encode(), _drop_last(text)) == b"\xef\xbb\xbfa = 1\n"


def test_files_that_cannot_be_read() -> None:
    with pytest.raises(SyntaxError):
        rewrite_file(b"def\n", [DropStatement(Span(1, 0, 1, 3))])
    with pytest.raises(SyntaxError):
        rewrite_file(b"# coding: no-such\nx\n", [])
    with pytest.raises((UnicodeDecodeError, SyntaxError)):
        rewrite_file(b"x = '\xff'\n", [])


WRONG: list[Edit] = [
    DropStatement(Span(1, 4, 1, 5)),
    DropStatement(Span(9, 0, 9, 5)),
    Literal(Span(1, 4, 1, 6), "True"),
    TakeOperand(Span(1, 4, 1, 5), "body"),
    DropElement(Span(1, 0, 1, 1)),
    TakeBlock(Span(1, 0, 1, 11), "body"),
    TakeBlock(Span(2, 0, 3, 5), "handler:0"),
    TakeBlock(Span(2, 0, 3, 5), "nothing"),
]


@pytest.mark.parametrize("edit", WRONG, ids=map(str, range(len(WRONG))))
def test_edits_that_fit_nowhere(edit: Edit) -> None:
    with pytest.raises(RewriteError, match=f"line {edit.span.line}, column {edit.span.col}"):
        rewrite_file(b"x = [a, b]\nif c:\n    d\n", [edit])


def test_an_unapplied_edit_names_itself() -> None:
    edit = Literal(Span(1, 0, 1, 2), "True")
    with pytest.raises(RewriteError, match=re.escape(repr(edit))):
        rewrite_file(b"x = 1\n", [edit])


DECLARED = DeclaredPackage(
    "sglang",
    ">=3.10",
    ("numpy", 'av ; sys_platform == "linux"'),
    {},
    {"sglang": "sglang.cli.main:main", "gone": "sglang.gone:main"},
)
REQUIRED = Distributions(dependencies=("numpy",))


def test_pyproject() -> None:
    data = tomllib.loads(pyproject(DECLARED, "0.5.7", {"python/sglang/cli/main.py"}, REQUIRED))
    assert data["project"]["name"] == "sglang"
    assert data["project"]["version"] == "0.5.7"
    assert data["project"]["requires-python"] == ">=3.10"
    assert data["project"]["dependencies"] == list(REQUIRED.dependencies)
    assert data["project"]["scripts"] == {"sglang": "sglang.cli.main:main"}
    assert data["tool"]["setuptools"]["packages"]["find"]["include"] == ["sglang*"]


def test_the_wheel_of_a_tree_with_compiled_modules_has_the_tag_of_upstreams() -> None:
    kept = {"python/sglang/_core.cpython-311-x86_64-linux-gnu.so"}
    built = replace(DECLARED, tag="cp311-cp311-manylinux_2_34_x86_64")
    tool = tomllib.loads(pyproject(built, "1", kept, REQUIRED))["tool"]
    assert tool["distutils"]["bdist_wheel"] == {
        "python-tag": "cp311",
        "plat-name": "manylinux_2_34_x86_64",
    }
    for declared, files in ((built, set()), (DECLARED, kept)):
        assert "distutils" not in tomllib.loads(pyproject(declared, "1", files, REQUIRED))["tool"]


def test_pyproject_with_extras_and_what_is_left_of_them() -> None:
    left = Distributions(dependencies=("numpy",), extras={"spans": ("spans-bus",)})
    project = tomllib.loads(pyproject(DECLARED, None, set(), left))["project"]
    assert project["dependencies"] == ["numpy"]
    assert project["optional-dependencies"] == {"spans": ["spans-bus"]}
    assert (
        "optional-dependencies"
        not in tomllib.loads(pyproject(DECLARED, None, set(), Distributions()))["project"]
    )


def test_pyproject_of_an_unknown_version() -> None:
    data = tomllib.loads(pyproject(DECLARED, None, set(), REQUIRED))
    assert data["project"]["version"] == "0.0.0"
    assert "scripts" not in data["project"]


@pytest.mark.parametrize(
    ("version", "parts"),
    [
        ("0.5.7", (0, 5, 7)),
        ("0.5.15.post1", (0, 5, 15, "post1")),
        ("1.0rc2", (1, 0, "rc2")),
        ("0.1.dev3+gabc", (0, 1, "dev3", "gabc")),
    ],
)
def test_version(version: str, parts: tuple[int | str, ...]) -> None:
    assert version_tuple(version) == parts
    names: dict[str, object] = {}
    exec(version_module(version), names)
    assert names["__version__"] == names["version"] == version
    assert names["__version_tuple__"] == names["version_tuple"] == parts


def test_notice() -> None:
    identity = Identity("release", "release:0.5.7", "0.5.7", None, False)
    text = notice(
        identity, profile="deepseek", tool_version="1.2", compiled={}, upstream_notice="Theirs.\n"
    )
    assert "release 0.5.7" in text and "shrinker 1.2" in text and "'deepseek'" in text
    assert text.endswith("SGLang's own NOTICE:\n\nTheirs.\n")
    folder = Identity("path", "path:here", None, None, False)
    compiled = {"python/sglang/_core.abi3.so": "ab12"}
    assert "compiled" not in text and "path:here" in notice(
        folder, profile="p", tool_version="1", compiled={}
    )
    named = notice(folder, profile="p", tool_version="1", compiled=compiled)
    assert "  python/sglang/_core.abi3.so\n    SHA-256 ab12\n" in named
    assert HEADER.startswith("# ") and "\n" not in HEADER
