"""What tests of symbols share: the archives of small programs, and their rules."""

from __future__ import annotations

from pathlib import Path

from shrinker.project import RULES_FOLDER
from shrinker.ruleset import Ruleset
from shrinker.ruleset.load import load_rules
from tests.fold.programs import PROGRAMS

ARCHIVES = sorted((PROGRAMS / "symbols").glob("*.txtar"), key=lambda p: (not p.name.startswith("noop_"), p.name))
ROOT = """
[[root]]
id = "root-launch"
why = "The command of the small programs."
modules = ["sglang.launch_server"]

[[label]]
id = "label-counts"
why = "Kinds of what is counted."
modules = ["sglang.metrics"]
texts = ["count_*", "count_all"]
"""
PLATFORM = """
[[fact]]
id = "fact-hip"
why = "CUDA is the platform."
calls = ["sglang.srt.utils.is_hip"]
value = false

[[remove]]
id = "remove-gone"
why = "No other platform."
feature = "another platform"
modules = ["sglang.gone"]
"""
"""A platform that is removed, and what is false for its sake."""


def small_rules(folder: Path, more: str = "", also: tuple[str, ...] = (), root: str = ROOT) -> Ruleset:
    """The rules of the small programs, more of them as text, and shipped files of rules."""
    folder.mkdir(exist_ok=True)
    path = folder / "rules.toml"
    path.write_text(root + more)
    return load_rules([path, *(RULES_FOLDER / name for name in ("package/protocols.toml", *also))])
