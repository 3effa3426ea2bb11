"""A profile of another family is one file of rules beside the shipped ones of the platform."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shrinker.project import RULES_FOLDER
from tests.cli.small import World
from tests.profiles.miniature import FILES
from tests.small import write

SHIPPED = ("platform/cuda", "platform/domains")
OWN = Path(__file__).with_name("llama.toml")
PACKAGE = "python/sglang/srt"


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The miniature upstream, shrunk by the profile."""
    folder = tmp_path_factory.mktemp("llama")
    write(folder / "upstream", FILES)
    included = ", ".join(f'"{name}"' for name in (*SHIPPED, "llama"))
    files = {f"{name}.toml": (RULES_FOLDER / f"{name}.toml").read_text("utf-8") for name in SHIPPED}
    files["llama.toml"] = OWN.read_text("utf-8")
    files["profiles/llama.toml"] = f'description = "Llama on NVIDIA GPUs."\ninclude = [{included}]\n'
    write(folder / "rules", files)
    world = World(folder, profile="llama")
    done = world.shrink()
    assert done.code == 0, done.err
    return world


def serve(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sglang.launch_server", *arguments]
    environment = os.environ | {"PYTHONPATH": str(tree / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=tree, env=environment, timeout=60)


def test_the_tree_keeps_its_family_and_drops_the_other(llama: World) -> None:
    kept = {p.relative_to(llama.out).as_posix() for p in llama.out.rglob("*.py")}
    gone = {path for path in FILES if path.endswith(".py")} - kept
    assert gone == {
        f"{PACKAGE}/configs/deepseek_v2.py",
        f"{PACKAGE}/models/deepseek_v2.py",
        f"{PACKAGE}/layers/latent.py",
        f"{PACKAGE}/layers/attention/mla_backend.py",
        # By the rules of the platform, which leave nothing that asks for it.
        f"{PACKAGE}/utils.py",
        f"{PACKAGE}/layers/attention/ascend_backend.py",
    }
    assert kept - FILES.keys() == {"python/sglang/removed_features.py"}


def test_what_named_the_other_family_goes(llama: World) -> None:
    for path in (f"{PACKAGE}/configs/table.py", f"{PACKAGE}/layers/attention/__init__.py", f"{PACKAGE}/server_args.py"):
        text = (llama.out / path).read_text().lower()
        for word in ("deepseek", "mla", "ascend", "npu"):
            assert word not in text, (path, word)


def test_untouched_files_stay_byte_for_byte(llama: World) -> None:
    for path in (f"{PACKAGE}/models/registry.py", f"{PACKAGE}/models/llama.py", f"{PACKAGE}/configs/llama.py"):
        assert (llama.out / path).read_text() == FILES[path]


def test_the_family_is_served_as_by_upstream(llama: World) -> None:
    for arguments in ((), ("llama", "triton")):
        # Upstream would ask a library for the platform, which a test does not have.
        done = serve(llama.out, *arguments)
        assert (done.returncode, done.stdout) == (0, "llama with triton\n"), done.stderr
    before = serve(llama.upstream, "llama", "triton")
    assert (before.returncode, before.stdout) == (0, "llama with triton\n"), before.stderr


def test_the_other_family_is_refused(llama: World) -> None:
    code = """
from sglang.srt.model_loader.utils import get_model_architecture


class Config:
    architectures = ["DeepseekV2ForCausalLM"]


get_model_architecture(Config())
"""
    environment = os.environ | {"PYTHONPATH": str(llama.out / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode != 0
    for word in ("models other than Llama", "refuse-architectures", "Serve a Llama model"):
        assert word in done.stderr
    assert "StopIteration" not in done.stderr and "ImportError" not in done.stderr
