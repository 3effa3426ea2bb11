"""Fold every module of a folder by shrinker's facts, in place, without reachability; prints a JSON
document.

With `--facts` only what the list of predicates says is known; else all rules of the profile.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path

from shrinker.emit.package import HEADER
from shrinker.emit.rewrite import rewrite_modules
from shrinker.facts.environment import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.ruleset import Ruleset, load_profile
from shrinker.source import open_upstream
from shrinker.values.upstream import modules_of

_CHECKOUT = Path(__file__).resolve().parents[2]


def listed(rules: Ruleset) -> Ruleset:
    """Only the facts on calls and names: what the other tools are told too."""
    facts = tuple(
        fact.model_copy(update={"attributes": (), "environment": ()})
        for fact in rules.facts
        if fact.calls or fact.names
    )
    return Ruleset(facts=facts, profile=rules.profile, digest="")


def main() -> None:
    """Command line: FOLDER --profile NAME --jobs N --cache FOLDER [--facts] [--dry]."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds python/sglang")
    parser.add_argument("--profile", default="deepseek")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument(
        "--facts", action="store_true", help="the list of predicates, not all rules"
    )
    parser.add_argument("--dry", action="store_true", help="decide, and write nothing")
    arguments = parser.parse_args()
    gc.disable()
    seconds: dict[str, float] = {}
    clock = time.perf_counter()

    def took(name: str) -> None:
        nonlocal clock
        seconds[name] = time.perf_counter() - clock
        clock = time.perf_counter()

    rules = load_profile(arguments.profile)
    rules = listed(rules) if arguments.facts else rules
    tree = open_upstream(f"path:{arguments.folder}", cache=arguments.cache, repository=_CHECKOUT)
    took("source")
    environment = build_environment(tree, rules, jobs=arguments.jobs)
    took("facts")
    paths = sorted(
        path for module, path in modules_of(tree.by_path).items() if module in environment.outlines
    )
    with FoldEngine(tree, environment, jobs=arguments.jobs) as engine:
        modules = list(engine.fold(paths))
        while engine.rescue(paths):
            modules = list(engine.fold(paths))
    took("fold")
    if not arguments.dry:
        for path, content in rewrite_modules((m for m in modules if m.edits), tree.read).items():
            (arguments.folder / path).write_bytes(content.replace(f"{HEADER}\n".encode(), b"", 1))
        took("write")
    print(
        json.dumps(
            {
                "files": len(paths),
                "decisions": sum(len(m.decisions) for m in modules),
                "seconds": seconds,
            }
        )
    )


if __name__ == "__main__":
    main()
