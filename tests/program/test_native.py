"""Kernels by the operators that kept Python names; what must stay comes first."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from shrinker.pipeline import Run, decide_and_emit
from shrinker.program.saved import Files, graph_data
from shrinker.ruleset import Ruleset
from tests.program.small_tree import write_tree
from tests.program.symbols.support import small_rules
from tests.small import Silent, read_archive, rule

RULES = (
    rule("root", "root-launch", modules=["sglang.main"])
    + rule("root", "root-kernels", paths=["kernels"])
    + rule("sibling_package", "kernels", folder="kernels/python/sgl_kernel", sources="kernels")
)
LIBRARY = read_archive(Path(__file__).with_name("libraries.txtar"))


class Generated:
    """What was made of a package, given as Python files, and the library."""

    def __init__(
        self, root: Path, package: Mapping[str, str], library: Mapping[str, str] = LIBRARY
    ) -> None:
        self.tree = write_tree(root / "upstream", {**package, **library, "/LICENSE": "free\n"})
        self.out = root / "out"
        self.out.mkdir()
        self.rules: Ruleset = small_rules(root, root=RULES)
        self.analysis, self.emitted = decide_and_emit(
            Run(self.tree, self.rules, 1, Silent()), self.out
        )

    def text(self, path: str) -> str:
        return (self.out / "kernels" / path).read_text()

    @property
    def gone(self) -> set[str]:
        """Files of the library that are not there, without its folder."""
        theirs = {path for path in self.tree.by_path if path.startswith("kernels/")}
        ours = {file.path for file in self.emitted.manifest.files}
        return {path.removeprefix("kernels/") for path in theirs - ours}

    def chain(self, path: str) -> list[str]:
        """Nodes of the shortest chain to a file."""
        files = Files(graph_data(self.analysis.graph, self.analysis.folded))
        (chain,) = (chain for node in files.kept(path) for chain in files.chains(node))
        return [step.dst for step in chain.steps]


SUMS = "from sgl_kernel import add\n\nprint(add)\n"

STAYS = {
    "the package as a value": "import sgl_kernel\n\nprint(sgl_kernel.add, sgl_kernel.mul, sgl_kernel.sort)\n",
    "under another name": "import sgl_kernel as f\n\nprint(f.add, f.mul, f.sort)\n",
    "operators themselves": (
        "import sgl_kernel, torch\n\nops = torch.ops.sgl_kernel\n"
        "print(ops.add, ops.mul, ops.sort)\n"
    ),
    "texts": (
        "import sgl_kernel\n\n"
        'print(call("sgl_kernel::add"), call("sgl_kernel::mul"), call("sgl_kernel::sort"))\n'
    ),
    "a function of the same name": (
        "import sgl_kernel.sums as f\nfrom sgl_kernel import sort\n\n\ndef add(a):\n    return "
        "f.add(a)\n\n\ndef mul(a):\n    return f.mul(a)\n\n\n"
        "print(add, mul, sort)\n"
    ),
    "another module reads it": "from sglang.other import f\n\nprint(f.add, f.mul, f.sort)\n",
    "a computed name": (
        "import torch\nimport sgl_kernel\n\nprint(getattr(torch.ops.sgl_kernel, input()))\n"
    ),
}


@pytest.mark.parametrize("source", STAYS.values(), ids=STAYS)
def test_what_is_named_stays(tmp_path: Path, source: str) -> None:
    made = Generated(tmp_path, {"main.py": source, "other.py": "import sgl_kernel as f\n"})
    wrappers = (
        {"python/sgl_kernel/sums.py", "python/sgl_kernel/sorts.py"}
        if "torch" in source or "::" in source
        else set()
    )
    assert made.gone - wrappers <= {"csrc/forgotten.cu"}
    assert made.text("csrc/ext.cc").count("m.def") == 3


def test_a_computed_name_is_uncertain(tmp_path: Path) -> None:
    made = Generated(tmp_path, {"main.py": STAYS["a computed name"]})
    assert made.gone == set()
    assert [u.line for u in made.analysis.graph.uncertain if "computed" in u.reason] == [4]


def test_a_module_that_is_named_and_has_nothing_goes(tmp_path: Path) -> None:
    made = Generated(tmp_path, {"main.py": f"{SUMS}sorts = 1\nprint(sorts)\n"})
    assert "python/sgl_kernel/sorts.py" in made.gone
    assert "sorts" not in made.text("python/sgl_kernel/__init__.py")


def test_what_nothing_names_goes(tmp_path: Path) -> None:
    made = Generated(tmp_path, {"main.py": SUMS})
    assert made.gone == {
        "csrc/forgotten.cu",
        "csrc/mul.cu",
        "csrc/mul_sm90.cu",
        "csrc/only_mul.cuh",
        "csrc/only_sort.cuh",
        "csrc/sort.cu",
        "python/sgl_kernel/sorts.py",
    }
    note = (
        "Modified by shrinker: parts not used by this profile were removed. See NOTICE and "
        "SHRINK.json."
    )
    assert (
        made.text("csrc/ext.cc")
        == f"""\
