"""Native code that is judged: `(changed files, findings)` of one small library; no finding means
that the tree passes.
"""

import re
from pathlib import Path

import pytest

from shrinker.ruleset import Companion
from tests.check.trees import RULES, Build, Case, Files, less
from tests.small import read_archive

NOTE = (
    "Modified by shrinker: parts not used by this profile were removed. See NOTICE and "
    "SHRINK.json.\n"
)
PROGRAMS = read_archive(Path(__file__).with_name("native.txtar"))
EXTENSION = PROGRAMS["ext.cc"]
ADD = (
    '#include "shared.cuh"\nTensor helper(Tensor a);\nTensor add(Tensor a) {\n'
    "  return helper(a);\n}\n"
)
UPSTREAM: Files = {
    "calls.py": "import torch\n\ntorch.ops.sgl_kernel.add.default(1)\n",
    "//kernels/CMakeLists.txt": (
        'set(SOURCES\n    "csrc/ext.cc"\n    csrc/add.cu\n    "csrc/helper.cu"\n'
        '    "csrc/mul.cu"\n)\n'
    ),
    "//kernels/csrc/ext.cc": EXTENSION,
    "//kernels/csrc/add.cu": ADD,
    "//kernels/csrc/helper.cu": "Tensor helper(Tensor a) {\n  return a;\n}\n",
    "//kernels/csrc/mul.cu": "Tensor mul(Tensor a) {\n  return a;\n}\n",
    "//kernels/csrc/shared.cuh": "",
    "//kernels/include/ops.h": "Tensor add(Tensor a);\nTensor mul(Tensor a);\n",
}
PRUNED: Files = {
    **dict.fromkeys(UPSTREAM, "="),
    "//kernels/CMakeLists.txt": (
        f'# {NOTE}set(SOURCES\n    "csrc/ext.cc"\n    csrc/add.cu\n    "csrc/helper.cu"\n)\n'
    ),
    "//kernels/csrc/ext.cc": f"// {NOTE}"
    + "".join(r for r in EXTENSION.splitlines(keepends=True) if "mul" not in r),
    "//kernels/include/ops.h": f"// {NOTE}Tensor add(Tensor a);\n",
}
LISTS, EXT, ADDS = "//kernels/CMakeLists.txt", "//kernels/csrc/ext.cc", "//kernels/csrc/add.cu"
HELPER, HEADER, OPS = (
    "//kernels/csrc/helper.cu",
    "//kernels/csrc/shared.cuh",
    "//kernels/include/ops.h",
)
GONE = "//kernels/csrc/mul.cu"
NO_INCLUDE = f"// {NOTE}" + ADD.replace('#include "shared.cuh"\n', "")

CASES: dict[str, tuple[dict[str, str | None], list[tuple[str, str]]]] = {
    "an operator with all that is its own": ({}, []),
    "only the entry of the build list is left": ({LISTS: "="}, [("build lists", LISTS)]),
    "an entry without quotes": ({ADDS: None}, [("build lists", LISTS), ("operators", EXT)]),
    "a header with its include": ({HEADER: None, ADDS: NO_INCLUDE}, []),
    "only the registration is left": ({EXT: "="}, [("operators", EXT), ("definitions", OPS)]),
    "a declaration is gone": ({OPS: f"// {NOTE}"}, [("definitions", OPS)]),
    "an include is gone": ({ADDS: NO_INCLUDE}, [("includes", ADDS)]),
    "an operator is declared that nothing implements": (
        {EXT: less(PRUNED[EXT], '  m.impl("add", torch::kCUDA, &add);\n')},
        [("operators", EXT)],
    ),
    "an operator is implemented that nothing declares": (
        {EXT: less(PRUNED[EXT], '  m.def("add(Tensor a) -> Tensor");\n')},
        [("operators", EXT)],
    ),
    "a header is gone": ({HEADER: None}, [("includes", ADDS)]),
    "a source that another one calls is gone": (
        {HELPER: None, LISTS: f'# {NOTE}set(SOURCES\n    "csrc/ext.cc"\n    csrc/add.cu\n)\n'},
        [("links", ADDS)],
    ),
}


