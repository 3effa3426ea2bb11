"""The fixture that builds the small trees."""

from pathlib import Path

import pytest

from tests.check.trees import LEFT, Build, Case, Files, manifest_of, what_is_left
from tests.program.small_tree import write_below, write_tree


@pytest.fixture
def case(tmp_path: Path) -> Build:
    """`case(upstream, generated)`: paths are below the package, or below the tree's root after
    ``//``.

    A generated text of ``"="`` is upstream's. Where no second argument is given, the marked lines
    of upstream are gone.
    """

    def build(upstream: Files, generated: Files | None = None) -> Case:
        generated = what_is_left(upstream) if generated is None else what_is_left(generated, LEFT)
        upstream = what_is_left(upstream, LEFT)
        ours = {path: upstream[path] if text == "=" else text for path, text in generated.items()}
        tree, out = write_tree(tmp_path / "upstream", upstream), write_below(tmp_path / "out", ours)
        return Case(tree, out, manifest_of(tree, out))

    return build
