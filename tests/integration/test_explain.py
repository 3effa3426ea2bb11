"""Questions that people ask of the pinned release's tree, and what they are told."""

import time
from itertools import pairwise
from pathlib import Path

import pytest

from shrinker.program.answers import SavedRun, why
from shrinker.project import PACKAGE
from shrinker.report.explain import Explainer, Generated
from shrinker.source import open_upstream
from shrinker.values.errors import InputError
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

SECONDS = 0.5
"""For an answer about something that is there; `shrinker` itself starts in a third of a second."""

QUESTIONS = """
RadixCache.match_prefix | kept | radix_cache.py
RadixCache | kept | radix_cache.py
sglang.srt.mem_cache.radix_cache | kept | --import-->
sglang.srt.mem_cache.radix_cache.RadixCache.insert | kept | radix_cache.py
mem_cache/radix_cache.py | kept | --import-->
python/sglang/srt/managers/scheduler.py | kept | --import-->
Scheduler.event_loop_overlap | kept | scheduler.py
DeepseekV3ForCausalLM | kept | deepseek
sglang.srt.models.deepseek_v2 | kept | root
sglang.launch_server | kept | root
sglang.Engine | kept | root
server_args.py | kept | --
sglang.srt.layers.moe.topk | kept | topk.py
sgl_kernel.rmsnorm | kept | layernorm.py
rmsnorm | kept | sgl_kernel
torch | kept | torch
transformers | kept | transformers
sglang.srt.models.qwen3 | removed | remove-other-models
sglang.srt.models.llama | removed | remove-other-models
srt/models/gpt_oss.py | removed | remove-other-models
LlamaForCausalLM | removed | remove-other-models
Qwen3ForCausalLM | removed | remove-other-models
sglang.srt.hardware_backend.npu | removed | remove-npu
sglang.multimodal_gen | removed | remove-diffusion
sglang.eval.llama3_eval | removed | unreachable
mem_cache/common.py:181 | removed | platform-hip
managers/scheduler.py:300 | kept | srt/managers/scheduler.py
is_multimodal_chunked_prefill_supported | removed | unreachable
torch_npu | removed | absent-ascend
USE_ROCM | removed | no build defines it
__HIPCC__ | removed | macros-of-rocm
torchao | kept | torchao_utils
sglang.srt.layers.attention.aiter_backend | removed | remove-rocm
sglang.multimodal_gen.registry | removed | remove-diffusion
AscendAttnBackend | removed | remove-npu
DFlashWorkerV2 | removed | remove-other-drafts
lang.backend.openai.OpenAI.generate | removed | remove-vendor-clients
sentence-transformers | removed | import
peft | removed | import
srt/layers/moe | partly kept | files kept
srt/layers/moe/ | partly kept | files kept
python/sglang/srt/models | partly kept | remove-other-models
sglang.srt.models | partly kept | remove-other-models
sglang.srt.mem_cache.storage.simm | partly kept | file kept
srt/mem_cache/ | partly kept | files kept
multimodal_gen/ | removed | remove-diffusion
srt/hardware_backend/npu/ | removed | remove-npu
--enable-lora | kept | command line
--tp-size | kept | command line
--model-path | kept | command line
--mem-fraction-static | kept | command line
--attention-backend | refused | aiter
--device | refused | npu
--is-embedding | refused | any value
--dllm-algorithm | refused | any value
--enable-multi-layer-eagle | refused | refuse-multi-layer-eagle
--model-impl | refused | transformers
--quantization | refused | quark
SGLANG_USE_AITER | removed | switch-aiter
SGLANG_MOE_USE_AITER | removed | switch-aiter
SGLANG_EXTERNAL_MM_MODEL_ARCH | removed | no-foreign-multimodal-model
SGLANG_USE_RUNAI_MODEL_STREAMER | removed | remove-diffusion
SGLANG_DISABLE_MSA | removed | msa.py:227 has it
SGLANG_CPU_OMP_THREADS_BIND | removed | remove-diffusion
SGLANG_ENABLE_JIT_DEEPGEMM | kept | reads it
SGLANG_TORCH_PROFILER_DIR | kept | reads it
/v1/chat/completions | kept | http_server.py
/generate | kept | http_server.py
/health | kept | .py:
/v1/chat/completion | unknown | /v1/chat/completions
RadixCache.match_prefx | unknown | RadixCache.match_prefix
--enable-lorra | unknown | --enable-lora
switch-aitre | unknown | switch-aiter
DeepseekV3ForCausalML | unknown | DeepseekV3ForCausalLM
DeepGemmRunnerCore.run | kept | deep_gemm.py
torch.ops.sgl_kernel.rmsnorm | kept | sgl_kernel
sgl_kernel::rmsnorm | kept | sgl_kernel
removed_feature | removed | endpoint
the endpoint POST /api/generate is not part of this server (Ollama, removed by rule remove-ollama) | removed | remove-ollama
sglang.srt.layers.moe.topk.fused_topk_deepseek | kept | moe/topk.py
sglang.srt.layers.moe.topk.topk_softmax | kept, removed | imports it from sgl_kernel.topk_softmax
sglang.srt.layers.moe.topk.is_cuda | kept, removed | platform-cuda: `is_cuda` is removed
sglang.srt.layers.moe.topk.get_bool_env_var | kept, removed | unused: `get_bool_env_var` is removed
sglang.srt.layers.moe.topk.logging | removed | imports it from logging, outside of the tree
sglang.srt.utils.get_device_count | kept | sglang.srt.utils.common.get_device_count
sglang.srt.utils.is_npu | removed | a module that has sglang.srt.utils.common.is_npu no more
sglang.srt.managers.scheduler.is_cuda | kept | scheduler.py:249 imports it from sglang.srt.utils.is_cuda
managers.scheduler.Req.finished | kept | sglang.srt.managers.schedule_batch.Req.finished
sglang.srt.utils.get_devise_count | unknown | sglang.srt.utils.common.get_device_count
switch-aiter | rule | decisions
platform-hip | rule | decisions
remove-other-models | rule | files
"""


