"""The fixture that builds the small trees."""

from pathlib import Path

import pytest

from tests.check.trees import Build, Case, Files, manifest_of, upstream_tree, what_is_left, write_below


@pytest.fixture
def case(tmp_path: Path) -> Build:
    """`case(upstream, generated)`: paths are below the package, or below the tree's root after ``//``.

    A generated text of ``"="`` is upstream's. Where no second argument is given, the marked lines of upstream are gone.
    """

    def build(upstream: Files, generated: Files | None = None) -> Case:
        generated = what_is_left(upstream) if generated is None else generated
        source, out = tmp_path / "upstream", tmp_path / "out"
        write_below(source, upstream)
        write_below(out, {path: upstream[path] if text == "=" else text for path, text in generated.items()})
        tree = upstream_tree(source)
        return Case(tree, out, manifest_of(tree, out))

    return build
