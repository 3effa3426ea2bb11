"""Tiny checkpoints for a level, made once in its folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from equivalence.levels.setting import Setting
from equivalence.simulation import checkpoints
from equivalence.simulation.running import run

_PROGRAM = Path(checkpoints.__file__)


def checkpoint(setting: Setting, **shape: str | int) -> Path:
    """The folder of a checkpoint of this shape.

    Raises:
        RuntimeError: it cannot be made.
    """
    texts = [f"{name}={value}" for name, value in sorted(shape.items())]
    made_of = hashlib.sha256("\n".join([_PROGRAM.read_text("utf-8"), *texts]).encode()).hexdigest()[:12]
    folder = setting.work / "checkpoints" / made_of
    if (folder / "config.json").is_file():
        return folder
    setting.progress("checkpoint: " + " ".join(texts))
    folder.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [setting.simulation.python, "-I", _PROGRAM, folder, *texts]
    finished = run(command, variables=os.environ, output=folder / "output.txt", limit=300 * setting.patience)
    if finished.code != 0:
        raise RuntimeError(f"the checkpoint {' '.join(texts)} could not be made: {finished.tail()}")
    return folder
