"""What the production build is for: the kernels of DeepSeek-R1 in NVFP4, and nothing of the removed systems."""

import json

import pytest

from shrinker.project import RULES_FOLDER
from tests.integration.shrunk import Shrunk, command
from tests.small import content, write

pytestmark = pytest.mark.network

KERNELS = 23
"""That SCOPE lists. Release 0.5.15.post1 has all of them under the names of the commit that SCOPE was written for; what
moved is the library, from `sgl_kernel` to `sglang.jit_kernel` for some."""


def test_every_kernel_is_reached_and_nothing_removed_is(narrower: Shrunk) -> None:
    done = command("kernels", "--out", str(narrower.out), "--reports", str(narrower.reports), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["kernels"]) == KERNELS
    for row in found["kernels"]:
        steps = row["steps"]
        assert steps, row["name"]
        assert steps[0]["src"] == "symbol:sglang.srt.models.deepseek_v2.DeepseekV3ForCausalLM"
        assert [step["src"] for step in steps[1:]] == [step["dst"] for step in steps[:-1]]
        assert all(step["line"] > 0 for step in steps if step["dst"].startswith("symbol:"))
    assert len(found["removed"]) > 40
    assert [row for row in found["removed"] if row["left"]] == []


def test_a_kernel_that_went_is_missed(narrower: Shrunk, tmp_path_factory: pytest.TempPathFactory) -> None:
    # The same command with a kernel of a removed system on the list.
    longer = b'"topk_sigmoid", "gptq_marlin_gemm",'
    texts = {path: text.replace(b'"topk_sigmoid",', longer) for path, text in content(RULES_FOLDER).items()}
    rules = write(tmp_path_factory.mktemp("rules"), texts)
    places = ("--out", str(narrower.out), "--reports", str(narrower.reports), "--rules", str(rules))
    done = command("kernels", *places, "--json")
    assert done.returncode == 1
    [lost] = [row["name"] for row in json.loads(done.stdout)["kernels"] if not row["steps"]]
    assert lost == "gptq_marlin_gemm"
