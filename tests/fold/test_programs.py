"""Every archive of tests/programs: what must not change first, then what folding makes of the rest."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from shrinker.values.form import digest
from tests.fold.programs import PROGRAMS, fold_tree, make_tree, program_rules, read_program, rewrite

ARCHIVES = sorted(PROGRAMS.glob("*.txtar"), key=lambda p: (not p.name.startswith("noop_"), p.name))


def test_there_are_programs() -> None:
    assert len(ARCHIVES) > 15


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda p: p.stem)
def test_program(archive: Path, tmp_path: Path) -> None:
    program = read_program(archive)
    tree = make_tree(tmp_path, program.files)
    folded, rescued = fold_tree(tree, program_rules(), rounds=program.rounds)
    assert rescued == tuple(sorted(program.rescued))
    for path, text in program.files.items():
        if path not in folded:
            assert "/npu/" in path or not path.endswith(".py"), f"{path} was not folded"
            continue
        emitted = rewrite(tree, folded[path])
        assert emitted == program.wanted.get(path, text), path
        if folded[path].edits:
            assert digest(ast.parse(emitted.encode())) == folded[path].digest, "decided tree and emitted tree differ"
