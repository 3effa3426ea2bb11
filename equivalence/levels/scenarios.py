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
    """A published model or a tiny checkpoint, and how a server takes it; `scenarios.toml` says what
    the keys mean.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    capability: tuple[int, int] = (9, 0)
    published: str = ""
    shape: Mapping[str, Any] = {}
    options: str = ""
    chosen: str = ""

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
        return (
            *self.options.split(),
            *self.chosen.split(),
            ARCHITECTURE,
            self.config["architectures"][0],
        )


class Configuration(Declared):
    """A published model as the server would build it."""

    draft: bool = False
    load: str = ""
    files: Mapping[str, Any] = {}

    def write(self, folder: Path) -> Path:
        """Return the folder of a checkpoint without weights."""
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
    fields: bool = False
    devices: int = 1
    features: frozenset[str] = frozenset()
    needed: bool = True


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CONFIGURATIONS = tuple(map(Configuration.model_validate, _DECLARED["configuration"]))
RUNS = tuple(map(Run.model_validate, _DECLARED["run"]))
SCENARIOS = tuple(map(Scenario.model_validate, _DECLARED["scenario"]))