// {note}
#include "ops.h"
TORCH_LIBRARY_FRAGMENT(sgl_kernel, m) {{
  /* From add */
  m.def("add(Tensor a) -> Tensor");
  m.impl("add", torch::kCUDA, &add);

}}
"""
    )
    assert made.text("include/ops.h") == f"// {note}\nTensor add(Tensor a);\n\n"
    assert made.text("CMakeLists.txt") == (
        f'# {note}\nset(SOURCES\n    "csrc/add.cu"\n    "csrc/ext.cc"\n)\n'
        f"Python_add_library(ops MODULE ${{SOURCES}})\n"
    )
    assert "mul" not in made.text("python/sgl_kernel/sums.py") and "sort" not in made.text(
        "python/sgl_kernel/__init__.py"
    )
    assert made.text("python/sgl_kernel/version.py") == "__version__ = '1'\n"


def test_chains_lead_over_the_operator(tmp_path: Path) -> None:
    made = Generated(tmp_path, {"main.py": "from sgl_kernel import mul\n\nprint(mul)\n"})
    assert made.chain("kernels/csrc/only_mul.cuh") == [
        "module:sglang.main",
        "kernel:sgl_kernel.mul",
        "data:kernels/python/sgl_kernel/__init__.py",
        "data:kernels/python/sgl_kernel/sums.py",
        "operator:mul",
        "native:kernels/csrc/mul.cu",
        "native:kernels/csrc/mul_sm90.cu",
        "native:kernels/csrc/only_mul.cuh",
    ]


def test_what_shares_its_line_stays(tmp_path: Path) -> None:
    lists = {
        "/kernels/CMakeLists.txt": 'add_library(ops "csrc/add.cu" "csrc/ext.cc" "csrc/mul.cu" "csrc/mul_sm90.cu" "csrc/sort.cu")\n'
    }
    assert Generated(tmp_path, {"main.py": SUMS}, LIBRARY | lists).gone == {
        "csrc/forgotten.cu",
        "python/sgl_kernel/sorts.py",
    }


def test_a_list_keeps_a_source(tmp_path: Path) -> None:
    lists = {
        "/kernels/CMakeLists.txt": (
            'set(A\n  "csrc/add.cu"\n  "csrc/ext.cc"\n)\nset(B\n  "csrc/sort.cu"\n)\n'
            "add_library(ops ${A} ${B})\n"
        )
    }
    made = Generated(tmp_path, {"main.py": SUMS}, LIBRARY | lists)
    assert {"csrc/sort.cu", "csrc/only_sort.cuh"}.isdisjoint(made.gone)
    assert "sort" not in made.text("csrc/ext.cc")


def test_a_pattern_of_a_build_matches_less(tmp_path: Path) -> None:
    lists = {
        "/kernels/CMakeLists.txt": "file(GLOB SOURCES csrc/*.cu csrc/*.cc)\nadd_library(ops ${SOURCES})\n"
    }
    made = Generated(tmp_path, {"main.py": SUMS}, LIBRARY | lists)
    assert {"csrc/sort.cu", "csrc/forgotten.cu"} <= made.gone
    assert made.text("CMakeLists.txt") == lists["/kernels/CMakeLists.txt"]


def test_native_code_calls_operators(tmp_path: Path) -> None:
    add = {"/kernels/csrc/add.cu": 'Tensor add(Tensor a) { return find("sgl_kernel::sort")(a); }\n'}
    made = Generated(tmp_path, {"main.py": SUMS}, LIBRARY | add)
    assert "csrc/sort.cu" not in made.gone


def test_macros_put_names_together(tmp_path: Path) -> None:
    add = {
        "/kernels/csrc/add.cu": (
            "#define RUN(n) run_##n(a)\nTensor run_fast(Tensor a);\n"
            "Tensor add(Tensor a) { return RUN(fast); }\n"
        ),
        "/kernels/csrc/sort.cu": "Tensor run_fast(Tensor a) { return a; }\nTensor sort(Tensor a) { return a; }\n",
    }
    assert "csrc/sort.cu" not in Generated(tmp_path, {"main.py": SUMS}, LIBRARY | add).gone


SHARED = """\
inline Tensor twice(Tensor a) { return a; }

