"""Apply edits to Python files, token for token as upstream wrote them but for what the edits say.

A family of LibCST transformers does it, one construct a module; `regions` hands them the smallest
statements that hold an edit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from shrinker.cache.workers import without_gc
from shrinker.emit.package import HEADER
from shrinker.emit.rewrite.insertions import insert_lines
from shrinker.emit.rewrite.named import RewriteError
from shrinker.emit.rewrite.regions import Regions
from shrinker.emit.rewrite.source import Source
from shrinker.syntax.parsing import decode
from shrinker.values.edits import Edit
from shrinker.values.errors import InputError, ShrinkerError
from shrinker.values.folded import FoldedModule

__all__ = ["RewriteError", "Unwritable", "rewrite_file", "rewrite_modules"]


def rewrite_file(source: bytes, edits: Sequence[Edit], *, header: str | None = None) -> bytes:
    """Apply the edits of `values/edits.py` to a file.

    Raises RewriteError: an edit names a place where no node of its kind is, or leaves no valid
    Python, as without the last name of an import; SyntaxError: the file does not parse.

    Args:
        source: the original file, in any encoding that it declares, with any line ends.
        edits: in any order. Edits inside a region that another edit drops are void.
        header: a comment line, without its line end, put before everything but a byte-order mark, a
            shebang and a coding line.

    Returns:
        The new file, in the encoding and with the line ends of the original. Lines of statements
        without edits are copied byte for byte.
    """
    file, others = insert_lines(Source(*decode(source)), edits)
    text = Regions(file, others).rewrite() if others else file.text
    if header is not None:
        first = "".join(file.lines[: file.preamble])
        rest = text.removeprefix(first)
        if first and not first.endswith(("\n", "\r")):
            first += file.newline
        text = first + header + file.newline + rest
    return text.encode(file.encoding, "backslashreplace")


class Unwritable(ShrinkerError):
    """Edits of some files leave no valid Python; the reasons by path. Nothing is written then."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        path, reason = min(reasons.items())
        super().__init__(
            f"{path}: {reason}",
            "this is a fault of shrinker: please report it with the upstream version",
        )
        self.reasons = dict(reasons)


def rewrite_modules(
    modules: Iterable[FoldedModule], read: Callable[[str], bytes]
) -> dict[str, bytes]:
    """New texts of modules of upstream, by path.

    Raises InputError: a file cannot be read or does not parse; Unwritable: edits could not be
    applied; after all files were tried.
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
