"""Read the members of a wheel without trusting it: nothing is ever extracted by name alone."""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from shrinker.source import layout
from shrinker.values.errors import InputError

_NEXT = "this is no SGLang archive as the project publishes it; check where it comes from"


@dataclass
class Guard:
    """Checks that hold over all members of one source: paths, duplicates, sizes."""

    where: str
    """Name of the source, for messages."""
    _seen: set[str] = field(default_factory=set)
    _total: int = 0

    def admit(self, path: str, size: int) -> str:
        """Count a member of `size` bytes; returns its path. Raises InputError when it must not be written."""
        layout.checked_path(path, self.where)
        # Folded case: two such files would be one on a file system that ignores case.
        key = path.casefold()
        if key in self._seen:
            raise InputError(f"{self.where}: two members named {path!r}", _NEXT)
        self._seen.add(key)
        self._total += size
        if size > layout.MAX_MEMBER_BYTES:
            raise InputError(f"{self.where}: {path!r} is {size:,} bytes, more than {layout.MAX_MEMBER_BYTES:,}", _NEXT)
        if self._total > layout.MAX_TOTAL_BYTES or len(self._seen) > layout.MAX_MEMBERS:
            raise InputError(
                f"{self.where}: more than {layout.MAX_TOTAL_BYTES:,} bytes or {layout.MAX_MEMBERS:,} files", _NEXT
            )
        return path


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every regular file of a wheel, in the archive's order.

    Raises:
        InputError: damaged, or a member is absolute, climbs with `..`, is a link or a device, is given
            twice, or is larger than `layout.MAX_MEMBER_BYTES`.
    """
    try:
        yield from _members(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise InputError(
            f"{archive.name} cannot be read: {error}", "remove it from the cache (`make clean-cache`) and run again"
        ) from error


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    guard = Guard(archive.name)
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            # The name as stored: zipfile's own cuts it at a NUL and turns separators round.
            name = info.orig_filename
            if info.is_dir():
                layout.checked_path(name.rstrip("/"), archive.name)
                continue
            mode = stat.S_IFMT(info.external_attr >> 16)
            if mode not in (0, stat.S_IFREG) or info.flag_bits & 1:
                raise InputError(f"{archive.name}: {name!r} is a link, a device or encrypted", _NEXT)
            guard.admit(name, info.file_size)
            with opened.open(info) as member:
                data = member.read(layout.MAX_MEMBER_BYTES + 1)
            if len(data) != info.file_size:
                raise InputError(f"{archive.name}: {name!r} is not as long as the archive says", _NEXT)
            yield name, data
