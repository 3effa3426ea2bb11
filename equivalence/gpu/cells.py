"""The cells: one configuration of the server each, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

COMMON = (
    "--random-seed 1 --context-length 8192 --max-running-requests 16 --max-total-tokens 65536 "
    "--mem-fraction-static 0.5 --cuda-graph-max-bs 8"
)
"""What every server gets. The size of the token pool is fixed, since it would follow the memory that happens to be free
and with it the schedule; two servers may share a GPU."""

_PARSERS = "--tool-call-parser deepseekv3 --reasoning-parser deepseek-r1"
_ALL = frozenset({"grammar", "tools", "reasoning", "long"})
_NO_DEEP_GEMM = {"SGLANG_ENABLE_JIT_DEEPGEMM": "0"}
_GRAPHS = "--cuda-graph-max-bs 16"
"""CUDA graphs for all requests that may run: without one, the host's processor decides."""
_EAGLE = "--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
_TRANSFER = "--disaggregation-transfer-backend mooncake"
_PD = (f"--disaggregation-mode prefill {_TRANSFER}", f"--disaggregation-mode decode {_TRANSFER}")
_PD_NEEDS = ("mooncake", "sglang_router")


@dataclass(frozen=True)
class Cell:
    """One configuration.

    Attributes:
        name: what its file and its row are called.
        checkpoint: name of the checkpoint's folder.
        arguments: of the server, on top of `COMMON`.
        environment: variables for the server. In both `{checkpoints}` is the checkpoints' folder, `{own}` one of the server alone.
        features: what requests may need (`serving.script.Request.needs`).
        gpus: how many GPUs one server takes.
        nodes: server processes, one a "node", each with its share of the GPUs.
        roles: further arguments of each server process, where these divide the work and a router stands before them.
        other: name of a second checkpoint of the same shape, whose weights are loaded and taken back.
        needs: modules without which it cannot run.
        tokens: tokens a generating request makes.
        kind: `answers`: both trees are asked the script. The others are times, taken by turns: `serving` of servers
            under load (`load`), `one_batch` and `offline` of upstream's benchmarks of these names, `startup` of starting a
            server, `import` of importing its modules.
        why: what the cell is for.
    """

    name: str
    checkpoint: str
    arguments: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    features: frozenset[str] = _ALL
    gpus: int = 1
    nodes: int = 1
    roles: tuple[str, ...] = ()
    other: str = ""
    needs: tuple[str, ...] = ()
    tokens: int = 32
    kind: Literal["answers", "serving", "one_batch", "offline", "startup", "import"] = "answers"
    why: str = ""

    def server_arguments(self) -> list[str]:
        """All arguments but model, host and port."""
        return [*COMMON.split(), *self.arguments.split()]


