"""The release that was the default one before: the tool's changes for newer ones let it grow by
nothing.
"""

import json

import pytest

from tests.integration.shrunk import REPOSITORY, Shrunk

pytestmark = pytest.mark.network


def test_the_release_of_the_former_pin_has_no_more_lines_than_the_sweep_says(
    former: Shrunk,
) -> None:
    rows = json.loads((REPOSITORY / "benchmarks/sweep.json").read_text("utf-8"))["rows"]
    [said] = [
        row["lines"]
        for row in rows
        if row["name"] == f"release:{former.release}" and row["profile"] == "deepseek"
    ]
    summary = json.loads((former.reports / "summary.json").read_text("utf-8"))
    assert 0 < summary["package_python"]["lines_after"] <= said
