"""Real releases, shrunk by the command as a person would run it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.values.manifest import Manifest

REPOSITORY = Path(__file__).resolve().parents[2]


def command(*arguments: str, timeout: int = 600) -> subprocess.CompletedProcess[str]:
    """Run `shrinker` in a process of its own."""
    words = [sys.executable, "-m", "shrinker.cli", *arguments]
    return subprocess.run(words, capture_output=True, text=True, cwd=REPOSITORY, timeout=timeout)


@dataclass(frozen=True)
class Shrunk:
    """A release and what became of it."""

    release: str
    folder: Path
    jobs: int
    profile: str = "deepseek"

    def make(self) -> Shrunk:
        """Run `shrinker shrink`."""
        places = ("--out", str(self.out), "--reports", str(self.reports))
        what = ("--upstream", f"release:{self.release}", "--profile", self.profile)
        done = command("shrink", *what, *places, "--jobs", str(self.jobs), "--json")
        (self.folder / "stderr").write_text(done.stderr)
        assert done.returncode == 0, done.stderr[-4000:]
        (self.folder / "result.json").write_text(done.stdout)
        return self

    @property
    def out(self) -> Path:
        return self.folder / "tree"

    @property
    def reports(self) -> Path:
        return self.folder / "reports"

    @cached_property
    def result(self) -> dict[str, Any]:
        """What `--json` printed."""
        document: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return document

    @cached_property
    def paths(self) -> list[str]:
        """Files of the tree."""
        return sorted(p.relative_to(self.out).as_posix() for p in self.out.rglob("*") if p.is_file())

    @cached_property
    def manifest(self) -> Manifest:
        return Manifest.from_json((self.out / "SHRINK.json").read_text(), "SHRINK.json")

    @cached_property
    def uncertain(self) -> set[str]:
        """Paths that `uncertain.txt` lists as a whole: kept although a rule would remove them."""
        rows = [line.split("\t") for line in (self.reports / "uncertain.txt").read_text().splitlines()]
        return {row[0] for row in rows if row[0][:1] != "#" and ":" not in row[0]}

    def ask(self, verb: str, name: str) -> Any:
        """`why` or `why-not`, as JSON."""
        places = ("--out", str(self.out), "--reports", str(self.reports))
        done = command(verb, name, *places, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
