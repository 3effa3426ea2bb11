"""CUDA graphs on the CPU: what is dispatched between begin and end is recorded, and done again at
each replay.

Atoms are the operators of PyTorch, the references of kernels and the starts of Triton kernels; what
runs inside one belongs to it. A replay writes the results into the tensors of the recording, whose
addresses are the graph's inputs and outputs, as on the device. Limit: a tensor that the recorded
program wrote to and read before on a second stream has its last value at each replay.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode_temporarily

_state = threading.local()


def recording() -> Any:
    """Return the graph that is being recorded in this thread, or None."""
    return getattr(_state, "graph", None)


def atom(function: Callable[..., Any], *, in_place: bool) -> Callable[..., Any]:
    """Return a function that a recorded graph holds as one step; `in_place`: its results are in its
    arguments, and a replay copies nothing.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        graph = recording()
        if graph is None:
            return function(*args, **kwargs)
        _state.graph = None
        try:
            with _pop_mode_temporarily():
                result = function(*args, **kwargs)
        finally:
            _state.graph = graph
        graph.add(function, args, kwargs, result, in_place or result is None)
        return result

    return call


def _tensors(tree: Any) -> list[Any]:
    return [
        leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)
    ]


class CUDAGraph(TorchDispatchMode):  # type: ignore[misc]
    """Stands for `torch.cuda.CUDAGraph`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.steps: list[tuple[Any, Any, Any, list[Any]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        _state.graph = None
        try:
            result = func(*args, **kwargs)
        finally:
            _state.graph = self
        # Views share memory with what is written again; a number read back is not part of a graph.
        if not getattr(func, "is_view", False) and func._schema.name != "aten::_local_scalar_dense":
            self.add(func, args, kwargs, result, func._schema.is_mutable)
        return result

    def add(self, function: Any, args: Any, kwargs: Any, result: Any, in_place: bool) -> None:
        """Record one step."""
        self.steps.append((function, args, kwargs, [] if in_place else _tensors(result)))

    def replay(self) -> None:
        """Do all steps again, on what their tensors hold now."""
        with torch.no_grad():
            for function, args, kwargs, results in self.steps:
                again = function(*args, **kwargs)
                for old, new in zip(results, _tensors(again) if results else (), strict=True):
                    if old.data_ptr() != new.data_ptr():
                        old.copy_(new)

    def reset(self) -> None:
        """Forget all steps."""
        self.steps = []

    def pool(self) -> tuple[int, int]:
        """Return the only pool of memory."""
        return (0, 0)

    def capture_begin(self, *args: Any, **kwargs: Any) -> None:
        """Record from here."""
        _state.graph = self
        self.__enter__()

    def capture_end(self) -> None:
        """The graph is whole."""
        self.__exit__(None, None, None)
        _state.graph = None

    def instantiate(self) -> None:
        """Nothing to do."""

    def raw_cuda_graph(self) -> int:
        """No handle."""
        return 0


@contextmanager
def capture(cuda_graph: CUDAGraph, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Stands for the context `torch.cuda.graph`."""
    cuda_graph.capture_begin()
    try:
        yield
    finally:
        cuda_graph.capture_end()


def answer_of_captures(runtime: Any) -> None:
    """Let a stub of CUDA's runtime say whether streams take part in a recording: all of them do,
    since they run in one order.
    """
    status = runtime.cudaStreamCaptureStatus

    def capture_info(stream: Any, *args: Any) -> tuple[Any, ...]:
        """Error, status, number, graph and what it waits for, of which upstream reads the first
        two.
        """
        said = (
            status.cudaStreamCaptureStatusActive
            if recording()
            else status.cudaStreamCaptureStatusNone
        )
        return runtime.cudaError_t.cudaSuccess, said, 0, None, None

    runtime.cudaStreamGetCaptureInfo = capture_info


def install() -> None:
    """Put graphs into `torch.cuda`."""
    cuda = torch.cuda
    cuda.CUDAGraph = cuda.graphs.CUDAGraph = CUDAGraph
    cuda.graph = cuda.graphs.graph = capture
    cuda.graph_pool_handle = cuda.graphs.graph_pool_handle = lambda: (0, 0)
    cuda.is_current_stream_capturing = lambda: recording() is not None
