"""`shrinker profiles`, `rules` and `ablate`: what may be asked for, what each rule says, what it
did in a tree, and what it does by itself.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shrinker.cli import options
from shrinker.project import default_out, rules_folder
from shrinker.values.errors import InputError
from shrinker.values.relations import grouped

if TYPE_CHECKING:
    from shrinker.ruleset import Ruleset
    from tools.ablation import Alone

_NAMES = "Ids of rules to show whole; default: list all."
_RULE = typer.Argument(metavar="RULE", help=_NAMES, autocompletion=options.rule_ids)
_OUT = "The generated tree whose effects are told; default: the profile's."
_IDS = "Ids of rules; `shrinker rules` lists them."
_JUDGE = "Hold the tree without the rule against its evidence: is the rule needed?"


def profiles(rules: options.Rules = None, as_json: options.Json = False) -> None:
    """List the profiles, each with what it is for and the rule files that it includes."""
    from shrinker.ruleset.load import profile_files, read_profiles

    folder = options.absolute(rules) or rules_folder()
    found = read_profiles(folder)
    rows = [
        {
            "name": name,
            "file": _shown(path),
            "files": profile_files(folder, name),
            **data.model_dump(),
        }
        for name, (path, data) in found.items()
    ]
    lines: list[str] = []
    for row in rows:
        default = " (default)" if row["name"] == options.DEFAULT_PROFILE else ""
        files = " ".join(f"{stem}.toml" for stem in row["files"])
        lines += [
            f"{row['name']}{default}: {row['description']}",
            f"  {row['file']}",
            f"  files: {files}",
        ]
    options.answer(rows, lines, as_json=as_json)


def rules(
    names: Annotated[list[str] | None, _RULE] = None,
    unused: Annotated[
        bool, typer.Option("--unused", help="Only those that did nothing in the tree.")
    ] = False,
    profile: options.Profile = options.DEFAULT_PROFILE,
    rules: options.Rules = None,
    out: Annotated[Path | None, typer.Option(help=_OUT)] = None,
    reports: options.Reports = None,
    as_json: options.Json = False,
) -> None:
    """List the rules of a profile with place and effect, or show some: the text, why it is right,
    what it did.

    Effects are those of the tree OUT, as its reports have them: decisions in kept files, files
    removed, what it names and is kept. Rules that only judge a tree (leftover, platform, reach …)
    or tell of packages have none. A rule that did nothing may still be needed by another upstream;
    `shrinker ablate` says what one does alone.
    """
    from shrinker.report.explain.offered import did as told
    from shrinker.ruleset import load_profile, without

    folder = options.absolute(rules) or rules_folder()
    loaded = load_profile(profile, folder)
    for name in names or ():
        # Says which one is the nearest.
        without(loaded, (name,))
    tree = out or default_out(profile)
    effects, note = _effects(tree, options.absolute(reports), loaded)
    if unused and not effects:
        raise InputError(
            f"nothing says what the rules did: {note}", "generate the tree with `make shrink`"
        )
    rows = [row for row in _rows(loaded, folder, effects) if not names or row["id"] in names]
    rows = [row for row in rows if not unused or row["effect"] == {}]
    lines: list[str] = []
    for row in rows:
        did = (
            ", ".join(told(row["effect"])) if row["effect"] is not None else "-" if effects else ""
        )
        place = f"{row['file']}:{row['line']}"
        if names:
            effect = f": in {tree} {did}" if did else ""
            lines += [f"{row['id']}: {row['why']}", f"{place}{effect}\n", f"{row['text']}\n"]
        else:
            lines.append(f"{row['id']:<44} {row['kind']:<12} {place}" + (f"  {did}" if did else ""))
    if not names:
        lines.append(f"{len(rows)} of {len(loaded.by_id())} rules; `shrinker rules RULE` shows one")
    lines += [f"effects: {note}"] if note else []
    data = {"profile": profile, "tree": str(tree) if effects else None, "note": note, "rules": rows}
    options.answer(data, lines, as_json=as_json)


def _rows(loaded: "Ruleset", folder: Path, effects: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all rules in the order of the files, as `--json` has them."""
    from shrinker.ruleset.load import KINDS

    by_id = loaded.by_id()
    deciding = {rule.id for rule in loaded.all_rules()}
    kinds = {model: kind for kind, (_, model) in KINDS.items()}
    places = ((name, place.rpartition(":")) for name, place in loaded.places.items())
    for file, found in grouped(
        (file, (int(number), name)) for name, (file, _, number) in places
    ).items():
        text = (folder / file).read_text("utf-8").splitlines()
        for line, name in sorted(found):
            rule = by_id[name]
            effect = effects.get(name, {}) if name in deciding and effects else None
            row = {
                "id": name,
                "kind": kinds[type(rule)],
                "file": _shown(folder / file),
                "line": line,
                "effect": effect,
            }
            yield {**row, "why": rule.why, "optional": rule.optional, "text": _text(text, line)}


def _text(lines: list[str], start: int) -> str:
    """Return the table that begins in a line, up to the next; what stands above the next one is
    that one's.
    """
    end = next(
        (n for n in range(start, len(lines)) if lines[n].lstrip().startswith("[[")), len(lines)
    )
    while end > start and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return "\n".join(lines[start - 1 : end])


def _effects(tree: Path, reports: Path | None, loaded: "Ruleset") -> tuple[dict[str, Any], str]:
    """Return what each rule did in a tree, and what is to be known of that; none where no reports
    of it say so.
    """
    from shrinker.report.place import find_graph, read_manifest

    try:
        manifest = read_manifest(tree)
        path = find_graph(tree.absolute(), reports).with_name("rules.json")
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))["effects"]
    except InputError as error:
        return {}, error.message
    except (OSError, ValueError, KeyError):
        return {}, f"{path} does not say: it is of an older shrinker"
    if manifest.profile != loaded.profile:
        return {}, f"{tree} is a tree of profile {manifest.profile}"
    changed = loaded.digest != manifest.rules_hash
    return found, "the rules have changed since this tree was generated" if changed else ""


def _shown(path: Path) -> str:
    """From the working folder where the file is below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def ablate(
    names: Annotated[
        list[str], typer.Argument(metavar="RULE...", help=_IDS, autocompletion=options.rule_ids)
    ],
    upstream: options.Upstream = None,
    profile: options.Profile = options.DEFAULT_PROFILE,
    rules: options.Rules = None,
    judge: Annotated[bool, typer.Option("--judge", help=_JUDGE)] = False,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Generate the tree without a rule and say what comes back and what goes: files, definitions,
    lines of Python.

    Nothing is written but the cache. With --judge, a rule without which the tree fails its evidence
    is said to be needed.
    """
    from shrinker.report.place import render
    from tools.ablation import alone

    found: list[Alone] = []
    with options.console_progress() as progress:
        for row in alone(
            upstream, profile, options.absolute(rules), names, jobs, progress, judge=judge
        ):
            found.append(row)
            if not as_json:
                print(render("ablate.txt.jinja", row=row), end="", flush=True)
    options.answer(found, "", as_json=as_json)