def _cells() -> Sequence[Cell]:
    one = [
        Cell("triton-bf16", "v3-bf16", f"--attention-backend triton {_PARSERS}", why="Triton MLA, CUDA graphs"),
        Cell(
            "triton-bf16-eager",
            "v3-bf16",
            f"--attention-backend triton --disable-cuda-graph {_PARSERS}",
            why="Triton MLA without CUDA graphs",
        ),
        Cell(
            "triton-fp8",
            "v3-fp8",
            f"--attention-backend triton {_PARSERS}",
            _NO_DEEP_GEMM,
            why="FP8 block quantization (128 by 128), CUDA graphs",
        ),
        Cell(
            "triton-fp8-eager",
            "v3-fp8",
            f"--attention-backend triton --disable-cuda-graph {_PARSERS}",
            _NO_DEEP_GEMM,
            why="FP8 without CUDA graphs",
        ),
        Cell("flashmla-bf16", "v3-bf16", f"--attention-backend flashmla --page-size 64 {_PARSERS}", why="FlashMLA"),
        Cell(
            "flashmla-fp8",
            "v3-fp8",
            f"--attention-backend flashmla --page-size 64 {_PARSERS}",
            _NO_DEEP_GEMM,
            why="FlashMLA with FP8 weights",
        ),
        Cell("flashinfer-bf16", "v3-bf16", f"--attention-backend flashinfer {_PARSERS}", why="FlashInfer MLA"),
        Cell(
            "flashinfer-bf16-eager",
            "v3-bf16",
            f"--attention-backend flashinfer --disable-cuda-graph {_PARSERS}",
            why="FlashInfer MLA without CUDA graphs",
        ),
        Cell(
            "flashinfer-fp8",
            "v3-fp8",
            f"--attention-backend flashinfer {_PARSERS}",
            _NO_DEEP_GEMM,
            why="FlashInfer MLA with FP8 weights",
        ),
        Cell(
            "mtp-triton-bf16",
            "v3-bf16",
            f"--attention-backend triton {_EAGLE} {_PARSERS}",
            why="speculative decoding with the model's own next-token layer",
        ),
        Cell(
            "chunked-radix",
            "v3-bf16",
            f"--attention-backend triton --chunked-prefill-size 512 {_PARSERS}",
            why="a long prompt in chunks, then its prefix from the radix cache",
        ),
        Cell(
            "v32-bf16-kv",
            "v32-bf16",
            f"--kv-cache-dtype bfloat16 --dsa-prefill-backend flashmla_sparse --dsa-decode-backend flashmla_sparse {_PARSERS}",
            {"SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD": "0", "SGLANG_JIT_DEEPGEMM_PRECOMPILE": "0"},
            why="V3.2 sparse attention, bf16 cache",
        ),
        Cell(
            "v32-fp8-kv",
            "v32-bf16",
            f"--kv-cache-dtype fp8_e4m3 --dsa-prefill-backend flashmla_kv --dsa-decode-backend flashmla_kv {_PARSERS}",
            {"SGLANG_DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD": "0", "SGLANG_JIT_DEEPGEMM_PRECOMPILE": "0"},
            why="V3.2 sparse attention, FP8 cache",
        ),
        Cell(
            "v2-lite", "v2-lite", f"--attention-backend triton {_PARSERS}", why="V2-Lite: no query compression, softmax"
        ),
        Cell(
            "deepgemm-fp8",
            "v3-fp8",
            f"--attention-backend triton {_PARSERS}",
            {"SGLANG_JIT_DEEPGEMM_PRECOMPILE": "0"},
            why="FP8 with DeepGEMM, compiled when first used",
        ),
        Cell(
            "deterministic",
            "v3-bf16",
            f"--attention-backend triton --enable-deterministic-inference {_PARSERS}",
            why="batch-invariant kernels",
        ),
        Cell(
            "fa3-bf16", "v3-bf16", f"--attention-backend fa3 {_PARSERS}", why="FlashAttention 3, the default on Hopper"
        ),
    ]
    tp = "--attention-backend triton --tp-size 2"
    two = [
        Cell("tp2", "v3-bf16", f"{tp} {_PARSERS}", gpus=2, why="tensor parallel"),
        Cell("tp2-ep2", "v3-bf16", f"{tp} --ep-size 2 {_PARSERS}", gpus=2, why="tensor and expert parallel"),
        Cell(
            "dp2-attention", "v3-bf16", f"{tp} --dp-size 2 --enable-dp-attention {_PARSERS}", gpus=2, why="DP attention"
        ),
        Cell("pp2", "v3-bf16", f"--attention-backend triton --pp-size 2 {_PARSERS}", gpus=2, why="pipeline parallel"),
        Cell("nodes2-tp2", "v3-bf16", f"{tp} {_PARSERS}", gpus=2, nodes=2, why="two nodes of one GPU each"),
        Cell(
            "tp2-mtp-fp8", "v3-fp8", f"{tp} {_EAGLE} {_PARSERS}", _NO_DEEP_GEMM, gpus=2, why="TP, MTP and FP8 at once"
        ),
    ]
    kept = [
        Cell(
            "hicache-file",
            "v3-bf16",
            "--attention-backend triton --enable-hierarchical-cache --hicache-storage-backend file --page-size 64 "
            f"--hicache-storage-prefetch-policy wait_complete {_PARSERS}",
            {"SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR": "{own}"},
            why="hierarchical cache with its storage in files: what is flushed comes back from there",
        ),
        Cell(
            "lora",
            "v3-bf16",
            "--attention-backend triton --lora-paths first={checkpoints}/v3-bf16-adapter --max-lora-rank 8 "
            f"--max-loras-per-batch 2 {_PARSERS}",
            features=_ALL | {"adapters"},
            why="LoRA on the projections of the attention: with the adapter, without it, loaded again",
        ),
        Cell(
            "processors",
            "v3-bf16",
            f"--attention-backend triton --enable-custom-logit-processor {_PARSERS}",
            features=_ALL | {"processors"},
            why="logit processors that a request brings along",
        ),
        Cell(
            "weights",
            "v3-bf16",
            f"--attention-backend triton {_PARSERS}",
            features=_ALL | {"administration"},
            other="v3-bf16-other",
            why="other weights from disk and from a tensor, and back; sessions, pauses, scores",
        ),
        Cell(
            "experts",
            "v3-bf16",
            f"--attention-backend triton --expert-distribution-recorder-mode stat {_PARSERS}",
            {"SGLANG_EXPERT_DISTRIBUTION_RECORDER_DIR": "{own}"},
            features=_ALL | {"experts"},
            why="the recorder of which experts were asked",
        ),
        Cell(
            "tp2-ep2-eplb",
            "v3-bf16",
            f"{tp} --ep-size 2 --enable-eplb --ep-num-redundant-experts 2 --eplb-rebalance-num-iterations 200 {_PARSERS}",
            {"SGLANG_EXPERT_DISTRIBUTION_RECORDER_DIR": "{own}"},
            gpus=2,
            why="experts that move to where they are asked",
        ),
        Cell(
            "dp2-overlap",
            "v3-bf16",
            f"{tp} --dp-size 2 --enable-dp-attention --enable-two-batch-overlap {_PARSERS}",
            gpus=2,
            why="two-batch overlap",
        ),
        Cell(
            "pd-1-1",
            "v3-bf16",
            "--attention-backend triton",
            features=frozenset({"long"}),
            gpus=2,
            roles=_PD,
            needs=_PD_NEEDS,
            why="prefill and decode apart, a GPU each",
        ),
    ]
    wide = "--attention-backend triton --tp-size 8"
    many = [
        Cell("tp4", "v3-bf16", f"--attention-backend triton --tp-size 4 {_PARSERS}", gpus=4, why="tensor parallel"),
        Cell("tp8", "v3-bf16", f"{wide} {_PARSERS}", gpus=8, why="tensor parallel"),
        Cell(
            "ep8-deepep",
            "v3-bf16",
            f"{wide} --ep-size 8 --moe-a2a-backend deepep --deepep-mode normal --disable-cuda-graph {_PARSERS}",
            gpus=8,
            needs=("deep_ep",),
            why="expert parallel with DeepEP",
        ),
        Cell(
            "dp8-attention",
            "v3-bf16",
            f"{wide} --dp-size 8 --enable-dp-attention {_PARSERS}",
            gpus=8,
            why="DP attention",
        ),
        Cell(
            "tp4-pp2",
            "v3-bf16",
            f"--attention-backend triton --tp-size 4 --pp-size 2 {_PARSERS}",
            gpus=8,
            why="tensor and pipeline parallel",
        ),
        Cell(
            "pd-4-4",
            "v3-bf16",
            "--attention-backend triton --tp-size 4",
            features=frozenset({"long"}),
            gpus=8,
            roles=_PD,
            needs=_PD_NEEDS,
            why="prefill and decode apart, four GPUs each",
        ),
    ]
    speed = [
        Cell("import", "v3-bf16", kind="import", why="time and memory of importing the server"),
        Cell(
            "startup",
            "v3-bf16",
            "--attention-backend triton",
            kind="startup",
            why="time until the server is ready, and its host memory",
        ),
        Cell(
            "serving-triton-bf16",
            "v3-bf16",
            f"--attention-backend triton {_GRAPHS}",
            kind="serving",
            why="servers under load: 1, 8 and 16 requests at a time",
        ),
        Cell(
            "serving-triton-fp8",
            "v3-fp8",
            f"--attention-backend triton {_GRAPHS}",
            _NO_DEEP_GEMM,
            kind="serving",
            why="the same with FP8 weights",
        ),
        Cell("one-batch", "v3-bf16", "--attention-backend triton", kind="one_batch", why="bench_one_batch"),
        Cell("offline", "v3-bf16", "--attention-backend triton", kind="offline", why="bench_offline_throughput"),
    ]
    return (*one, *two, *kept, *many, *speed)


CELLS: Mapping[str, Cell] = {cell.name: cell for cell in _cells()}
"""All cells by name, in the order in which they are run."""
