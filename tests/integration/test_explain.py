"""Questions that people ask of the pinned release's tree, and what they are told."""

import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from shrinker.program.answers import SavedRun, why
from shrinker.report.explain import Explainer, Generated
from shrinker.values.errors import InputError
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

QUESTIONS = Path(__file__).with_name("questions.txt").read_text("utf-8").splitlines()
"""Each with its verdict, and a text of its answer."""


@pytest.fixture(scope="module")
def explainer(newest: Shrunk) -> Explainer:
    tree = newest.upstream

    def upstream(path: str) -> str:
        return tree.read(path).decode() if path in tree.by_path else ""

    return Explainer(Generated(newest.reports / "graph.json", newest.out, newest.out, upstream))


def wrong(explainer: Explainer) -> list[str]:
    """Questions that are answered otherwise."""
    found: list[str] = []
    for row in QUESTIONS:
        name, verdict, says = row.split(" | ")
        try:
            answers = explainer.explain(name)
        except InputError as error:
            told, text = {"unknown"}, error.message
        else:
            told = {answer.verdict for answer in answers}
            text = "\n".join(
                f"{a.subject}\n{a.upstream}\n{a.generated}\n{a.change}\n" + "\n".join(a.because)
                for a in answers
            )
            if not all(answer.change for answer in answers):
                found.append(f"{name}: nothing says what would change it")
        if told != set(verdict.split(", ")) or says not in text:
            found.append(f"{row}: {told}: {text}")
    return found


def test_questions(explainer: Explainer) -> None:
    assert len(QUESTIONS) >= 70
    assert wrong(explainer) == []


def test_what_leaves_with_a_folder_a_file_a_rule_and_a_definition(explainer: Explainer) -> None:
    [folder] = explainer.retained("srt/lora/")
    assert folder.verdict == "leaves" and any("files, " in row for row in folder.because)
    assert any(row.startswith("in files that stay, ") for row in folder.because)
    [module] = explainer.retained("sglang.srt.layers.attention.dsa_backend")
    assert "dsa_topk_backend.py" in "\n".join(module.because)
    [rule] = explainer.retained("root-benchmarks")
    assert "bench_serving.py" in "\n".join(rule.because)
    [symbol] = explainer.retained("GrammarManager")
    assert "ReasonerGrammarObject" in "\n".join(symbol.because)
    with pytest.raises(InputError, match="not in the generated tree"):
        explainer.retained("sglang.srt.models.qwen3")


@pytest.mark.parametrize(
    "name", ["DeepGemmRunnerCore.run", "DeepGemmRunnerCore", "RadixCache.match_prefix"]
)
def test_a_chain_begins_at_the_server_where_the_server_names_it(
    explainer: Explainer, name: str
) -> None:
    for answer in explainer.explain(name):
        assert answer.because[0].startswith(
            ("root:root-launch-server ", "root:root-models ", "root:root-command-line ")
        )


def test_each_step_of_a_chain_begins_where_the_one_before_ended(newest: Shrunk) -> None:
    run = SavedRun(newest.reports / "graph.json")
    for name in (
        "sglang.srt.models.deepseek_v2",
        "python/sglang/launch_server.py",
        "sgl_kernel",
        "RadixCache.insert",
    ):
        for chain in why(run, name):
            assert (
                chain.steps[0].src.startswith("root:root-") and chain.steps[-1].dst == chain.target
            )
            assert all(one.dst == other.src for one, other in pairwise(chain.steps))
            assert all(
                step.line > 0 and (newest.out / step.path).is_file()
                for step in chain.steps[1:]
                if step.path
            )


def test_both_line_numbers_are_told(explainer: Explainer, newest: Shrunk) -> None:
    path = "python/sglang/srt/managers/scheduler.py"
    [answer] = explainer.explain("Scheduler.event_loop_overlap")
    line = int(answer.generated.rpartition(":")[2])
    text = (newest.out / path).read_text().splitlines()
    assert "def event_loop_overlap" in text[line - 1]
    [asked] = explainer.explain(f"{newest.out / path}:{line}")
    assert asked.subject == answer.subject
    upstream, _, at = asked.upstream.rpartition(":")
    assert upstream == path and int(at) >= line


def test_an_answer_takes_half_a_second(newest: Shrunk, explainer: Explainer) -> None:
    def answered(name: str) -> None:
        Explainer(
            Generated(newest.reports / "graph.json", newest.out, Path("tree"), lambda path: "")
        ).explain(name)

    def seconds(work: Callable[[str], object], *arguments: str) -> float:
        start = time.process_time()
        list(map(work, arguments))
        return time.process_time() - start

    saved = [(newest.reports / name).read_text() for name in ("graph.json", "symbols.json")]
    names = (
        "RadixCache.match_prefix sglang.srt.models.qwen3 --enable-lora SGLANG_USE_AITER "
        "srt/layers/moe"
    )
    for name in (
        f"{names} sglang.srt.layers.moe.topk.is_cuda sglang.srt.managers.scheduler.is_cuda".split()
    ):
        # To read what a run saved takes a tenth of a second on a quiet machine; one that others
        # use, too, is slow now and then.
        assert any(seconds(answered, name) < 4 * seconds(json.loads, *saved) for _ in range(5)), (
            name
        )
