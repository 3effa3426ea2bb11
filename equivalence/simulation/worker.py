"""One worker of upstream without a server: what upstream's own benchmark does before it loads a
model, whichever release it is of.
"""

import argparse
import inspect
from collections.abc import Sequence
from typing import Any

from sglang.srt import runtime_context
from sglang.srt.server_args import (
    ServerArgs,
    prepare_server_args,
    set_global_server_args_for_scheduler,
)

try:
    from sglang.benchmark import one_batch
except ImportError:
    from sglang import bench_one_batch as one_batch  # Where it was before release 0.5.12.

__all__ = ["accepted", "one_batch", "start"]

_EARLIER = {"--cuda-graph-bs-decode": "--cuda-graph-bs"}
"""Flag → its name in releases that do not have it by that name."""


def start(options: Sequence[str]) -> Any:
    """Make a server's options those of this process, the only rank of its groups; what upstream
    made of them.

    Newer releases publish them with the rank of the process, and settle then which kernels there
    are; older ones keep them in a global.
    """
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    known = parser._option_string_actions
    arguments = prepare_server_args(
        [word if word in known else _EARLIER.get(word, word) for word in options]
    )
    publish = getattr(runtime_context, "publish", None)
    if publish is None:
        set_global_server_args_for_scheduler(arguments)
        return arguments
    ranks = getattr(runtime_context, "SpawnRanks", None)
    given = {"role": "scheduler", "ranks": None if ranks is None else ranks(world_rank=0, gpu_id=0)}
    publish(arguments, **accepted(publish, given))
    if settle := getattr(one_batch, "_init_process_global_configs", None):
        settle()
    return arguments


def accepted(function: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Give those of the values that the function takes: they come and go between releases."""
    return {
        name: value
        for name, value in values.items()
        if name in inspect.signature(function).parameters
    }
