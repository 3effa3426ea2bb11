"""What the levels model, server and trace run, as `scenarios.toml` declares it."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from equivalence.checkpoints.weights import configuration, small

ARCHITECTURE = "hf_config.architectures"
"""Name under which an architecture is refused."""
_RUN = (
    "--context-length 256 --max-total-tokens 512 --max-running-requests 4 --disable-radix-cache "
    "--sampling-backend pytorch --random-seed 1 --trust-remote-code"
)


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    capability: tuple[int, int] = (9, 0)


class Configuration(_Declared):
    """A published model as the server would build it."""

    published: str
    options: tuple[str, ...] = ()
    draft: bool = False
    """The MTP layer of the model instead of the model."""
    load: str = ""
    """``fp8`` or ``bf16``: the names of the published checkpoint are loaded, too."""
    files: Mapping[str, Any] = {}
    """Further files of the checkpoint's folder, as JSON."""

    @property
    def asks(self) -> tuple[str, ...]:
        """The options, and the architecture: what a profile may refuse."""
        return (*self.options, ARCHITECTURE, configuration(self.published)["architectures"][0])

    def write(self, folder: Path) -> Path:
        """The folder of a checkpoint without weights."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in {"config.json": configuration(self.published), **self.files}.items():
            (folder / name).write_text(json.dumps(content, indent=1, sort_keys=True), "utf-8")
        return folder


class Run(_Declared):
    """A tiny checkpoint and how it is computed."""

    shape: Mapping[str, Any] = {}
    attention: str = "triton"
    graphs: bool = False
    chosen: tuple[str, ...] = ()
    """Options that upstream chooses by itself: where a profile refuses them, another one takes over."""

    @property
    def options(self) -> tuple[str, ...]:
        """Of the server."""
        attention = ["--attention-backend", self.attention] if self.attention else []
        graphs = "--cuda-graph-bs 1 2" if self.graphs else "--disable-cuda-graph"
        return (*_RUN.split(), *attention, *graphs.split())

    @property
    def asks(self) -> tuple[str, ...]:
        """The options, and the architecture: what a profile may refuse."""
        return (*self.options, *self.chosen, ARCHITECTURE, small(**self.shape)["architectures"][0])


class Scenario(_Declared):
    """A tiny checkpoint, how it is served, and what is asked."""

    shape: Mapping[str, Any] = {}
    options: str = ""
    """Beside those of all."""
    whole: bool = False
    """The whole script, and what the OpenAI client asks; else ids and logprobs, more than once, streamed."""
    fields: bool = False
    """Every field of every request that the server's own document of its interface speaks of (`serving.fields`), too."""
    devices: int = 1
    features: frozenset[str] = frozenset()
    """What this server has beside that of all (`serving.Request.needs`)."""
    needed: bool = True
    """Whether upstream's server has to start."""

    @property
    def asks(self) -> tuple[str, ...]:
        """The options, and the architecture: what a profile may refuse."""
        return (*self.options.split(), ARCHITECTURE, small(**self.shape)["architectures"][0])


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CONFIGURATIONS = tuple(map(Configuration.model_validate, _DECLARED["configuration"]))
RUNS = tuple(map(Run.model_validate, _DECLARED["run"]))
SCENARIOS = tuple(map(Scenario.model_validate, _DECLARED["scenario"]))
