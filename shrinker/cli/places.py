"""Where a generated tree's manifest and reports are. Light to import: `why` answers in a moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from shrinker.report.place import LOCK, are_of, candidates
from shrinker.values.contents import MANIFEST
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest

if TYPE_CHECKING:
    from shrinker.ruleset import Ruleset
    from shrinker.values.upstream import Identity, UpstreamTree


def read_manifest(out: Path) -> Manifest:
    """SHRINK.json of a generated tree. Raises InputError when there is none or it is not one."""
    path = out / MANIFEST
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}", "generate the tree first: `make shrink`") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not a SHRINK.json: {error}", "generate the tree again with `make shrink`"
        ) from error
    return Manifest.from_json(text, str(path))


def recorded_rules(manifest: Manifest) -> Ruleset | None:
    """The rules of the profile that a tree was made by, as they are now; None when there is no such profile here."""
    from shrinker.ruleset import load_profile

    try:
        return load_profile(manifest.profile)
    except InputError:
        return None


def open_recorded(out: Path, recorded: Identity, asked: str | None, note: Callable[[str], None]) -> UpstreamTree:
    """The upstream that a tree was generated from.

    Args:
        out: the generated tree.
        recorded: what its manifest says of upstream.
        asked: where to read it instead; needed for a commit or folder, whose place is not recorded.
        note: receives what a person should know.

    Raises:
        InputError: nothing says where it is, or it cannot be read.
    """
    from shrinker.project import project_folder
    from shrinker.source import open_upstream

    spec = asked or {"release": recorded.spec, "submodule": "submodule"}.get(recorded.kind)
    if spec is None:
        raise InputError(
            f"{out}: generated from {recorded.spec}, which names no place to read it from",
            "say where upstream is: --upstream git:PATH_OR_URL@COMMIT",
        )
    tree = open_upstream(spec, repository=project_folder(), progress=note)
    if tree.identity.commit and recorded.commit and tree.identity.commit != recorded.commit:
        note(f"the tree was generated from {recorded.spec} and is compared with {tree.identity.spec}")
    return tree


def find_graph(out: Path, reports: Path | None = None) -> Path:
    """graph.json of the reports that belong to a generated tree.

    They belong together when the lock among the reports is the tree's manifest, byte for byte: a run puts the
    lock in place last.

    Raises:
        InputError: there is no tree, or no graph of the same run.
    """
    manifest = read_manifest(out)
    folders = [reports] if reports else candidates(out, manifest.profile)
    stale: list[str] = []
    for folder in folders:
        graph, lock = folder / "graph.json", folder / LOCK
        if lock.is_file() and not are_of(folder, out):
            stale.append(f"{folder} belongs to another tree, or a run was killed before it ended")
        elif lock.is_file() and graph.is_file():
            return graph
    found = "; ".join(stale) or f"no graph.json with its lock in {' or '.join(map(str, folders))}"
    raise InputError(
        f"{out}: {found}",
        "generate the tree again with `make shrink`: the graph is not committed; or name its folder with --reports",
    )
