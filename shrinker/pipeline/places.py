"""Folders of a run: where its tree and reports grow, and where they go in the end."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from shrinker.emit.staging import install, refuse_foreign, scratch_folder, staging_folder
from shrinker.pipeline.request import Request
from shrinker.report.pages import write_files
from shrinker.report.place import LOCK, foreign_reports, new_reports, reports_beside
from shrinker.ruleset import Ruleset
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import UpstreamTree


@dataclass(frozen=True, slots=True)
class Places:
    """Made before the long phases, so that a folder that cannot be written is an error of the first second."""

    tree: Path
    """Where the tree grows."""
    reports: Path
    """Where the reports grow."""
    out: Path
    """Where the tree goes."""
    reports_out: Path
    """Where the reports go."""
    force: bool
    owned: tuple[Path, ...]
    """What among the reports no run wrote."""

    @staticmethod
    def prepare(request: Request, tree: UpstreamTree, rules: Ruleset, stack: ExitStack) -> "Places":
        """Make the folders; the stack removes what is left of them.

        Raises:
            InputError: one cannot be written, or holds what no run wrote.
        """
        staging = stack.enter_context(staging_folder(request.out, force=request.force))
        usual = request.rules is None and not request.without
        reports = request.reports or new_reports(request.out, tree.identity, rules.profile, usual=usual)
        owned = foreign_reports(reports)
        if not request.force:
            refuse_foreign(reports, [path.name for path in owned])
        staged = stack.enter_context(scratch_folder(reports, "choose another folder for the reports"))
        return Places(staging, staged, request.out, reports, request.force, tuple(owned))

    def reject(self, manifest: Manifest) -> str:
        """Put tree, reports and lock beside `out`, where questions can be asked of them; in place of what was rejected before.

        Returns:
            Where they are, or why they are not there.
        """
        out = self.out.with_name(f"{self.out.name}.rejected")
        try:
            replace(self, out=out, reports_out=reports_beside(out), force=False, owned=()).install(manifest)
        except InputError as error:
            return f"nothing was replaced, and nothing is left to look at ({error.message})"
        return f"nothing was replaced; ask what was made: `shrinker explain NAME --out {out}`"

    def install(self, manifest: Manifest) -> tuple[Path, ...]:
        """Put tree, reports and lock in their places, all or nothing.

        Returns:
            Folders to which something of the owner's was moved.
        """
        names = sorted(file.name for file in self.reports.iterdir())
        write_files(self.reports, {LOCK: manifest.to_json()})
        # The lock last: it equals the tree's own manifest only when all the rest is in place.
        places = [(self.reports / name, self.reports_out / name) for name in (*names, LOCK)]
        return tuple(install(self.tree, self.out, places, force=self.force, owned=self.owned))
