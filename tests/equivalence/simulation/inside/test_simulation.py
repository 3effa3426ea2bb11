"""Device, stubs, graphs, kernels that are built, and Triton's arithmetic; the simulation is in
place here.
"""

import importlib
import importlib.metadata
import subprocess
import types

import pytest
import torch
import triton
import triton.language as tl

from equivalence.simulation import calls, inside
from equivalence.simulation.calls import SimulationError
from equivalence.simulation.kernels import registry
from equivalence.simulation.settings import current


def test_the_device_is_there_and_its_tensors_are_the_cpus() -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.get_device_capability() == current().capability
    assert torch.zeros(2, device="cuda").device.type == "cpu"
    assert torch.ones(2).to("cuda:0").is_cuda
    with torch.device("cuda"):
        assert torch.empty(3).device.type == "cpu"
    with torch.device("meta"):
        assert not torch.empty(3).is_cuda
    assert torch.nn.Linear(2, 2).to("cuda").weight.device.type == "cpu"
    with torch.cuda.stream(torch.cuda.Stream()) as stream:
        assert torch.cuda.current_stream() is stream
    assert torch.cuda.current_stream() is torch.cuda.default_stream()
    assert torch.get_device_module() is torch.get_device_module("cuda") is torch.cuda
    assert torch.cuda.cudart().cudaHostRegister(0, 8, 0) == 0


def test_operators_for_cuda_run() -> None:
    library = torch.library.Library("simulated_test", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CUDA")
    assert torch.ops.simulated_test.twice(torch.ones(2)).tolist() == [2, 2]


def test_shapes_of_operators_of_stub_packages_are_not_asked_for() -> None:
    @torch.library.register_fake("sgl_kernel::surely_not_an_operator")
    def shapes(x):
        return x

    with pytest.raises(RuntimeError, match="does not exist"):
        torch.library.register_fake("simulated_test::surely_not_an_operator", shapes)


def test_what_has_no_reference_imports_and_raises() -> None:
    import flashinfer
    from flashinfer.decode import SomethingError, something

    assert issubclass(SomethingError, Exception)

    class Derived(flashinfer.Something):
        pass

    assert isinstance(Derived(1), Derived)
    assert flashinfer.jit(test_operators_for_cuda_run) is test_operators_for_cuda_run
    with pytest.raises(
        SimulationError, match=r"flashinfer\.decode\.something was called.*write a reference"
    ):
        something(1, 2)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("surely_not_a_package")


def test_what_a_driver_would_be_asked_fails_as_without_one() -> None:
    pynvml = importlib.import_module("pynvml")
    with pytest.raises(pynvml.NVMLError):
        pynvml.nvmlInit()
    with pytest.raises(RuntimeError, match="no driver"):
        importlib.import_module("flashinfer.comm.mnnvl").is_mnnvl_fabric_supported(0)


def test_names_of_exceptions_are_exceptions() -> None:
    pynvml = importlib.import_module("pynvml")

    for name in ("NVMLError", "NVMLError_NotSupported", "OutOfResourcesException"):
        assert issubclass(getattr(pynvml, name), Exception)
    assert not issubclass(pynvml.nvmlErrorString, Exception)


def test_versions_of_stubs() -> None:
    import sgl_kernel

    assert importlib.metadata.version("sglang-kernel") == sgl_kernel.__version__
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("surely-not-a-package")


def test_a_reference_that_upstream_calls_otherwise_says_so() -> None:
    import sgl_kernel

    x = torch.randn(2, 8)
    assert sgl_kernel.silu_and_mul(x).shape == (2, 4)
    with pytest.raises(SimulationError, match=r"elementwise\.py:\d+ expects .*activation\.cu"):
        sgl_kernel.silu_and_mul(x, None, None)


def test_a_kernel_that_is_built_needs_its_source_and_is_called_as_its_reference(tmp_path) -> None:
    (source := tmp_path / "activation.cuh").write_text("")
    exports = [
        f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, (ActivationKernel<bf16_t>::run));"
        for name in ("run_activation", "other")
    ]
    text = "\n".join([f'#include "{source}"', *exports])
    good = registry.load_inline("sgl_kernel_jit_activation_bf16", cuda_sources=[text])
    x, out = torch.randn(2, 8), torch.empty(2, 4)
    good.run_activation(x, out, "silu")
    assert out.abs().sum() > 0
    with pytest.raises(SimulationError, match=r"elementwise\.py:\d+ expects .*activation\.cuh"):
        good.run_activation(x, out, "silu", True)
    with pytest.raises(
        SimulationError, match=r"kernel jit:activation_bf16\.other was called.*activation\.cuh"
    ):
        good.other(x)
    source.unlink()
    with pytest.raises(FileNotFoundError):
        registry.load_inline("sgl_kernel_jit_x", cuda_sources=[text])
    with pytest.raises(AttributeError, match="exports run_activation, other"):
        _ = good.something_else


