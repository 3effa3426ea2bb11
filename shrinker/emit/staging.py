"""Write beside the output, then swap: whatever happens, the output is the old tree or the new one."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shrinker.values.errors import InputError

MANIFEST = "SHRINK.json"
_NEW = "shrinking"
_OLD = "replaced"


@contextmanager
def staging_folder(out: Path) -> Iterator[Path]:
    """A new empty folder beside `out`, removed at the end if it is still there.

    What runs that died left beside `out` is removed first; an old tree that such a run had moved
    away and not replaced is moved back.

    Raises:
        InputError: the folder of `out` cannot be written, or `out` is something else than a generated tree.
    """
    out = out.absolute()
    _refuse_foreign(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _tidy(out)
        staging = Path(tempfile.mkdtemp(prefix=f".{out.name}.{_NEW}.{os.getpid()}.", dir=out.parent))
        staging.chmod(0o755)
    except OSError as error:
        raise InputError(
            f"cannot write in {out.parent}: {error.strerror or error}", "choose another OUT, or make the folder writable"
        ) from error
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def install(staging: Path, out: Path) -> None:
    """Put the staged tree in the place of `out`.

    Raises:
        InputError: `out` is something else than a generated tree, or cannot be replaced; it is then unchanged.
    """
    out = out.absolute()
    _refuse_foreign(out)
    old = out.with_name(f".{out.name}.{_OLD}.{os.getpid()}")
    moved = False
    try:
        if out.exists():
            out.rename(old)
            moved = True
        staging.rename(out)
    except BaseException as error:
        if moved and not out.exists():
            old.rename(out)
        if isinstance(error, OSError):
            raise InputError(
                f"cannot replace {out}: {error.strerror or error}", "the previous output is unchanged; check the folder"
            ) from error
        raise
    if moved:
        # The new tree is in place: what cannot be removed now the next run tidies up.
        shutil.rmtree(old, ignore_errors=True)


def _refuse_foreign(out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise InputError(f"{out} is not a folder", "choose another OUT")
    if out.is_dir() and not (out / MANIFEST).is_file() and any(out.iterdir()):
        raise InputError(
            f"{out} is not empty and not a generated tree (it has no {MANIFEST})", "choose another OUT, or empty the folder"
        )


def _tidy(out: Path) -> None:
    for left in sorted(out.parent.glob(f".{_escape(out.name)}.*")):
        kind, _, rest = left.name.removeprefix(f".{out.name}.").partition(".")
        process = rest.partition(".")[0]
        if kind not in (_NEW, _OLD) or not process.isdigit() or _is_alive(int(process)):
            continue
        if kind == _OLD and not out.exists():
            left.rename(out)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _escape(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        return True
    with contextlib.suppress(ProcessLookupError):
        try:
            os.kill(process, 0)
        except PermissionError:
            return True
        return True
    return False