def _tree(case: Build, changes: dict[str, str | None]) -> Case:
    ours = {
        path: text
        for path, text in {**PRUNED, **changes}.items()
        if text is not None and path != GONE
    }
    return case(UPSTREAM, ours)


@pytest.mark.parametrize(("changes", "findings"), CASES.values(), ids=CASES)
def test_references(
    case: Build, changes: dict[str, str | None], findings: list[tuple[str, str]]
) -> None:
    found = _tree(case, changes)
    assert found.findings("references") == [
        (check, path.removeprefix("//")) for check, path in findings
    ]
    assert found.findings("form") == []


def test_callers_are_registered(case: Build) -> None:
    upstream = {
        **UPSTREAM,
        "calls.py": (
            'import torch\n\nregister("sgl_kernel::mul")\ntorch.ops.sgl_kernel.mul.default(1)\n'
        ),
    }
    found = case(upstream, {path: text for path, text in PRUNED.items() if path != GONE})
    assert [
        (f.path, f.line) for f in found.evidence("references").findings if f.check == "callers"
    ] == [
        ("python/sglang/calls.py", 3),
        ("python/sglang/calls.py", 4),
    ]


def test_what_a_module_offers(case: Build) -> None:
    module = 'PYBIND11_MODULE(x, m) {\n  m.def("read", &read);\n  m.def("write", &write);\n}\n'
    module += (
        "TVM_FFI_DLL_EXPORT_TYPED_FUNC(send, send_it);\nstruct Used {\n};\nstruct Lost {\n};\n"
    )
    upstream = {
        "//x/x.cpp": module,
        "a.py": 'import x\n\n\ndef f():\n    x.read()\n    x.send("Used<1>::run")\n',
    }
    lost = {
        "write": [],
        "Lost": [],
        "read": [("callers", "a.py")],
        "send": [("callers", "a.py")],
        "Used": [("definitions", "a.py")],
    }
    for name, expected in lost.items():
        left = re.sub(rf"struct {name} {{\n}};\n|.*\b{name}\b.*\n", "", module)
        assert (
            case(upstream, {"//x/x.cpp": f"// {NOTE}{left}", "a.py": "="}).findings("references")
            == expected
        )


ARMS = (
    "#ifdef AMD\nint f() {\n  return 1;\n}\n#else\nint f() {\n  int a = 2;\n  return "
    "a;\n}\n#endif\nint g() {\n  return f();\n}\n"
)
OURS = "int f() {\n  int a = 2;\n  return a;\n}\nint g() {\n  return f();\n}\n"
BRANCHES = {
    "the arm that no build reads": (OURS, []),
    "the other arm": (
        OURS.replace("  int a = 2;\n  return a;\n", "  return 1;\n"),
        ["definitions", "whole sources"],
    ),
    "both": ("int g() {\n  return f();\n}\n", ["definitions", "whole sources"]),
    "a line of a body": (OURS.replace("  int a = 2;\n", ""), ["definitions", "whole sources"]),
    "what nothing names": (OURS.partition("int g")[0], ["whole sources"]),
    "the macro is defined": (OURS + "#define AMD 1\n", ["macros"]),
}


@pytest.mark.parametrize(("ours", "findings"), BRANCHES.values(), ids=BRANCHES)
def test_branches(case: Build, ours: str, findings: list[str]) -> None:
    upstream = {
        "//x/x.cpp": ARMS + "#define AMD 1\n" * ("#define" in ours),
        "//x/build.py": "FLAGS = []\n",
    }
    found = case(upstream, {"//x/x.cpp": f"// {NOTE}{ours}", "//x/build.py": "="})
    found.rules = RULES
    assert sorted({check for check, _ in found.findings("references")}) == findings


def test_what_nothing_names_goes_of_a_library_that_a_rule_names(case: Build) -> None:
    found = case(
        {"//x/x.cpp": ARMS}, {"//x/x.cpp": f"// {NOTE}{BRANCHES['what nothing names'][0]}"}
    )
    library = Companion(id="library", why="A rule of a test.", folder="x/python", sources="x")
    found.rules = RULES.model_copy(update={"companions": (library,)})
    assert found.findings("references") == []


