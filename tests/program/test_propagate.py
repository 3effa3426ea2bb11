"""What follows from what the search left: attributes that one literal is left for, and what goes
with them.
"""

from pathlib import Path

import pytest

from tests.program.symbols.support import PLATFORM, left
from tests.small import read_archive

LAUNCH, GROUP, SMALL = read_archive(Path(__file__).with_name("propagated.txtar")).values()


def _left(folder: Path, **modules: str) -> dict[str, str]:
    """What is left of some modules."""
    files = {"launch_server": LAUNCH, "group": GROUP} | modules
    found = left(folder, {f"{name}.py": text for name, text in files.items()}, PLATFORM)
    return {path.removesuffix(".py"): text for path, text in found.items()}


@pytest.mark.parametrize(
    "more",
    [
        "def fuse(group):\n    group.fused = True\n\n\nif __name__ == '__main__':\n    fuse(1)\n",
        "FUSED = 'fused'\n\n\ndef fuse(group):\n    setattr(group, FUSED, True)\n",
    ],
    ids=["store", "name in a text"],
)
@pytest.mark.parametrize("taken", [True, False], ids=["live", "dead"])
def test_what_is_set_by_dead_code_alone_is_not_set(tmp_path: Path, more: str, taken: bool) -> None:
    launch = (
        "from sglang.other import "
        f"fuse\n{LAUNCH.replace('Group(4).', 'fuse(Group(4)).') if taken else LAUNCH}"
    )
    found = _left(tmp_path, group=GROUP, launch_server=launch, other=more)
    assert ("on_another" in found["group"]) is taken
    if not taken:
        assert found["group"].strip() == SMALL.strip()


def test_what_an_import_stays_for_counts(tmp_path: Path) -> None:
    # Importing `other` files a hook, which sets the attribute: nobody has to name it.
    group = GROUP.replace("self.on_another(x)", "use(x)").replace(
        "import is_hip\n", "import is_hip\nfrom sglang.other import fuse, use\n"
    )
    other = (
        "HOOKS = []\n\n\ndef fuse(group):\n    group.fused = "
        "True\n\n\nHOOKS.append(fuse)\n\n\ndef use(x):\n    return x\n"
    )
    found = _left(tmp_path, group=group, other=other)
    assert "import use\n" in found["group"] and "if self.fused" in found["group"]
    assert "group.fused = True" in found["other"]
