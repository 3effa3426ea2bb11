"""The small program of which is asked why something is kept or not, and the run that is saved of it."""

import json
from pathlib import Path

from shrinker.pipeline import Run, analyse
from shrinker.program.answers import SavedRun
from shrinker.program.saved import graph_data
from tests.fold.programs import make_tree
from tests.program.symbols.support import PLATFORM, small_rules
from tests.small import Silent, read_archive

FILES = read_archive(Path(__file__).with_suffix(".txtar"))


def saved_run(folder: Path) -> SavedRun:
    """What `why` and `why-not` read of a run, written into the folder."""
    decided = analyse(Run(make_tree(folder / "up", FILES), small_rules(folder, PLATFORM), 1, Silent()))
    graph, symbols = graph_data(decided.graph, decided.folded), decided.symbols
    found = {"graph": graph, "symbols": symbols.data, "symbol_edges": symbols.edges}
    for name, data in found.items():
        (folder / f"{name}.json").write_text(json.dumps(data))
    return SavedRun(folder / "graph.json")
