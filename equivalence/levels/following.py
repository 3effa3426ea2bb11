"""The lines of upstream that the programs of the levels execute: each program is followed once, and remembered."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from equivalence.simulation import executed
from equivalence.simulation.executed import Executed
from equivalence.trace.compare import Stated
from shrinker.cache import Layer, pack, unpack

_SECONDS = 120
"""For the processes of a server to write, before `patience`."""


@dataclass(slots=True)
class Following:
    """What is known of upstream's lines, and where they are written."""

    work: Path
    stated: Stated = field(default_factory=Stated)
    """What may be missing because a person said so."""
    layer: Layer | None = None
    """Remembers from run to run; None: only this one."""
    upstream: str = ""
    """What upstream this is, for the key."""
    _known: dict[str, Executed] = field(default_factory=dict)

    def known(self, program: str) -> Executed | None:
        """Lines of a program, in words that say all it depends on beside upstream; None when it was not followed."""
        if program not in self._known and self.layer is not None:
            key = self.layer.key(self.upstream, program)
            if data := self.layer.load({program: key}).get(program):
                self._known[program] = Executed(*unpack(data))
        return self._known.get(program)

    def folder(self, program: str) -> Path:
        """An empty folder for the processes of a program to write into."""
        executed.clear(self._place(program))
        return self._place(program)

    def keep(self, program: str) -> None:
        """Remember what the processes of a program wrote."""
        found = self._known[program] = executed.read(self._place(program))
        if self.layer is not None:
            key = self.layer.key(self.upstream, program)
            self.layer.save({program: key}, {program: pack((dict(found.running), dict(found.importing)))})

    def keep_living(self, program: str, patience: float) -> None:
        """The same of processes that still run; nothing is remembered when one of them does not write."""
        if executed.ask(self._place(program), _SECONDS * patience):
            self.keep(program)

    def _place(self, program: str) -> Path:
        return self.work / "executed" / hashlib.sha256(program.encode()).hexdigest()[:12]
