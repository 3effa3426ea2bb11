"""The script: what is asked of a server, in which order, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MODEL = "served"


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes:
        name: what records and reports call it; no two of a script have the same.
        path: path of the address.
        body: what is sent as JSON; None sends nothing.
        method: HTTP method.
        needs: what the server must be started with for it: `grammar`, `tools`, `reasoning`, `long` (room for a prompt
            of some thousand tokens), `chunks` (a prompt that is longer than a chunk of prefill), `administration` (a server
            that nobody else uses), `processors` (`--enable-custom-logit-processor`), `adapters` (an adapter that
            is called `first`), `experts` (a recorder of which ones are asked).
        generates: whether it makes tokens (slow in a simulation).
    """

    name: str
    path: str
    body: Mapping[str, Any] | None = None
    method: str = "POST"
    needs: frozenset[str] = frozenset()
    generates: bool = True


@dataclass(frozen=True)
class Scale:
    """How much is asked.

    Attributes:
        tokens: tokens that each generating request makes, at most.
        prompt: tokens of the long prompt, where `long` is among the features.
        features: of what requests need, what this server has.
        leave_out: names of requests that this cell does not send.
        checkpoint: folder of the checkpoint that is served, to load its weights again; empty: that is not asked.
        other: folder of another checkpoint of the same shape, whose weights are loaded before; empty: that is not asked.
        adapter: folder of an adapter, to load it under a second name.
    """

    tokens: int = 16
    prompt: int = 3000
    features: frozenset[str] = field(default_factory=frozenset)
    leave_out: frozenset[str] = frozenset()
    checkpoint: str = ""
    other: str = ""
    adapter: str = ""


def script(scale: Scale) -> tuple[Request, ...]:
    """The requests that a server of these features is asked, in order: requests for one thing leave nothing in the
    caches that later ones do not expect, since all servers get the same ones."""
    from equivalence.serving.requests import requests

    asked = requests(scale, _MODEL)
    return tuple(r for r in asked if r.needs <= scale.features and r.name not in scale.leave_out)
