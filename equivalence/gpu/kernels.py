"""The GPU kernels that a request launches, by torch's profiler through the server's own endpoints."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from pathlib import Path

from equivalence.serving import Request
from equivalence.serving.client import send

_ASK = {
    "input_ids": list(range(100, 140)),
    "sampling_params": {"temperature": 0, "max_new_tokens": 6, "ignore_eos": True},
}


def profile(address: str, folder: Path, seconds: float) -> dict[str, int]:
    """Kernel name → how often one request of 40 prompt tokens and 6 new ones launched it, over all ranks.

    Empty where the server could not be profiled.
    """
    folder.mkdir(parents=True, exist_ok=True)
    limit = time.monotonic() + seconds
    start = {"output_dir": str(folder), "activities": ["CPU", "GPU"], "with_stack": False, "profile_id": "shrinker"}
    exchange = (
        Request("flush", "/flush_cache"),
        Request("start", "/start_profile", start),
        Request("ask", "/generate", _ASK),
        Request("stop", "/stop_profile"),
    )
    for request in exchange:
        if send(address, request, max(1.0, limit - time.monotonic())).status != 200:
            return {}
    while time.monotonic() < limit and not list(folder.glob("*.trace.json.gz")):
        time.sleep(0.2)
    # The file is there before it is complete.
    while True:
        try:
            return read_traces(folder)
        except (OSError, EOFError, ValueError):
            if time.monotonic() > limit:
                return {}
            time.sleep(0.3)


def read_traces(folder: Path) -> dict[str, int]:
    """Kernel name → number of launches, summed over the traces of a folder."""
    found: Counter[str] = Counter()
    for path in sorted(folder.glob("*.trace.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            events = json.load(file).get("traceEvents", [])
        found.update(event["name"] for event in events if event.get("cat") == "kernel")
    return dict(sorted(found.items()))
