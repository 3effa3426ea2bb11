"""`shrinker shrink` again after one file of upstream changed, with the caches of the run before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.subjects.base import Place
from benchmarks.subjects.shrinker_cold import ShrinkerCold


class ShrinkerWarm(ShrinkerCold):
    """A person edits one line of a checkout and runs again."""

    name = "shrinker, one file changed"
    reads = (
        "the same again, after a line was added to the largest kept module of a folder that it "
        "had just shrunk"
    )
    reference = False

    def prepare(self, place: Place) -> None:
        super().prepare(place)
        shutil.copytree(place.package, self._folder(place) / "python" / "sglang")
        environment = {**os.environ, **self.environment(place)}
        subprocess.run(self.command(place), cwd=place.scratch, env=environment, capture_output=True)
        manifest = place.scratch / "out" / "SHRINK.json"
        if not manifest.is_file():
            # The measured run fails in the same way, and then says why.
            return
        kept = [
            path
            for path in json.loads(manifest.read_text("utf-8"))["files"]
            if path.endswith(".py")
        ]
        there = [path for path in (self._folder(place) / name for name in kept) if path.is_file()]
        largest = max(there, key=lambda path: path.stat().st_size)
        with largest.open("a", encoding="utf-8") as file:
            file.write("\n# one line more\n")

    def command(self, place: Place) -> list[str]:
        command = super().command(place)
        command[command.index("--upstream") + 1] = f"path:{self._folder(place)}"
        return command

    @staticmethod
    def _folder(place: Place) -> Path:
        return place.scratch / "upstream"


SUBJECTS = (ShrinkerWarm(),)
