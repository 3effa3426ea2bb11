"""The content of SHRINK.json, which is also the lock: what was generated, from what, by which rules."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from shrinker.values.errors import InputError
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import Identity

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything needed to say whether a tree is what the rules make of an upstream."""

    tool_version: str
    profile: str
    rules_hash: str
    """SHA-256 over the rule files that the profile includes."""
    upstream: Identity
    files: tuple[EmittedFile, ...]
    """Sorted by path; SHRINK.json itself is not in it."""

    def to_json(self) -> str:
        """Stable text: sorted keys, one file a line, newline at the end."""
        head = {
            "format": FORMAT,
            "tool_version": self.tool_version,
            "profile": self.profile,
            "rules_hash": self.rules_hash,
            "upstream": asdict(self.upstream),
        }
        rows = ",\n".join(
            f"  {json.dumps(f.path)}: "
            + json.dumps({k: v for k, v in asdict(f).items() if k != "path"}, sort_keys=True)
            for f in self.files
        )
        body = json.dumps(head, indent=1, sort_keys=True)
        return f'{body[:-2]},\n "files": {{\n{rows}\n }}\n}}\n'

    @staticmethod
    def from_json(text: str, where: str) -> Manifest:
        """Read it back. Raises InputError, naming `where`, when it is not a manifest of this format."""
        try:
            data = json.loads(text)
            if data["format"] != FORMAT:
                raise ValueError(f"format {data['format']} (this shrinker reads {FORMAT})")
            return Manifest(
                tool_version=data["tool_version"],
                profile=data["profile"],
                rules_hash=data["rules_hash"],
                upstream=Identity(**data["upstream"]),
                files=tuple(EmittedFile(path=p, **row) for p, row in sorted(data["files"].items())),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{where} is not a SHRINK.json: {error}", "generate the tree again with `make shrink`"
            ) from error
