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


class Declared(BaseModel):
    """A published model or a tiny checkpoint, and how a server takes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    capability: tuple[int, int] = (9, 0)
    published: str = ""
    shape: Mapping[str, Any] = {}
    """What `small` takes, where it is no published one."""
    options: str = ""
    """Of the server, beside those of all of its kind."""
    chosen: str = ""
    """Options that upstream chooses by itself: where a profile refuses them, another one takes over."""

    @property
    def config(self) -> dict[str, Any]:
        """`config.json` of the checkpoint."""
        return configuration(self.published) if self.published else small(**self.shape)

    @property
    def words(self) -> list[str]:
        """All options of the server: those of its kind, and its own."""
        return f"{_DECLARED['common'][type(self).__name__.lower()]} {self.options}".split()

    @property
    def asks(self) -> tuple[str, ...]:
        """The options, and the architecture: what a profile may refuse."""
        return (*self.options.split(), *self.chosen.split(), ARCHITECTURE, self.config["architectures"][0])


class Configuration(Declared):
    """A published model as the server would build it."""

    draft: bool = False
    """The MTP layer of the model instead of the model."""
    load: str = ""
    """``fp8`` or ``bf16``: the names of the published checkpoint are loaded, too."""
    files: Mapping[str, Any] = {}
    """Further files of the checkpoint's folder, as JSON."""

    def write(self, folder: Path) -> Path:
        """The folder of a checkpoint without weights."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in {"config.json": self.config, **self.files}.items():
            (folder / name).write_text(json.dumps(content, indent=1, sort_keys=True), "utf-8")
        return folder


class Run(Declared):
    """A tiny checkpoint, of few tokens, and how it is computed."""

    options: str = "--attention-backend triton --disable-cuda-graph"

    @property
    def config(self) -> dict[str, Any]:
        """`config.json` of the checkpoint."""
        return small(**{"vocab_size": 1024, **self.shape})


class Scenario(Declared):
    """A tiny checkpoint, how it is served, and what is asked."""

    whole: bool = False
    """The whole script, and what the OpenAI client asks; else ids and logprobs, more than once, streamed."""
    fields: bool = False
    """Every field of every request that the server's own document of its interface speaks of (`serving.fields`), too."""
    devices: int = 1
    features: frozenset[str] = frozenset()
    """What this server has beside that of all (`serving.Request.needs`)."""
    needed: bool = True
    """Whether upstream's server has to start."""


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CONFIGURATIONS = tuple(map(Configuration.model_validate, _DECLARED["configuration"]))
RUNS = tuple(map(Run.model_validate, _DECLARED["run"]))
SCENARIOS = tuple(map(Scenario.model_validate, _DECLARED["scenario"]))
