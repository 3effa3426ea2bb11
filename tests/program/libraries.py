"""A small kernel library beside a small package, generated whole."""

from collections.abc import Mapping
from pathlib import Path

from shrinker.cache import Cache
from shrinker.pipeline.generation import decide_and_emit
from shrinker.program.saved import graph_data
from shrinker.program.why import Files
from shrinker.ruleset import Ruleset
from tests.program.small_tree import write_tree
from tests.program.symbols.support import small_rules
from tests.small import Silent, rule

RULES = (
    rule("root", "root-launch", modules=["sglang.main"])
    + rule("root", "root-kernels", paths=["kernels"])
    + rule("sibling_package", "kernels", folder="kernels/python/sgl_kernel", sources="kernels")
)
EXTENSION = """\
#include "ops.h"
TORCH_LIBRARY_FRAGMENT(sgl_kernel, m) {
  /* From add */
  m.def("add(Tensor a) -> Tensor");
  m.impl("add", torch::kCUDA, &add);

  m.def("mul(Tensor a) -> Tensor");
  m.impl("mul", torch::kCUDA, &mul_entry);

  m.def("sort(Tensor a) -> Tensor");
  m.impl("sort", torch::kCUDA, &sort);
}
"""
LIBRARY = {
    "/kernels/CMakeLists.txt": (
        'set(SOURCES\n    "csrc/add.cu"\n    "csrc/ext.cc"\n    "csrc/mul.cu"\n    "csrc/mul_sm90.cu"\n    "csrc/sort.cu"\n)\n'
        "Python_add_library(ops MODULE ${SOURCES})\n"
    ),
    "/kernels/README.md": "sort.cu is fast\n",
    "/kernels/csrc/ext.cc": EXTENSION,
    "/kernels/csrc/add.cu": '#include "shared.cuh"\nTensor add(Tensor a) { return twice(a); }\n',
    "/kernels/csrc/mul.cu": "Tensor mul_sm90(Tensor a);\nTensor mul_entry(Tensor a) { return mul_sm90(a); }\n",
    "/kernels/csrc/mul_sm90.cu": '#include "only_mul.cuh"\nTensor mul_sm90(Tensor a) { return a; }\n',
    "/kernels/csrc/sort.cu": '#include "shared.cuh"\n#include "only_sort.cuh"\nTensor sort(Tensor a) { return a; }\n',
    "/kernels/csrc/shared.cuh": "inline Tensor twice(Tensor a) { return a; }\n",
    "/kernels/csrc/only_mul.cuh": "",
    "/kernels/csrc/only_sort.cuh": "",
    "/kernels/csrc/forgotten.cu": "Tensor forgotten(Tensor a) { return a; }\n",
    "/kernels/include/ops.h": "Tensor add(Tensor a);\nTensor mul_entry(Tensor a);\n\nTensor sort(Tensor a);\n",
    "/kernels/python/sgl_kernel/__init__.py": (
        "import torch\nfrom sgl_kernel.load import library\n\n_library = library()\nfrom sgl_kernel.sums import add, mul\nfrom sgl_kernel.sorts import sort\n"
        "from sgl_kernel.version import __version__\n"
    ),
    "/kernels/python/sgl_kernel/load.py": "def library():\n    return __import__('ctypes').CDLL('ops')\n",
    "/kernels/python/sgl_kernel/version.py": "__version__ = '1'\n",
    "/kernels/python/sgl_kernel/sums.py": (
        "import torch\n\n\ndef add(a):\n    return torch.ops.sgl_kernel.add.default(a)\n\n\ndef mul(a):\n    return torch.ops.sgl_kernel.mul.default(a)\n"
    ),
    "/kernels/python/sgl_kernel/sorts.py": "import torch\n\n\ndef sort(a):\n    return torch.ops.sgl_kernel.sort.default(a)\n",
}


class Generated:
    """What was made of a package, given as Python files, and the library."""

    def __init__(self, root: Path, package: Mapping[str, str], library: Mapping[str, str] = LIBRARY) -> None:
        self.tree = write_tree(root / "upstream", {**library, **package, "/LICENSE": "free\n"})
        self.out = root / "out"
        self.out.mkdir()
        self.rules: Ruleset = small_rules(root, root=RULES)
        self.analysis, self.emitted = decide_and_emit(self.tree, self.rules, self.out, 1, {}, Silent(), Cache.off())

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
