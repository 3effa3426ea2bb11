"""Packages and folders for a machine without network, in pieces: `shrinker gpu-bundle pack|unpack`.

`pack` asks pip for what is named, for the target's Python and platform, and cuts it into pieces of
a size that can be carried; `unpack` on the other side needs nothing but Python: it checks every
piece before it writes anything.
"""

import argparse
import ensurepip
import hashlib
import importlib.util
import json
import mmap
import shutil
import struct
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

_LIST = "bundle.json"
_INSTALL = "install -q --no-deps --no-compile --only-binary :all:"
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "any")
_FATBIN = struct.pack("<I", 0xBA55ED50)
"""A container of GPU code begins with this: a header of 16 bytes with the size of what follows at
8.
"""


def pack(given: argparse.Namespace) -> list[Path]:
    """Write the pieces and their list to `out`, an empty or new folder, as the options of the
    command say; returns the pieces. Raises FileExistsError where `out` holds something,
    subprocess.CalledProcessError where pip found no wheel.
    """
    out: Path = given.out
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty")
    packages = [*given.package, *(["-r", str(given.requirements)] if given.requirements else [])]
    with TemporaryDirectory(dir=out.parent) as work:
        site, whole = Path(work) / "site", Path(work) / "whole.tar.xz"
        site.mkdir()
        if packages:
            command = [
                *_pip(),
                *_INSTALL.split(),
                "--target",
                str(site),
                "--python-version",
                given.target_python,
            ]
            command += [f"--platform={platform}" for platform in given.platform or _PLATFORMS]
            subprocess.run([*command, *given.pip, *packages], check=True)
        for library in site.rglob("*.so*") if given.arch else ():
            thin(library, given.arch)
        with tarfile.open(whole, "w:xz", preset=3) as tar:
            for source in (site, *given.folder):
                tar.add(
                    source,
                    source.name,
                    filter=lambda e: None if Path(e.name).name == "__pycache__" else e,
                )
        pieces: list[Path] = []
        with whole.open("rb") as file:
            while part := file.read(int(given.mib * 2**20)):
                pieces.append(out / f"piece{len(pieces):03}")
                pieces[-1].write_bytes(part)
    found = {piece.name: _hash(piece) for piece in pieces}
    (out / _LIST).write_text(json.dumps({"pieces": found}, indent=1) + "\n", "utf-8")
    return pieces


def thin(library: Path, arch: int) -> int:
    """Zero the GPU code for other architectures in a library, so that it packs into little; returns
    the bytes zeroed.

    The driver takes the entry of its own architecture and does not look into the others. A
    container without one stays
    whole: it may hold text that is compiled there.
    """
    if library.is_symlink() or library.stat().st_size < 32:
        return 0
    zeroed = start = 0
    with library.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        while (start := data.find(_FATBIN, start)) >= 0:
            entries = list(_entries(data, start))
            others = [(at, size) for found, at, size in entries if found != arch]
            for at, size in others if len(others) < len(entries) else ():
                data[at : at + size] = bytes(size)
                zeroed += size
            start = max([start + 4, *(at + size for _, at, size in entries)])
    return zeroed


def _entries(data: mmap.mmap, start: int) -> Iterator[tuple[int, int, int]]:
    """Architecture, place and size of the code of each entry of a container; none where it is not
    one.

    An entry has the size of its header at 4, that of its code at 8, and the architecture at 28.
    """
    if start + 16 > len(data):
        return
    version, header, size = struct.unpack_from("<HHQ", data, start + 4)
    end = start + header + size
    at = start + header
    while (version, header) == (1, 16) and at + 32 <= end <= len(data):
        width, code = struct.unpack_from("<IQ", data, at + 4)
        if width < 32 or at + width + code > end:
            return
        yield struct.unpack_from("<I", data, at + 28)[0], at + width, code
        at += width + code


def unpack(pieces: Path, out: Path) -> None:
    """Put what the pieces hold below `out`; the packages lie in its folder `site`.
    Raises ValueError, and writes nothing, where a piece is missing or is not what was packed."""
    listed: dict[str, str] = json.loads((pieces / _LIST).read_text("utf-8"))["pieces"]
    for name, digest in listed.items():
        if not (pieces / name).is_file() or _hash(pieces / name) != digest:
            raise ValueError(f"{pieces / name} is missing or is not what was packed")
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=out) as whole:
        for name in listed:
            with (pieces / name).open("rb") as file:
                shutil.copyfileobj(file, whole)
        whole.seek(0)
        with tarfile.open(fileobj=whole, mode="r:xz") as tar:
            # Older Pythons have no filters; what is unpacked is what was packed, by its hash.
            tar.extraction_filter = getattr(tarfile, "tar_filter", lambda member, _: member)
            tar.extractall(out)


def _pip() -> list[str]:
    """Return a pip that can be run: this environment's, one on the path, or the wheel that Python
    brings along.
    """
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if found := shutil.which("pip"):
        return [found]
    if wheels := sorted(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl")):
        return [sys.executable, str(wheels[-1] / "pip")]
    raise FileNotFoundError("no pip: install it for this Python")


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: list[str] | None = None) -> int:
    """Return the command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="shrinker gpu-bundle", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("pack").add_argument
    several: dict[str, Any] = {"action": "append", "default": []}
    add("out", type=Path)
    each = (
        "a requirement such as sglang-kernel==0.4.4, each named itself: what it needs is not "
        "added; may be repeated"
    )
    add("--package", **several, help=each)
    add("--requirements", type=Path, help="a file of requirements, one a line")
    add("--folder", type=Path, **several, help="taken along as it is; may be repeated")
    add("--target-python", default="3.12")
    add(
        "--platform",
        **several,
        help=f"of the target; may be repeated; default: {', '.join(_PLATFORMS)}",
    )
    add("--mib", type=float, default=50.0, help="size of a piece at most")
    add(
        "--arch",
        type=int,
        default=0,
        help="keep GPU code of this architecture only: 90 Hopper, 100 Blackwell",
    )
    add(
        "--pip",
        **several,
        metavar="OPTION",
        help="an option for pip, such as --pip=--index-url=URL",
    )
    add = commands.add_parser("unpack").add_argument
    add("pieces", type=Path)
    add("out", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.command == "unpack":
            unpack(given.pieces, given.out)
        else:
            print("\n".join(f"{path} {path.stat().st_size}" for path in pack(given)))
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
