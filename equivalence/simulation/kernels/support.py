"""What kernel packages are asked besides kernels: settings that change nothing in what is
computed.
"""

import contextlib
import importlib
from typing import Any

from equivalence.simulation.kernels.registry import kernel
from equivalence.simulation.settings import current

_DEEP_GEMM = "DeepGEMM (deepseek-ai), csrc/apis/runtime.hpp"


@kernel("deep_gemm", "set_pdl", "set_num_sms", "set_tc_util", source=_DEEP_GEMM)
def set_anything(*args: Any) -> None:
    """A matter of speed."""


@kernel("deep_gemm", source=_DEEP_GEMM)
def get_num_sms() -> int:
    """Multiprocessors of a Hopper device."""
    return 132


@kernel("deep_gemm", source=_DEEP_GEMM)
def get_mk_alignment_for_contiguous_layout() -> int:
    """Return rows that each expert's block is padded to."""
    return 128


@kernel("sgl_kernel.utils", source="sgl-kernel/python/sgl_kernel/utils.py")
def is_arch_support_pdl() -> bool:
    """Programmatic dependent launch: from Hopper on."""
    return current().capability[0] >= 9


@kernel("flashinfer.autotuner", source="flashinfer/autotuner.py")
def autotune(*args: Any, **kwargs: Any) -> contextlib.AbstractContextManager[None]:
    """Within it, kernels look for their fastest configuration: a matter of speed."""
    return contextlib.nullcontext()


@kernel("flashinfer.comm.mnnvl", source="flashinfer/comm/mnnvl.py")
def is_mnnvl_fabric_supported(device: Any) -> bool:
    """Tell whether devices of several hosts share memory.

    Raises RuntimeError, as on a machine without a driver; upstream then reduces without what needs
    it.
    """
    raise RuntimeError(f"no driver could be asked for a fabric of device {device}")


@kernel("pynvml", "nvmlInit", "nvmlShutdown", source="nvidia-ml-py/pynvml.py")
def load_management_library() -> None:
    """Load the library that knows of links between devices, or let go of it.
    Raises pynvml.NVMLError, as on a machine without a driver."""
    raise importlib.import_module("pynvml").NVMLError("NVML Shared Library Not Found")
