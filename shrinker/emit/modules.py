"""Modules as they are written: the edits of each applied, or the reason why they cannot be."""

from collections.abc import Callable, Iterable, Mapping

from shrinker.cache.workers import without_gc
from shrinker.emit.package import HEADER
from shrinker.emit.rewrite import RewriteError, rewrite_file
from shrinker.values.errors import InputError, ShrinkerError
from shrinker.values.folded import FoldedModule


class Unwritable(ShrinkerError):
    """Edits of some files leave no valid Python; the reasons by path. Nothing is written then."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        path, reason = min(reasons.items())
        super().__init__(f"{path}: {reason}", "this is a fault of shrinker: please report it with the upstream version")
        self.reasons = dict(reasons)


def rewrite_modules(modules: Iterable[FoldedModule], read: Callable[[str], bytes]) -> dict[str, bytes]:
    """New texts of modules of upstream, by path.

    Raises:
        InputError: a file cannot be read or does not parse.
        Unwritable: edits could not be applied; after all files were tried.
    """
    found: dict[str, bytes] = {}
    reasons: dict[str, str] = {}
    with without_gc():
        for module in modules:
            try:
                found[module.path] = rewrite_file(read(module.path), module.edits, header=HEADER)
            except RewriteError as error:
                reasons[module.path] = str(error)
            except (SyntaxError, ValueError) as error:
                raise InputError(f"{module.path}: {error}", "check the upstream tree") from error
    if reasons:
        raise Unwritable(reasons)
    return found