@pytest.fixture(scope="module")
def explainer(newest: Shrunk) -> Explainer:
    tree = open_upstream(f"release:{newest.release}", repository=PACKAGE.parent)

    def upstream(path: str) -> str:
        return tree.read(path).decode() if path in tree.by_path else ""

    return Explainer(Generated(newest.out, newest.reports / "graph.json", newest.out, upstream))


def wrong(explainer: Explainer) -> list[str]:
    """Questions that are answered otherwise."""
    found: list[str] = []
    for row in QUESTIONS.strip().splitlines():
        name, verdict, says = row.split(" | ")
        try:
            answers = explainer.explain(name)
        except InputError as error:
            told, text = {"unknown"}, error.message
        else:
            told = {answer.verdict for answer in answers}
            text = "\n".join(
                f"{a.subject}\n{a.upstream}\n{a.generated}\n{a.change}\n" + "\n".join(a.because) for a in answers
            )
            if not all(answer.change for answer in answers):
                found.append(f"{name}: nothing says what would change it")
        if told != set(verdict.split(", ")) or says not in text:
            found.append(f"{row}: {told}: {text}")
    return found


def test_questions(explainer: Explainer) -> None:
    assert len(QUESTIONS.strip().splitlines()) >= 70
    assert wrong(explainer) == []


def test_what_leaves_with_a_folder_a_file_a_rule_and_a_definition(explainer: Explainer) -> None:
    [folder] = explainer.retained("srt/lora/")
    assert folder.verdict == "leaves" and any("files, " in row for row in folder.because)
    assert any(row.startswith("in files that stay, ") for row in folder.because)
    [module] = explainer.retained("sglang.srt.layers.attention.dsa_backend")
    assert "dsa_topk_backend.py" in "\n".join(module.because)
    [rule] = explainer.retained("root-benchmarks")
    assert "bench_serving.py" in "\n".join(rule.because)
    [symbol] = explainer.retained("RadixCache")
    assert "SessionRadixCacheMixin" in "\n".join(symbol.because)
    with pytest.raises(InputError, match="not in the generated tree"):
        explainer.retained("sglang.srt.models.qwen3")


@pytest.mark.parametrize("name", ["DeepGemmRunnerCore.run", "DeepGemmRunnerCore", "RadixCache.match_prefix"])
def test_a_chain_begins_at_the_server_where_the_server_names_it(explainer: Explainer, name: str) -> None:
    for answer in explainer.explain(name):
        assert answer.because[0].startswith(
            ("root:root-launch-server ", "root:root-models ", "root:root-command-line ")
        )


def test_each_step_of_a_chain_begins_where_the_one_before_ended(newest: Shrunk) -> None:
    run = SavedRun(newest.reports / "graph.json")
    for name in ("sglang.srt.models.deepseek_v2", "python/sglang/launch_server.py", "sgl_kernel", "RadixCache.insert"):
        for chain in why(run, name):
            assert chain.steps[0].src.startswith("root:root-") and chain.steps[-1].dst == chain.target
            assert all(one.dst == other.src for one, other in pairwise(chain.steps))
            assert all(step.line > 0 and (newest.out / step.path).is_file() for step in chain.steps[1:] if step.path)


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
    for name in (
        "RadixCache.match_prefix",
        "sglang.srt.models.qwen3",
        "--enable-lora",
        "SGLANG_USE_AITER",
        "srt/layers/moe",
        "sglang.srt.layers.moe.topk.is_cuda",
        "sglang.srt.managers.scheduler.is_cuda",
    ):
        start = time.process_time()
        Explainer(Generated(newest.out, newest.reports / "graph.json", Path("tree"), lambda path: "")).explain(name)
        assert time.process_time() - start < SECONDS, name
