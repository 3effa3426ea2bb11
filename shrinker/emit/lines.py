"""Files that are no Python: whole lines go, all others are copied."""

from __future__ import annotations

from collections.abc import Sequence

from shrinker.emit.notice import NOTE
from shrinker.values.native import HASH_COMMENTS, Cut


def without_lines(path: str, data: bytes, cuts: Sequence[Cut]) -> bytes:
    """The file without some lines, and with the note that it was changed before its first line.

    Of blank lines on both sides of what goes, those after it go too.

    Args:
        path: says which comments its language has.
        data: of upstream.
        cuts: lines that go.
    """
    rows = data.split(b"\n")
    gone = {line - 1 for cut in cuts for line in range(cut.first, cut.last + 1)}
    kept: list[bytes] = []
    after_cut = False
    for number, row in enumerate(rows):
        if number in gone:
            after_cut = True
        elif after_cut and not row.strip() and number < len(rows) - 1 and (not kept or not kept[-1].strip()):
            continue
        else:
            kept.append(row)
            after_cut = False
    sign = "#" if path.rpartition("/")[2].endswith(HASH_COMMENTS) else "//"
    return b"\n".join([f"{sign} {NOTE}".encode(), *kept])
