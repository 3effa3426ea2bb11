"""What the production build is for: the kernels of DeepSeek-R1 in NVFP4, and nothing of the removed
systems.
"""

import ast
import json
import re
from pathlib import Path

import pytest

from shrinker.project import RULES_FOLDER
from tests.integration.shrunk import Shrunk, command
from tests.small import content, write

pytestmark = pytest.mark.network

KERNELS = 27
"""23 that SCOPE lists, under the names of the commit that SCOPE was written for, and four that
later releases run instead.
"""


def said(folder: Path, names: frozenset[str]) -> set[str]:
    """Those of the names that Python code below a folder says, in code or in a string that is no
    docstring.
    """
    words = re.compile(r"\b(?:" + "|".join(names) + r")\b")
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        text = path.read_text("utf-8")
        if not words.search(text):
            continue
        tree = ast.parse(text)
        # Unparsed, so that no comment counts.
        for node in ast.walk(tree):
            match node:
                case ast.Expr(value=ast.Constant(value=str()) as docstring):
                    docstring.value = ""
        found.update(words.findall(ast.unparse(tree)))
    return found


def test_every_kernel_is_reached_and_nothing_removed_is(narrower: Shrunk) -> None:
    done = command(
        "kernels", "--out", str(narrower.out), "--reports", str(narrower.reports), "--json"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["kernels"]) == KERNELS
    names = frozenset(row["name"] for row in found["kernels"])
    # Later releases have some of them no more; that is told apart from what the tree lacks.
    gone = names - said(narrower.trees[0] / "sglang", names)
    assert frozenset(found["not_in_upstream"]) == gone and "bmm_fp8" not in gone
    for row in found["kernels"]:
        steps = row["steps"]
        assert bool(steps) is (row["name"] not in gone), row["name"]
        if not steps:
            continue
        assert steps[0]["src"] == "symbol:sglang.srt.models.deepseek_v2.DeepseekV3ForCausalLM"
        assert [step["src"] for step in steps[1:]] == [step["dst"] for step in steps[:-1]]
        assert all(step["line"] > 0 for step in steps if step["dst"].startswith("symbol:"))
    assert len(found["removed"]) > 40
    assert [row for row in found["removed"] if row["left"]] == []


def test_a_kernel_that_went_is_missed(
    narrower: Shrunk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # The same command with a kernel of a removed system on the list.
    longer = b'"topk_sigmoid", "gptq_marlin_gemm",'
    texts = {
        path: text.replace(b'"topk_sigmoid",', longer)
        for path, text in content(RULES_FOLDER).items()
    }
    rules = write(tmp_path_factory.mktemp("rules"), texts)
    places = ("--out", str(narrower.out), "--reports", str(narrower.reports), "--rules", str(rules))
    done = command("kernels", *places, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    lost = {row["name"] for row in found["kernels"] if not row["steps"]}
    assert lost - {*found["not_in_upstream"]} == {"gptq_marlin_gemm"}
