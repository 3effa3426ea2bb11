"""What a server's log says of the choices it made: class, backends, caches, warnings of fallbacks."""

import re
from typing import Any

from equivalence.serving.record import VOLATILE, replaced

_CLASS = re.compile(r"Load weight end\..*?\btype=([A-Za-z0-9_]+)")
_STAMP = re.compile(r"^\[?\d{4}-\d\d-\d\d[ T][\d:,.]+(?P<rank>( [A-Z]+\d+)*)\]?\s*")
_BEHIND = re.compile(r"(?<=[^\n])(?=\[\d{4}-\d\d-\d\d [\d:,.]+(?: [A-Z]+\d+)*\] )")
_CHOICES = re.compile(
    r"backend|Using .* as|fusion|CUDA graph|cuda graph|KV Cache is allocated|max_total_num_tokens|Tree cache|"
    r"chunked prefix|DeepGEMM|quantiz|[Ss]peculative|MoE|dtype"
)
_NOISE = re.compile(
    r"^frame #|server_args=|Prefill batch|Decode batch|avail mem=|it/s|s/it|%\||HTTP/1\.1|UserWarning|FutureWarning|"
    r"DeprecationWarning|warnings\.warn|deprecated"
)


def loaded_classes(log: str) -> list[str]:
    """Names of the model classes that were loaded, in order (a draft model comes second), each once."""
    return list(dict.fromkeys(_CLASS.findall(log)))


def choices(log: str) -> list[str]:
    """The lines that speak of a choice, without stamps, sizes and places, sorted, each once."""
    found = set()
    # A line of a progress bar has no end of its own: what another process says next stands behind it.
    for line in _BEHIND.sub(r"\n", log).splitlines():
        text = _STAMP.sub(r"\g<rank> ", line).strip()
        if len(text) <= 500 and _CHOICES.search(text) and not _NOISE.search(text):
            found.add(replaced(text, VOLATILE["logs"]))
    return sorted(found)


def errors(log: str) -> list[str]:
    """The last lines of tracebacks, each once: what broke, where anything did."""
    pattern = re.compile(r"^(?:\[[^\]]*\] )?([A-Za-z_.]*(?:Error|Exception|Removed\w*)\b.*)$", re.MULTILINE)
    return list(dict.fromkeys(match[:300] for match in pattern.findall(log)))


def settings(info: Any) -> dict[str, Any]:
    """The resolved arguments of `/server_info`, without what is volatile."""
    volatile = VOLATILE["settings"]
    return {key: info[key] for key in sorted(info) if key not in volatile} if isinstance(info, dict) else {}
