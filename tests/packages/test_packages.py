"""Packages that nobody thought of print the same before and after the whole pipeline.

`SHRINKER_EXAMPLES` says how many are tried in all. A failure is made smaller until no story, file
or choice can go without it; keep it as an archive in `tests/programs/packages`.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fold.defects import unhurried
from tests.packages.compare import Programs, difference
from tests.packages.stories import packages
from tests.small import read_archive

USUAL = 400
EXAMPLES = int(os.environ.get("SHRINKER_EXAMPLES", str(USUAL)))
"""Packages that are shrunk and run, in all."""
SHARDS = 4
"""Parts of the run that may go to processes of their own."""
ARCHIVES = sorted((Path(__file__).parents[1] / "programs" / "packages").glob("*.txtar"))


def shown(files: dict[str, str]) -> str:
    """Write the files of a package as an archive has them."""
    return "\n".join(
        f"-- {path.removeprefix('python/')} --\n{text}" for path, text in sorted(files.items())
    )


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.stem)
def test_package_prints_the_same(archive: Path) -> None:
    files = {f"python/{path}": text for path, text in read_archive(archive).items()}
    with Programs() as programs:
        outcome = programs.printed(files)
        assert outcome.printed, (
            f"the program prints nothing: it cannot tell a difference ({outcome.error})"
        )
        assert difference(files, programs) is None


@pytest.mark.parametrize("shard", range(SHARDS))
def test_drawn_packages_print_the_same(shard: int) -> None:
    with Programs() as programs, unhurried():

        @settings(
            max_examples=-(-EXAMPLES // SHARDS),
            deadline=None,
            suppress_health_check=list(HealthCheck),
            # A usual run looks at the same packages on every machine; a longer one at new ones.
            derandomize=EXAMPLES <= USUAL,
            database=None,
            phases=[Phase.generate, Phase.shrink],
        )
        @given(packages(most=1 + shard % 3))
        def prints_the_same(files: dict[str, str]) -> None:
            changed = difference(files, programs)
            assert changed is None, f"{changed}\n{shown(files)}"

        prints_the_same()
