"""What the widest profile lacks because upstream's server ends with an error, too: with the packages that the default release names."""

import subprocess
from pathlib import Path

import pytest

from equivalence.serving.server import NotReady
from equivalence.simulation.environment import simulation
from tests.integration.served import of_both, serving
from tests.integration.shrunk import Shrunk
from tests.simulations import simulation_python

pytestmark = pytest.mark.network

READ = "from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES as known; print(*known)"


def test_no_file_in_gguf_is_read_for_a_deepseek_model(newest: Shrunk) -> None:
    simulation_python()
    made = simulation(newest.upstream.declared.dependencies)
    told = subprocess.run(
        [made.python, "-c", READ], env=dict(made.variables(newest.trees[0])), capture_output=True, text=True, check=True
    )
    known = told.stdout.split()
    assert "llama" in known and not [name for name in known if "deepseek" in name]


@pytest.mark.parametrize(
    ("options", "upstream", "rule"),
    [
        ("--quantization gguf --load-format dummy", "has no attribute 'weight'", "refuse-gguf"),
        ("--load-format gguf", "is not a file", "refuse-load-format-gguf"),
    ],
)
def test_neither_tree_serves_gguf(newest: Shrunk, tmp_path: Path, options: str, upstream: str, rule: str) -> None:
    def ended(tree: Path, folder: Path) -> str:
        with pytest.raises(NotReady), serving(tree, folder, options):
            pass
        return (folder / "log.txt").read_text("utf-8", "replace")

    said = of_both(newest, tmp_path, ended)
    assert upstream in said["upstream"] and "removed by rule" not in said["upstream"]
    assert f"removed by rule {rule})" in said["generated"]
