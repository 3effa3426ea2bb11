"""Where the manifest, the upstream and the reports of a generated tree are, how reports are
rendered, and how each gets into its place; and evidence among them that is of another tree: its
page says so in its first lines. Light to import: `why` answers in a moment.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from shrinker.project import default_out, project_folder
from shrinker.source import open_upstream
from shrinker.source.cache import replacing
from shrinker.source.pins import load_pins
from shrinker.values.errors import InputError
from shrinker.values.manifest import MANIFEST, Manifest
from shrinker.values.upstream import Identity, UpstreamTree

if TYPE_CHECKING:
    from jinja2 import Environment

    from shrinker.ruleset import Ruleset

LOCK = "shrink.lock.json"
GRAPH = "graph.json"
_NAMES = """
DEPENDENCIES.md REMOVED_FILES.md api.md dependencies.json errors.txt tuning.txt lines.txt
graph.json interface.json interface.md keep.txt not_source.txt questionable.txt remove.txt rules.json rules.md run.json index.html
summary.json symbol_edges.json symbols.json uncertain.txt
"""
WRITTEN = (*_NAMES.split(),)
"""What a run writes beside the lock."""
EVIDENCE = ("verify", "mutation", "mutation-rules", "breakages", "gpu")
"""Pairs of a page and a JSON document that no run of `shrink` writes."""
_TEMPLATES = Path(__file__).parent / "templates"
SHARED = Path(__file__).parent / "page"
"""Style and script of every page for a browser."""
_MARK = "> **Stale.** "
_MARKED = re.compile(rf"\n\n{re.escape(_MARK)}.*")


def reports_beside(out: Path) -> Path:
    """Return the folder beside a tree for what belongs to that tree alone."""
    return out.with_name(out.name + ".reports")


def rejected_beside(out: Path) -> Path:
    """Return where a tree goes that a run or a bump refuses, beside the one that stays."""
    return out.with_name(f"{out.name}.rejected")


def new_reports(out: Path, upstream: Identity, profile: str, *, usual: bool = True) -> Path:
    """Return where a run puts the reports of the tree that it makes: the project's
    `reports/PROFILE` for what its owner keeps, the `usual` tree (by the project's own rules, all of
    them) of the pinned upstream in its usual place. For any other a folder beside the tree, so that
    no experiment replaces what is kept.
    """
    project = project_folder()
    in_place = out.resolve() == (project / default_out(profile)).resolve()
    if usual and in_place and load_pins(project).is_pinned(upstream):
        return project / "reports" / profile
    return reports_beside(out)


def reports_of(out: Path, manifest: Manifest, asked: Path | None = None) -> Path:
    """Return where the reports of a tree are: the folder whose lock is the tree's manifest, byte
    for byte; else where a run would put them.

    A run puts the lock in place last, so that a folder with another one belongs to another tree or
    to a run that died.
    """
    likely = (reports_beside(out), project_folder() / "reports" / manifest.profile)
    found = (folder for folder in likely if are_of(folder, out))
    return asked or next(found, None) or new_reports(out, manifest.upstream, manifest.profile)


def are_of(reports: Path, out: Path) -> bool:
    """True for a folder with the reports of a tree, or of that of a lock, all of one run."""
    with contextlib.suppress(OSError):
        return (reports / LOCK).read_bytes() == _recorded(out).read_bytes()
    return False


def _recorded(out: Path) -> Path:
    return out if out.is_file() else out / MANIFEST


def foreign_reports(folder: Path) -> list[Path]:
    """Return files of a folder that a run would replace and that no run wrote: there is no lock
    beside them.
    """
    return (
        []
        if (folder / LOCK).is_file()
        else [folder / name for name in WRITTEN if os.path.lexists(folder / name)]
    )


def evidence_folder(out: Path, reports: Path, name: str, same: Callable[[Any], bool]) -> Path:
    """Return where evidence of a tree goes: among its reports, unless the JSON file of that `name`
    there was asked for otherwise, as `same` says of its content. Then beside the tree: a quick try
    replaces no evidence that somebody keeps.
    """
    kept = document(reports / name)
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        if not kept or same(kept):
            return reports
    return reports_beside(out)


def document(place: Path) -> dict[str, Any]:
    """Return a JSON document of some reports; empty where it is not there, or damaged."""
    with contextlib.suppress(OSError, ValueError):
        found: dict[str, Any] = json.loads(place.read_text("utf-8"))
        return found
    return {}


def mark_stale(reports: Path, manifest: Manifest) -> Sequence[str]:
    """Mark the pages that are evidence of another tree, told each with what it is of, and take the
    mark from those that are of this one.
    """
    found: list[str] = []
    for name in EVIDENCE:
        page = reports / f"{name}.md"
        with contextlib.suppress(OSError, ValueError):
            data = json.loads((reports / f"{name}.json").read_text("utf-8"))
            text = page.read_text("utf-8")
            if of := _other(data, manifest):
                found.append(f"{page.name}: {of}")
            # Below the title.
            mark = (
                f"\n\n{_MARK}Evidence of {of}, not of the tree of these reports.\n" if of else "\n"
            )
            marked = _MARKED.sub("", text, count=1).replace("\n", mark, 1)
            if marked != text:
                page.write_text(marked, "utf-8")
    return found


def _other(data: Any, manifest: Manifest) -> str:
    """Return what a document is evidence of, where that is not this tree; else nothing."""
    ran = data.get("hardware", {}).get("trees", {}).get("generated")
    if ran is not None:
        # The runner on GPUs knows Python files alone, and no manifest.
        return "" if ran == _python_digest(manifest) else f"a tree whose Python is {ran}"
    tree, upstream, rules = (data.get(name, "") for name in ("tree", "upstream", "rules_hash"))
    if tree:
        return "" if tree == manifest.tree else f"the tree {tree[:12]} of {upstream}"
    known = (upstream, rules) == (manifest.upstream.spec, manifest.rules_hash)
    return "" if known else f"{upstream} by rules {rules[:12]}"


def _python_digest(manifest: Manifest) -> str:
    """As `equivalence.gpu` names a tree: by path and content of every Python file below
    `python/`.
    """
    python = (f for f in manifest.files if f.path.startswith("python/") and f.path.endswith(".py"))
    files = sorted((PurePosixPath(file.path), file.sha256) for file in python)
    rows = (f"{path.relative_to('python')}\0{sha256}\n" for path, sha256 in files)
    return hashlib.sha256("".join(rows).encode()).hexdigest()[:16]


def read_manifest(out: Path) -> Manifest:
    """SHRINK.json of a generated tree, or a lock.

    Raises InputError when there is none or it is not one.
    """
    path = _recorded(out)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or error}", "generate the tree first: `make shrink`"
        ) from error
    return Manifest.from_json(text, str(path))


def recorded_rules(manifest: Manifest) -> "Ruleset | None":
    """Return the rules that a tree was made by; None when they are not those of its profile
    here.
    """
    from shrinker.ruleset import load_profile

    with contextlib.suppress(InputError):
        rules = load_profile(manifest.profile)
        return rules if rules.digest == manifest.rules_hash else None
    return None


def open_recorded(
    out: Path, recorded: Identity, asked: str | None, note: Callable[[str], None]
) -> UpstreamTree:
    """Return the upstream that a tree was generated from, read where that is `asked`, as it must be
    for a commit or folder, whose place is not recorded. Raises InputError when nothing says where
    it is, or it cannot be read.
    """
    spec = asked or {"release": recorded.spec, "submodule": "submodule"}.get(recorded.kind)
    if spec is None:
        message = f"{out}: generated from {recorded.spec}, which names no place to read it from"
        raise InputError(message, "say where upstream is: --upstream git:PATH_OR_URL@COMMIT")
    tree = open_upstream(spec, repository=project_folder(), progress=note)
    if tree.identity.commit and recorded.commit and tree.identity.commit != recorded.commit:
        note(
            f"the tree was generated from {recorded.spec} and is compared with {tree.identity.spec}"
        )
    return tree


def find_graph(out: Path, reports: Path | None = None) -> Path:
    """graph.json of the reports of a generated tree, see `reports_of`.

    Raises InputError when there is no tree, or no graph of the same run.
    """
    folder = reports_of(out, read_manifest(out), reports)
    own = are_of(folder, out)
    if own and (folder / GRAPH).is_file():
        return folder / GRAPH
    stale = (folder / LOCK).is_file() and not own
    found = (
        "belongs to another tree, or a run was killed before it ended"
        if stale
        else f"has no {GRAPH} with its lock"
    )
    again = (
        "generate the tree again with `make shrink`: the graph is not committed; or name its "
        "folder with --reports"
    )
    raise InputError(f"{out}: {folder} {found}", again)


def templates(folder: Path = _TEMPLATES, *, escaped: bool = False) -> "Environment":
    """Templates of a folder, `escaped` for HTML, with filters for numbers, cells of a Markdown
    table and code in one.
    """
    from shrinker.emit.package import environment

    found = environment(folder, SHARED, escaped=escaped)
    found.filters["n"] = lambda number: f"{number:,}"
    found.filters["cell"] = cell
    found.filters["code"] = lambda text: f"`{cell(text)}`" if text else ""
    return found


def cell(text: object) -> str:
    """Return one cell of a Markdown table: a line end or a bar would end it."""
    return " ".join(str(text).split()).replace("|", "\\|")


def some(rows: Sequence[str], most: int = 4) -> tuple[str, ...]:
    """Return the first ones, and how many more there are."""
    return (*rows[:most], f"and {len(rows) - most} more") if len(rows) > most else tuple(rows)


def readable(data: object, *, ordered: bool = True) -> str:
    """JSON for people: indented, and by the order of the keys unless theirs says something."""
    return json.dumps(data, indent=1, sort_keys=ordered) + "\n"


def write_files(folder: Path, texts: Mapping[str, str | bytes]) -> None:
    """Write files beside those that they replace, and rename: a reader sees the old file or the new
    one.

    The folder is made if it is not there. Raises InputError when it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with replacing(folder / name) as new:
                new.write_bytes(text.encode() if isinstance(text, str) else text)
                new.chmod(0o644)
    except OSError as error:
        message = f"{folder}: reports cannot be written: {error}"
        raise InputError(message, "free space or choose a writable folder") from error


def render(name: str, **values: Any) -> str:
    """Return a page of `templates/`."""
    return templates().get_template(name).render(values)
