"""Operators that are registered for CUDA run on the CPU, process groups over gloo where NCCL is asked for."""

from __future__ import annotations

from typing import Any

from equivalence.simulation.packages import PACKAGES


def _exists(torch: Any, name: str) -> bool:
    namespace, _, operator = name.partition("::")
    return hasattr(getattr(torch.ops, namespace), operator)


def install(torch: Any) -> None:
    """Redirect registrations, in `Library.impl` and `custom_op`, and process groups."""
    _install_groups()
    library = torch.library
    implement, custom = library.Library.impl, library.custom_op

    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **kwargs: Any) -> Any:
        if dispatch_key == "CUDA":
            name = op_name if isinstance(op_name, str) else op_name._schema.name
            name = name if "::" in name else f"{self.ns}::{name}"
            # An operator with both is right as it is.
            if torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU"):
                return None
            dispatch_key = "CPU"
        return implement(self, op_name, fn, dispatch_key, **kwargs)

    def custom_op(name: str, fn: Any = None, /, **kwargs: Any) -> Any:
        if kwargs.get("device_types") == "cuda":
            kwargs["device_types"] = "cpu"
        return custom(name, **kwargs) if fn is None else custom(name, fn, **kwargs)

    fake = library.register_fake

    def register_fake(op: Any, func: Any = None, /, **kwargs: Any) -> Any:
        """Shapes of an operator that a stub package would have registered say nothing to anyone."""
        if isinstance(op, str) and op.partition("::")[0] in PACKAGES and not _exists(torch, op):
            return func if func is not None else lambda function: function
        return fake(op, func, **kwargs) if func is not None else fake(op, **kwargs)

    library.register_fake = register_fake
    library.Library.impl = impl
    library.custom_op = custom_op


def _install_groups() -> None:
    """Device ids and NCCL's options mean nothing to gloo."""
    import torch.distributed as distributed

    initialise, new = distributed.init_process_group, distributed.new_group

    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device_id", None)
        kwargs.pop("pg_options", None)
        return initialise("gloo", *args, **kwargs)

    def new_group(
        ranks: Any = None, timeout: Any = None, backend: Any = None, pg_options: Any = None, **kwargs: Any
    ) -> Any:
        kwargs.pop("device_id", None)
        return new(ranks, timeout=timeout, backend="gloo", **kwargs)

    distributed.init_process_group = init_process_group
    distributed.new_group = new_group
    distributed.is_nccl_available = lambda: True