def test_a_build_that_defines_the_macro(case: Build) -> None:
    found = case(
        {"//x/x.cpp": ARMS, "build.py": 'FLAGS = ["-DAMD"]\n'},
        {"//x/x.cpp": f"// {NOTE}{OURS}", "build.py": "="},
    )
    found.rules = RULES
    assert found.findings("references") == [("macros", "build.py")]


FORM = {
    "a line that upstream has not": f"// {NOTE}"
    + ADD.replace("a;\n", "b;\n").replace("helper(a)", "other(a)"),
    "lines in another order": (
        f'// {NOTE}#include "shared.cuh"\nTensor add(Tensor a) {{\nTensor helper(Tensor a);\n}}}}\n'
    ),
    "half a line": f'// {NOTE}#include "shared.cuh"\nTensor helper(Tensor a)\n',
    "no note": ADD.partition("\n")[2],
}


@pytest.mark.parametrize("text", FORM.values(), ids=FORM)
def test_lines_only_go(case: Build, text: str) -> None:
    assert _tree(case, {ADDS: text}).findings("form") == [("changed lines", "kernels/csrc/add.cu")]


def test_other_files_do_not_change(case: Build) -> None:
    found = case({"//a.json": "1\n2\n"}, {"//a.json": "1\n"})
    assert found.findings("form") == [("own files", "a.json")]


CRATE = '[package]\nname = "g"\n\n[[bench]]\nname = "b"\n'


def test_targets_of_crates_have_sources(case: Build) -> None:
    upstream = {"//g/Cargo.toml": CRATE, "//g/benches/b.rs": "", "//g/src/main.rs": ""}
    assert case(upstream, {"//g/Cargo.toml": "=", "//g/src/main.rs": "="}).findings(
        "references"
    ) == [("crate targets", "g/Cargo.toml")]


def test_targets_go(case: Build) -> None:
    upstream = {"//g/Cargo.toml": CRATE, "//g/benches/b.rs": "", "//g/src/main.rs": ""}
    cut = f'# {NOTE}[package]\nname = "g"\n\n'
    made = case(upstream, {"//g/Cargo.toml": cut, "//g/src/main.rs": "="})
    assert made.findings("references") == made.findings("form") == []


LOSES = PROGRAMS["shared.cuh"]
LOST = {
    "nothing names it": ('int x = 1; // f(1)\nconst char* t = "h";\n', []),
    "a call": ("int x = f(1);\n", ["f"]),
    "a mention": ("int x = call<h>();\n", ["h"]),
    "a class": ("Shape<int> x;\n", ["Shape"]),
    "a constant": ("int x = EDGE;\n", ["EDGE"]),
    "what was only called there": ("int x = k(1);\n", []),
}


@pytest.mark.parametrize(("other", "names"), LOST.values(), ids=LOST)
def test_what_went_is_named_nowhere(case: Build, other: str, names: list[str]) -> None:
    upstream = {
        "//kernels/csrc/shared.cuh": LOSES + "int kept = 1;\n",
        "//kernels/csrc/other.cuh": other,
    }
    found = case(
        upstream,
        {"//kernels/csrc/shared.cuh": f"// {NOTE}int kept = 1;\n", "//kernels/csrc/other.cuh": "="},
    )
    said = [(f.path, f.message.partition(",")[0]) for f in found.evidence("references").findings]
    assert said == [("kernels/csrc/shared.cuh", f"no longer defines {name}") for name in names]
    assert found.findings("form") == []


def test_a_body_that_a_kept_line_divides(case: Build) -> None:
    """What stands in it is no definition: the brace that closes the namespace looks like the one
    that closes the function.
    """
    gone = "int f(int a) {\n  if (a) { return 1; }\n}\nint g(int a) {\n  if (a) { return 1; }\n}\n"
    upstream = {
        "//kernels/a.cuh": "namespace {\n" + gone + "}\n",
        "//kernels/b.cuh": "void h() { if (1) { } }\n",
    }
    ours = {"//kernels/a.cuh": f"// {NOTE}namespace {{\n}}\n", "//kernels/b.cuh": "="}
    assert case(upstream, ours).findings("references") == []
    named = case({**upstream, "//kernels/b.cuh": "int x = f(1);\n"}, ours)
    assert named.findings("references") == [("definitions", "kernels/a.cuh")]
