"""Every profile that README names, generated of the default release in strict mode."""

import json
import re
from collections.abc import Callable

import pytest

from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.project import RULES_FOLDER
from tests.documented import ROWS
from tests.integration.shrunk import REPOSITORY, Shrunk

README = (REPOSITORY / "README.md").read_text("utf-8")
NAMED = re.findall(r"^\| `make shrink PROFILE=(.+?)` \|", README, re.MULTILINE)


def test_readme_names_every_profile() -> None:
    profiles = (RULES_FOLDER / "profiles").glob("*.toml")
    assert sorted(NAMED) == sorted(path.stem for path in profiles)


def test_make_readme_generates_each_strictly() -> None:
    strict = {row.command for row in ROWS if row.env.get("STRICT") == "1"}
    assert {f"make shrink PROFILE={name}" for name in NAMED} <= strict


# The last one first: processes that run other files make the first one meanwhile.
@pytest.mark.network
@pytest.mark.parametrize("profile", NAMED[::-1])
def test_a_profile_is_generated_strictly(pinned: Callable[[str], Shrunk], profile: str) -> None:
    made = pinned(profile)
    assert made.strict and made.manifest.profile == profile
    levels = json.loads((made.reports / "summary.json").read_text("utf-8"))["evidence"]
    passed = [level["level"] for level in levels if level["passed"] and not level["open"]]
    assert passed == [*EVIDENCE_LEVELS]