def test_a_kernel_whose_build_upstream_writes_is_that_of_its_sources(tmp_path) -> None:
    (source := tmp_path / "activation.cuh").write_text("")
    export = "TVM_FFI_DLL_EXPORT_TYPED_FUNC(run_activation, (ActivationKernel<bf16_t>::run));"
    (tmp_path / "cuda.cu").write_text(f'#include "{source}"\n{export}\n')
    name = "sgl_kernel_jit_activation_bf16"
    rules = [
        "rule compile",
        "  command = $nvcc $in",
        "build cuda_0.o: compile cuda.cu",
        f"build {name}.so: link cuda_0.o",
    ]
    (tmp_path / "build.ninja").write_text("\n".join([*rules, f"default {name}.so", ""]))
    subprocess.run(["ninja", "-f", "build.ninja"], cwd=tmp_path, check=True)
    assert str(source) in (tmp_path / "cuda_0.o.d").read_text()
    built = importlib.import_module("tvm_ffi").load_module(str(tmp_path / f"{name}.so"))
    x, out = torch.randn(2, 8), torch.empty(2, 4)
    built.run_activation(x, out, "silu")
    assert out.abs().sum() > 0
    (tmp_path / "cuda.cu").unlink()
    assert subprocess.run(["ninja"], cwd=tmp_path, capture_output=True).returncode != 0


@pytest.mark.parametrize("word", ["", "const int64_t reserved_skip_index"])
def test_of_two_references_that_of_the_sources_word_is_meant(tmp_path, word) -> None:
    (source := tmp_path / "kvcache.cuh").write_text(word)
    text = (
        f'#include "{source}"\n'
        "TVM_FFI_DLL_EXPORT_TYPED_FUNC(store_cache, (StoreKVCacheKernel::run));"
    )
    built = registry.load_inline("sgl_kernel_jit_kvcache_16", cuda_sources=[text])
    k, cache, slots = torch.ones(2, 4), torch.zeros(3, 4), torch.tensor([0, 2])
    built.store_cache(k, k, cache, cache.clone(), slots, *((3, 0) if word else (1, 3)))
    assert cache.any(-1).tolist() == [not word, False, True]


def test_compiled_modules_make_their_tensors_on_the_cpu() -> None:
    class Compiled:
        __text_signature__ = "(device=...)"

        def __call__(self, **given):
            return given

    class Other(Compiled):
        __text_signature__ = "(devices=...)"

    module = types.ModuleType("sglang.compiled")
    vars(module).update(Core=Compiled(), Other=Other())
    inside._move_to_host(module)
    assert vars(module)["Core"](device="cuda:0") == {"device": "cpu"}
    assert vars(module)["Other"](device="cuda:0") == {"device": "cuda:0"}


def test_a_recording_is_seen_by_who_asks_the_runtime() -> None:
    # As `from cuda.bindings import runtime` finds it: an attribute of the package.
    runtime = importlib.import_module("cuda.bindings").runtime

    def recorded() -> bool:
        error, status, *_ = runtime.cudaStreamGetCaptureInfo(0)
        assert error == runtime.cudaError_t.cudaSuccess
        return bool(status == runtime.cudaStreamCaptureStatus.cudaStreamCaptureStatusActive)

    assert not recorded()
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        assert recorded()
    assert not recorded()


