"""What tests of symbols share: the archives of small programs, and their rules."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from shrinker.pipeline import Run, analyse
from shrinker.project import RULES_FOLDER
from shrinker.ruleset import Ruleset
from shrinker.ruleset.load import load_rules
from tests.fold.programs import PROGRAMS, make_tree, rewrite
from tests.small import Silent, rule

ARCHIVES = sorted(
    (PROGRAMS / "symbols").glob("*.txtar"), key=lambda p: (not p.name.startswith("noop_"), p.name)
)
ROOT = rule("root", "root-launch", modules=["sglang.launch_server"]) + rule(
    "label", "label-counts", modules=["sglang.metrics"], texts=["count_*", "count_all"]
)
PLATFORM = rule("fact", "fact-hip", calls=["sglang.srt.utils.is_hip"], value=False) + rule(
    "remove", "remove-gone", feature="another platform", modules=["sglang.gone"]
)
"""A platform that is removed, and what is false for its sake."""


def small_rules(
    folder: Path, more: str = "", also: tuple[str, ...] = (), root: str = ROOT
) -> Ruleset:
    """The rules of the small programs, more of them as text, and shipped files of rules."""
    folder.mkdir(exist_ok=True)
    path = folder / "rules.toml"
    path.write_text(root + more)
    return load_rules([path, *(RULES_FOLDER / name for name in ("package/protocols.toml", *also))])


def left(
    folder: Path,
    files: Mapping[str, str],
    more: str = "",
    *,
    also: tuple[str, ...] = (),
    root: str = ROOT,
    scripts: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What is left of the modules of a package; `scripts` are the commands that installing it
    makes.
    """
    tree = make_tree(folder / "up", {f"python/sglang/{path}": text for path, text in files.items()})
    tree = replace(tree, declared=replace(tree.declared, scripts=dict(scripts or {})))
    folded = analyse(Run(tree, small_rules(folder, more, also, root), 1, Silent())).folded
    return {
        path.removeprefix("python/sglang/"): rewrite(tree, module)
        for path, module in folded.items()
    }