// Once.
template <typename T>
inline T once(T a) { return only_once(a); }

inline Tensor only_once(Tensor a) { return a; }
"""
ADD = "Tensor add(Tensor a) { return a; }\n"
BY_OTHERS: dict[str, dict[str, str]] = {
    "Python": {"main.py": SUMS + "print('once')\n"},
    "a build list": {"/kernels/more.cmake": "set(KERNEL once)\n"},
    "a source outside of the library": {
        "main.py": SUMS + "print('csrc/x.cuh')\n",
        "csrc/x.cuh": "int a = once(1);\n",
    },
}
BY_SOURCES = {
    "a source": "Tensor add(Tensor a) { return twice(once(a)); }\n",
    "a text of a source": 'Tensor add(Tensor a) { return twice(find("once")); }\n',
    "a macro": "#define F once\nTensor add(Tensor a) { return twice(F(a)); }\n",
    "a macro that puts it together": "#define P(x, y) x##y\nTensor add(Tensor a) { return P(on, ce)(a); }\n",
    "a specialisation": "template <>\nint once(int a) { return 1; }\n" + ADD,
    "a call of an overload": (
        "Tensor once(int a, int b) { return a; }\nTensor add(Tensor a) { return once(1, 2); }\n"
    ),
    "linkage of C": 'extern "C" int once(int a) { return 1; }\n' + ADD,
    "a member": "struct S {\n  int once();\n};\n" + ADD,
}
BY_OTHERS |= {name: {"/kernels/csrc/add.cu": text} for name, text in BY_SOURCES.items()}


@pytest.mark.parametrize("files", BY_OTHERS.values(), ids=BY_OTHERS)
def test_what_something_names_stays(tmp_path: Path, files: dict[str, str]) -> None:
    add = f'#include "shared.cuh"\n{files.get("/kernels/csrc/add.cu", ADD)}'
    shared = {"/kernels/csrc/shared.cuh": SHARED, "/kernels/csrc/add.cu": add}
    made = Generated(tmp_path, {"main.py": SUMS} | files, LIBRARY | shared)
    assert "once(T a)" in made.text("csrc/shared.cuh")
    assert "Tensor only_once(" in made.text("csrc/shared.cuh")


def test_definitions_that_nothing_names_go(tmp_path: Path) -> None:
    """Those that only such definitions name, too; and what an operator offered that is not
    reached.
    """
    changes = {
        "/kernels/csrc/shared.cuh": SHARED,
        "/kernels/csrc/add.cu": LIBRARY["/kernels/csrc/add.cu"]
        + "\nTensor mul_entry(Tensor a) {\n  return once(a);\n}\n",
        "/kernels/include/ops.h": LIBRARY["/kernels/include/ops.h"] + "Tensor once(Tensor a);\n",
    }
    made = Generated(tmp_path, {"main.py": SUMS}, LIBRARY | changes)
    note = (
        "// Modified by shrinker: parts not used by this profile were removed. See NOTICE and "
        "SHRINK.json.\n"
    )
    assert (
        made.text("csrc/shared.cuh") == f"{note}inline Tensor twice(Tensor a) {{ return a; }}\n\n"
    )
    assert made.text("csrc/add.cu") == f"{note}{LIBRARY['/kernels/csrc/add.cu']}\n"
    assert made.text("include/ops.h") == f"{note}Tensor add(Tensor a);\n\n"
    assert [cut.what for cut in made.analysis.cuts["kernels/csrc/shared.cuh"]] == [
        "definition once",
        "definition only_once",
    ]