def test_a_module_is_told_without_the_hash_of_its_sources(monkeypatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(calls, "record", lambda kind, name: told.append(name))
    registry.load_inline("sgl_kernel_jit_activation_bf16_0123456789abcdef")
    assert told == ["sgl_kernel_jit_activation_bf16"]


def test_a_graph_replays_on_new_input() -> None:
    reference = registry.counted(registry.REFERENCES["sgl_kernel"]["silu_and_mul"])
    x = torch.randn(2, 8)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        assert torch.cuda.is_current_stream_capturing()
        y = reference(x * 2) + 1
    assert not torch.cuda.is_current_stream_capturing()
    kept = y
    x.copy_(torch.randn(2, 8))
    graph.replay()
    gate, up = (x.double() * 2).chunk(2, -1)
    assert torch.allclose(kept.double(), gate * torch.sigmoid(gate) * up + 1, atol=1e-5)


@triton.jit
def _arithmetic(x, y, out, dots, n: tl.constexpr):
    i = tl.arange(0, n)
    a = tl.load(x + i[:, None] * n + i[None, :])
    b = tl.load(y + i[:, None] * n + i[None, :])
    tl.store(out + i[:, None] * n + i[None, :], a * b + a)
    tl.store(dots + i[:, None] * n + i[None, :], tl.dot(a, b))


def test_triton_computes_in_bfloat16_as_torch_does() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(16, 16).bfloat16(), torch.randn(16, 16).bfloat16()
    out, dots = torch.empty_like(x), torch.empty(16, 16)
    _arithmetic[(1,)](x, y, out, dots, 16)
    assert torch.equal(out, x * y + x)
    assert torch.allclose(dots.double(), x.double() @ y.double(), atol=1e-4)


@triton.jit
def _next(x):
    return x + 1


@triton.jit
def _count(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, _next(tl.load(x + i)) + tl.cdiv(n, n) - 1)


def test_integers_overflow_as_on_a_device_within_functions_that_a_kernel_calls() -> None:
    x = torch.tensor([0, 2**31 - 1, -(2**31), -1], dtype=torch.int32)
    out = torch.empty_like(x)
    for _ in range(2):
        _count[(1,)](x, out, 4)
        assert torch.equal(out, x + 1)


@triton.jit
def _narrow(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.load(x + i).to(tl.float8e4nv))


def test_triton_rounds_to_float8_and_saturates() -> None:
    torch.manual_seed(0)
    x = torch.cat([torch.randn(62) * 20, torch.tensor([1e6, -1e6])])
    out = torch.empty(64, dtype=torch.float8_e4m3fn)
    _narrow[(1,)](x, out, 64)
    assert torch.equal(out.float(), x.clamp(-448, 448).to(torch.float8_e4m3fn).float())


def test_extensions_are_not_built_but_need_their_sources(tmp_path) -> None:
    from torch.utils import cpp_extension

    source = tmp_path / "a.cpp"
    source.write_text("")
    module = cpp_extension.load("some_extension", [str(source)])
    with pytest.raises(SimulationError, match=r"some_extension\.run was called"):
        module.run()
    with pytest.raises(FileNotFoundError, match="some_extension"):
        cpp_extension.load("some_extension", sources=[str(tmp_path / "b.cpp")])


def test_a_grammars_mask_finds_the_logits_on_the_device() -> None:
    from types import ModuleType

    from equivalence.simulation import tensors

    class Backend:
        def apply_vocab_mask(self, logits, vocab_mask):
            assert logits.device.type == "cuda"
            logits.masked_fill_(vocab_mask, 0)

    module = ModuleType("backend")
    module.Backend = Backend  # type: ignore[attr-defined]
    tensors.locate(module)
    logits = torch.ones(3)
    Backend().apply_vocab_mask(logits, vocab_mask=torch.tensor([True, False, True]))
    assert logits.tolist() == [0, 1, 0]
    assert logits.device.type == "cpu"


def test_what_transformers_finds_in_its_files_is_found_once(tmp_path) -> None:
    from transformers.utils.import_utils import define_import_structure

    (file := tmp_path / "one.py").write_text('__all__ = ["One"]\n')
    found = define_import_structure(str(tmp_path), "models")
    assert "One" in str(found)
    file.unlink()
    # Another text for the same place: transformers itself remembers what it was asked.
    assert define_import_structure(f"{tmp_path}/", "models") == found
