"""Files of a tree, written and recorded; of files that are no Python whole lines may go."""

import errno
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from shrinker.emit.package import NOTE
from shrinker.values.edits import HASH_COMMENTS, Cut
from shrinker.values.errors import InputError
from shrinker.values.outcome import EmittedFile


def count_lines(data: bytes) -> int:
    """Lines of a text, 0 for a binary file."""
    if b"\0" in data[:8192]:
        return 0
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


class Writer:
    """Writes files and records them."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.files: list[EmittedFile] = []

    def read(self, path: str) -> bytes:
        """Bytes of a file that was written."""
        return (self.out / path).read_bytes()

    def put(
        self,
        path: str,
        data: bytes,
        original: bytes | None = None,
        *,
        executable: bool = False,
        digest: str | None = None,
    ) -> None:
        """Write one file of the tree.

        Args:
            original: the bytes of upstream; None for a file of shrinker's own.
            digest: of the decided syntax tree, for a rewritten file.
        """
        self.write(path, data, executable=executable)
        before, changed = (0, False) if original is None else (count_lines(original), data != original)
        sha256 = hashlib.sha256(data).hexdigest()
        self.files.append(EmittedFile(path, sha256, before, count_lines(data), changed, digest))

    def write(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Write one file and no record."""
        target = f"{self.out}/{path}"
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), 0o755 if executable else 0o644)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise InputError(
                f"cannot write {path} in {self.out}: {error.strerror or error}",
                "free some space and run again" if full else "check the output folder",
            ) from error


def without_lines(path: str, data: bytes, cuts: Sequence[Cut]) -> bytes:
    """The file without some lines, and with the note that it was changed before its first line.

    Of blank lines on both sides of what goes, those after it go too. The path says which comments the file's language has.
    """
    rows = data.split(b"\n")
    gone = {line for cut in cuts for line in range(cut.first, cut.last + 1)}
    kept: list[bytes] = []
    after_cut = False
    for number, row in enumerate(rows, 1):
        after_cut = after_cut or number in gone
        meet = after_cut and not row.strip() and number < len(rows) and (not kept or not kept[-1].strip())
        if number not in gone and not meet:
            kept.append(row)
            after_cut = False
    sign = "#" if path.rpartition("/")[2].endswith(HASH_COMMENTS) else "//"
    return b"\n".join([f"{sign} {NOTE}".encode(), *kept])
