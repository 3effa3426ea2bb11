"""Process groups over gloo where NCCL is asked for."""

from __future__ import annotations

from typing import Any


def install(torch: Any) -> None:
    """Redirect `init_process_group` and `new_group`; device ids and NCCL's options mean nothing to gloo."""
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
