"""`torch.cuda` of a device that is not there: capability, properties, streams and events; its
operators and process groups.

Operators that are registered for CUDA run on the CPU, process groups over gloo where NCCL is asked
for.
"""

import inspect
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, Self

import torch
from torch import distributed

from equivalence.simulation.packages import PACKAGES
from equivalence.simulation.settings import Settings, current

_CUDA = "13.0"
_NAMES = {9: ("NVIDIA H200", 132), 10: ("NVIDIA B200", 148)}
_NOTHING = (
    "init _lazy_init _lazy_call synchronize empty_cache ipc_collect reset_peak_memory_stats "
    "manual_seed manual_seed_all seed "
    "seed_all set_stream reset_max_memory_allocated set_rng_state"
)
_ALWAYS = (
    (None, _NOTHING),
    (
        0,
        (
            "memory_allocated memory_reserved max_memory_allocated max_memory_reserved "
            "current_blas_handle"
        ),
    ),
    (True, "is_available is_initialized can_device_access_peer is_bf16_supported"),
    (False, "_is_in_bad_fork is_current_stream_capturing"),
)
"""What functions of `torch.cuda` answer whatever they are asked."""


def properties(settings: Settings) -> SimpleNamespace:
    """Return what `get_device_properties` says: figures of the real chips where code reads them."""
    major, minor = settings.capability
    name, processors = _NAMES.get(major, ("NVIDIA simulated", 132))
    chip = {"name": name, "major": major, "minor": minor, "multi_processor_count": processors}
    threads = {
        "max_threads_per_multi_processor": 2048,
        "max_threads_per_block": 1024,
        "warp_size": 32,
    }
    memory = {
        "total_memory": settings.memory,
        "L2_cache_size": 62914560,
        "shared_memory_per_multiprocessor": 233472,
    }
    memory |= {"shared_memory_per_block": 49152, "shared_memory_per_block_optin": 232448}
    return SimpleNamespace(
        **chip, **threads, **memory, is_integrated=0, uuid="simulated", gcnArchName=""
    )


class Event(torch.cpu.Event):  # type: ignore[misc]
    """An event of a stream on which everything is done at once."""

    _time = 0.0

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def record(self, stream: Any = None) -> None:
        """Note the time."""
        self._time = time.perf_counter()

    def elapsed_time(self, other: Self) -> float:
        """Milliseconds between two events."""
        return (other._time - self._time) * 1e3


class Stream(torch.cpu.Stream):  # type: ignore[misc]
    """One of several streams, all of which run in the order of the program."""

    _count = 0

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        Stream._count += 1
        self.stream_id = self.cuda_stream = Stream._count
        self.device, self.device_index = torch.device("cuda", 0), 0
        self.priority = priority
        self._before: list[Stream] = []

    def synchronize(self) -> None:
        """Everything is done."""

    def query(self) -> bool:
        """Everything is done."""
        return True

    def record_event(self, event: Event | None = None) -> Event:
        """Return an event that has happened."""
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Self:
        self._before.append(_current_stream())
        _current.stream = self
        return self

    def __exit__(self, *exception: Any) -> None:
        _current.stream = self._before.pop()


_current = threading.local()
_default = Stream()
_default.cuda_stream = 0


def _current_stream(device: Any = None) -> Any:
    return getattr(_current, "stream", None) or _default


class _DeviceContext(nullcontext[None]):
    idx = 0

    def __init__(self, device: Any = None) -> None:
        super().__init__()


def install() -> None:
    """Replace what `torch.cuda` knows of devices, streams and events."""
    settings = current()
    _install_operators()
    _install_groups()
    cuda = torch.cuda
    torch.version.cuda = _CUDA
    seen = properties(settings)
    chosen = [0]

    def set_device(device: Any) -> None:
        chosen[0] = device if isinstance(device, int) else (torch.device(device).index or 0)

    for answer, names in _ALWAYS:
        for name in names.split():
            setattr(cuda, name, _always(answer))
    cuda.device_count = torch._C._cuda_getDeviceCount = _always(settings.devices)
    torch._C._cuda_isCurrentStreamCapturing = _always(False)
    cuda.current_device, cuda.set_device = lambda: chosen[0], set_device
    cuda.get_device_capability = _always(settings.capability)
    cuda.get_device_properties, cuda.get_device_name = _always(seen), _always(seen.name)
    cuda.get_arch_list = lambda: ["sm_90", "sm_100"]
    cuda.mem_get_info = _always((settings.memory, settings.memory))
    cuda.memory_stats = lambda device=None: {}
    cuda.get_rng_state = lambda device=None: torch.get_rng_state()
    cuda.get_rng_state_all = list
    cuda._get_nvml_device_index = _always(0)
    # Memory of the host is there for the device by itself, and nobody profiles it.
    unasked = ["cudaHostRegister", "cudaHostUnregister", "cudaProfilerStart", "cudaProfilerStop"]
    cuda.cudart = _always(SimpleNamespace(**dict.fromkeys(unasked, _always(0))))
    of_another = torch.get_device_module
    torch.get_device_module = lambda device=None: cuda if device is None else of_another(device)
    cuda.device = _DeviceContext
    cuda.Stream = cuda.streams.Stream = cuda.ExternalStream = torch.Stream = Stream
    cuda.Event = cuda.streams.Event = torch.Event = Event
    cuda.stream = cuda.StreamContext = lambda stream: nullcontext() if stream is None else stream
    cuda.current_stream, cuda.default_stream = _current_stream, lambda device=None: _default
    if hasattr(torch, "accelerator"):
        torch.accelerator.current_stream = _current_stream
        torch.accelerator.synchronize = _always(None)
    torch._C._cuda_getCurrentRawStream = _always(0)


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: answer


def _install_operators() -> None:
    """Redirect registrations, in `Library.impl` and `custom_op`."""
    library = torch.library
    implement, custom, fake = library.Library.impl, library.custom_op, library.register_fake

    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **kwargs: Any) -> Any:
        if dispatch_key == "CUDA":
            name = op_name if isinstance(op_name, str) else op_name._schema.name
            # An operator with both is right as it is.
            if torch._C._dispatch_has_kernel_for_dispatch_key(
                name if "::" in name else f"{self.ns}::{name}", "CPU"
            ):
                return None
            dispatch_key = "CPU"
        return implement(self, op_name, fn, dispatch_key, **kwargs)

    def custom_op(name: str, fn: Any = None, /, **kwargs: Any) -> Any:
        if kwargs.get("device_types") == "cuda":
            kwargs["device_types"] = "cpu"
        return custom(name, **kwargs) if fn is None else custom(name, fn, **kwargs)

    def register_fake(op: Any, func: Any = None, /, **kwargs: Any) -> Any:
        """Shapes of an operator that a stub package would have registered say nothing to anyone."""
        package, _, name = op.partition("::") if isinstance(op, str) else ("", "", "")
        if package in PACKAGES and not hasattr(getattr(torch.ops, package), name):
            return func if func is not None else lambda function: function
        return fake(op, func, **kwargs) if func is not None else fake(op, **kwargs)

    library.register_fake, library.Library.impl, library.custom_op = register_fake, impl, custom_op


def _install_groups() -> None:
    def over_gloo(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs).arguments
            # Device ids and NCCL's options mean nothing to it.
            return function(**{**given, "backend": "gloo", "device_id": None, "pg_options": None})

        return call

    distributed.init_process_group = over_gloo(distributed.init_process_group)
    distributed.new_group = over_gloo(distributed.new_group)
    distributed.is_nccl_available = _always(True)
