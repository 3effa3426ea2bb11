"""The content of SHRINK.json, which is also the lock: what was generated, from what, by which rules."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

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
    defaults: tuple[tuple[str, str], ...] = ()
    """Texts that upstream would choose by itself, and what a rule puts in their place."""

    @property
    def tree(self) -> str:
        """SHA-256 over paths and contents of all files: other rules, or another version, may make the same tree."""
        lines = "".join(f"{file.sha256}  {file.path}\n" for file in self.files)
        return hashlib.sha256(lines.encode()).hexdigest()

    def to_json(self) -> str:
        """Stable text: sorted keys, one file a line, newline at the end."""
        head: dict[str, Any] = {"format": FORMAT, **asdict(self)}
        files = {row.pop("path"): row for row in head.pop("files")}
        if not self.defaults:
            del head["defaults"]
        rows = ",\n".join(f"  {json.dumps(path)}: {json.dumps(row, sort_keys=True)}" for path, row in files.items())
        body = json.dumps(head, indent=1, sort_keys=True)
        return f'{body[:-2]},\n "files": {{\n{rows}\n }}\n}}\n'

    @staticmethod
    def from_json(text: str | bytes, where: str) -> "Manifest":
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
                defaults=tuple((before, after) for before, after in data.get("defaults", ())),
                files=tuple(EmittedFile(path=p, **row) for p, row in sorted(data["files"].items())),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{where} is not a SHRINK.json: {error}", "generate the tree again with `make shrink`"
            ) from error
