"""Decide a whole tree in one process, and parse the same files before and after it; prints a JSON
document.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

from shrinker.cli.options import LineProgress
from shrinker.pipeline import Run, analyse
from shrinker.ruleset import load_profile
from shrinker.ruleset.match import any_module_matches
from shrinker.source import open_upstream
from shrinker.values.upstream import modules_of

_CHECKOUT = Path(__file__).resolve().parents[2]


def parsing(root: Path, paths: Iterable[str]) -> float:
    """Processor time in seconds: of one process it is the wall time of a core that does nothing
    else.
    """
    start = time.process_time()
    for path in paths:
        try:
            ast.parse((root / path).read_bytes())
        except SyntaxError:
            continue
    return time.process_time() - start


def main() -> None:
    """Command line: UPSTREAM --profile NAME --cache FOLDER."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("upstream")
    parser.add_argument("--profile", default="deepseek")
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    gc.disable()
    warnings.simplefilter("ignore")
    rules = load_profile(arguments.profile)
    tree = open_upstream(arguments.upstream, cache=arguments.cache, repository=_CHECKOUT)
    # What a rule removes is not read.
    removed = [(rule.modules, rule.unless) for rule in rules.removes]
    read = [
        path for name, path in modules_of(tree.by_path).items() if not _is_removed(name, removed)
    ]
    before = parsing(tree.root, read)
    start = time.process_time()
    decided = analyse(Run(tree, rules, 1, LineProgress()))
    deciding = time.process_time() - start
    # A machine is not equally fast all the time.
    after = parsing(tree.root, read)
    kept = parsing(tree.root, decided.folded)
    print(
        json.dumps(
            {
                "files": len(read),
                "kept": len(decided.folded),
                "seconds": {
                    "deciding": deciding,
                    "ast.parse": (before + after) / 2,
                    "ast.parse, kept files": kept,
                },
            }
        )
    )


def _is_removed(name: str, removed: list[tuple[tuple[str, ...], tuple[str, ...]]]) -> bool:
    return any(any_module_matches(m, name) and not any_module_matches(u, name) for m, u in removed)


if __name__ == "__main__":
    main()
