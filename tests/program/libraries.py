"""A small kernel library beside a small package, generated whole."""

from collections.abc import Mapping
from pathlib import Path

from shrinker.pipeline import Run
from shrinker.pipeline.generation import decide_and_emit
from shrinker.program.saved import graph_data
from shrinker.program.why import Files
from shrinker.ruleset import Ruleset
from tests.program.small_tree import write_tree
from tests.program.symbols.support import small_rules
from tests.small import Silent, read_archive, rule

RULES = (
    rule("root", "root-launch", modules=["sglang.main"])
    + rule("root", "root-kernels", paths=["kernels"])
    + rule("sibling_package", "kernels", folder="kernels/python/sgl_kernel", sources="kernels")
)
LIBRARY = read_archive(Path(__file__).with_suffix(".txtar"))


class Generated:
    """What was made of a package, given as Python files, and the library."""

    def __init__(self, root: Path, package: Mapping[str, str], library: Mapping[str, str] = LIBRARY) -> None:
        self.tree = write_tree(root / "upstream", {**package, **library, "/LICENSE": "free\n"})
        self.out = root / "out"
        self.out.mkdir()
        self.rules: Ruleset = small_rules(root, root=RULES)
        self.analysis, self.emitted = decide_and_emit(Run(self.tree, self.rules, 1, Silent()), self.out)

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
