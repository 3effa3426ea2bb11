"""What every saved search must hold to, whatever the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from shrinker.pipeline import analyse
from shrinker.pipeline.analysis import Analysis
from shrinker.program.symbols.program import Program
from shrinker.program.symbols.saved import symbol_data
from shrinker.program.symbols.why import Symbols
from tests.fold.programs import make_tree, read_program
from tests.pipeline.silent import Silent
from tests.program.symbols.support import ARCHIVES, small_rules

_CIRCLE = {
    # The nearest way to the class is the name of its own member, which is there only once the class is.
    "python/sglang/launch_server.py": "import sys\n\nfrom sglang.far import one\n\nif __name__ == '__main__':\n    for x in sys.argv:\n        x.go()\n    one()\n",
    "python/sglang/far.py": """\
from sglang.made import Made


def one():
    return two()


def two():
    return three()


def three():
    return four()


def four():
    return five()


def five():
    return six()


def six():
    return Made
""",
    "python/sglang/made.py": "class Made:\n    def go(self):\n        return Made()\n",
}


def _saved(folder: Path, files: dict[str, str]) -> tuple[Analysis, Symbols]:
    decided = analyse(make_tree(folder / "up", files), small_rules(folder), 1, {}, Silent())
    assert decided.symbols is not None
    data, edges = symbol_data(decided.symbols, decided.graph, decided.written)
    return decided, Symbols(data, lambda: edges)


@pytest.mark.parametrize("archive", [*ARCHIVES, None], ids=lambda p: p.stem if p else "circle")
def test_live_symbols_are_of_kept_files_and_no_chain_goes_in_a_circle(archive: Path | None, tmp_path: Path) -> None:
    files = _CIRCLE if archive is None else read_program(archive).files
    decided, symbols = _saved(tmp_path, {p: t for p, t in files.items() if p.endswith(".py")})
    for number, kind, name, path in symbols.units():
        if not symbols.is_live(number):
            continue
        assert path in decided.graph.kept, name
        [chain, *_] = symbols.explain(number)
        assert chain.steps and chain.steps[0].src.startswith("root:"), name
        if kind == "class":
            members = [step.dst for step in chain.steps if step.dst.startswith(f"symbol:{name}.")]
            assert not members, f"{name} is explained by {members}"


def test_the_order_in_which_modules_were_folded_is_none_of_the_search(tmp_path: Path) -> None:
    """Workers are done in any order, and who names something first is who is said to name it."""
    [archive] = [path for path in ARCHIVES if path.stem == "reexports"]
    tree = make_tree(tmp_path / "up", {p: t for p, t in read_program(archive).files.items() if p.endswith(".py")})
    folded = analyse(tree, small_rules(tmp_path), 1, {}, Silent()).folded.values()
    orders = [list(Program(modules, ()).modules) for modules in (folded, reversed(list(folded)))]
    assert len(orders[0]) > 2 and orders[0] == orders[1]
