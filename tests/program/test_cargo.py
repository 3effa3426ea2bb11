"""Targets of a crate whose source went."""

from __future__ import annotations

import tomllib
from pathlib import Path

from shrinker.emit.writer import without_lines
from shrinker.program.native.cargo import cargo_cuts
from shrinker.values.graph import Graph, Removal
from tests.program.small_tree import write_tree

CRATE = """\
[package]
name = "gateway"

[[bin]]
name = "gateway"
path = "src/main.rs"

[dev-dependencies]
criterion = "0.5"

[[bench]]
name = "by_path"
harness = false
path = "benches/first.rs"
[[bench]]
name = "by_name"
harness = false

# Of the next one.
[[bench]]
name = "stays"

[profile.release]
lto = "fat"
"""


def _cut(root: Path, crate: str) -> str:
    files = {f"/g/{path}": "" for path in ("src/main.rs", "benches/first.rs", "benches/by_name.rs", "benches/stays.rs")}
    tree = write_tree(root, {**files, "/g/Cargo.toml": crate})
    gone = ("g/benches/first.rs", "g/benches/by_name.rs")
    kept = {path: "" for path in tree.by_path if path not in gone}
    graph = Graph((), kept, {path: Removal("remove-benches", "") for path in gone}, ())
    cuts = cargo_cuts(tree, graph)
    return without_lines("g/Cargo.toml", crate.encode(), cuts["g/Cargo.toml"]).decode() if cuts else crate


def test_targets_go_with_their_sources(tmp_path: Path) -> None:
    cut = _cut(tmp_path, CRATE)
    before = tomllib.loads(CRATE)
    assert tomllib.loads(cut) == {**before, "bench": [{"name": "stays"}]}
    assert "# Of the next one.\n[[bench]]" in cut


def test_what_cannot_be_told_stays(tmp_path: Path) -> None:
    odd = CRATE.replace('[[bench]]\nname = "by_name"', '[[ bench ]]\nname = "by_name"')
    assert _cut(tmp_path, odd) == odd
    assert _cut(tmp_path / "broken", "[[bench\n") == "[[bench\n"
