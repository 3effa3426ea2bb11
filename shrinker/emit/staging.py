"""Write beside the output, then swap: whatever happens, the output is the old tree or the
new one.
"""

import glob
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from shrinker.values.errors import InputError
from shrinker.values.manifest import HISTORY, MANIFEST, foreign

_NEW = "shrinking"
_OLD = "replaced"
_SHOWN = 10
_FORCE = "choose another folder, or give --force (make: FORCE=1), which moves them to {}.backup-…"


@contextmanager
def staging_folder(out: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a new empty folder beside `out`, removed at the end if it is still there.

    What runs that died left beside `out` is removed first; an old tree that such a run had moved
    away and not replaced is moved back, and so is what was its owner's. Raises InputError: the
    folder of `out` cannot be written, `out` is something else than a generated tree, or it holds
    what no run wrote, where that is not moved aside by `force`.
    """
    out = out.absolute()
    _refuse_foreign(out, force)
    with scratch_folder(out, "choose another OUT, or make the folder writable") as staging:
        yield staging


@contextmanager
def scratch_folder(beside: Path, next_step: str) -> Iterator[Path]:
    """Yield a new empty folder beside a place, on its file system; removed at the end, or by the
    next run if this one dies. Raises InputError: the folder cannot be written; it carries
    `next_step`.
    """
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        _tidy(beside)
        scratch = Path(
            tempfile.mkdtemp(prefix=f".{beside.name}.{_NEW}.{os.getpid()}.", dir=beside.parent)
        )
        scratch.chmod(0o755)
    except OSError as error:
        raise InputError(
            f"cannot write in {beside.parent}: {error.strerror or error}", next_step
        ) from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def install(
    staging: Path,
    out: Path,
    files: Sequence[tuple[Path, Path]] = (),
    *,
    force: bool = False,
    owned: Sequence[Path] = (),
) -> tuple[Path, ...]:
    """Put the staged tree in the place of `out`, and with it single files: all of them or, on an
    error, none.

    The `.git` of the old tree stays. With `force`, what else in it no run wrote is moved to a new
    folder beside it.

    Ctrl-C and SIGTERM wait until it is done. Only a process that is killed outright can stop
    between two renames. The tree comes first and `files` follow in their order: with the lock last,
    a lock that equals the tree's own manifest says that everything of one run is in place. Raises
    InputError: `out` is no generated tree, or holds what no run wrote without `force`, or something
    cannot be replaced; all is then unchanged.

    Args:
        files: each staged file (in a `scratch_folder`) and the place where it goes, on the same
            file system.
        owned: files of one folder that are their owner's and stand where `files` go; they are moved
            beside that folder.

    Returns:
        Folders to which something of the owner's was moved.
    """
    out = out.absolute()
    # Again: the run took its time, and somebody may have worked in the tree meanwhile.
    _refuse_foreign(out, force)
    old = out.with_name(f".{out.name}.{_OLD}.{os.getpid()}")
    with _uninterrupted(), ExitStack() as undo:

        def move(source: Path, target: Path) -> None:
            source.rename(target)
            undo.callback(_restore, target, source)

        try:
            kept = [_aside(owned[0].parent)] if owned else []
            for file in owned:
                kept[0].mkdir(exist_ok=True)
                move(file, kept[0] / file.name)
            moved = out.exists()
            if moved:
                move(out, old)
            move(staging, out)
            if moved and os.path.lexists(old / HISTORY):
                move(old / HISTORY, out / HISTORY)
            for new, place in files:
                place.parent.mkdir(parents=True, exist_ok=True)
                if place.exists():
                    move(place, new.with_name(f"{new.name}.previous"))
                new.replace(place)
                undo.callback(_restore, place, new)
        except OSError as error:
            raise InputError(
                f"cannot replace {out} and what belongs to it: {error}",
                "the previous output is unchanged; check the folder",
            ) from error
        undo.pop_all()
        # The new tree is in place: what cannot be removed now the next run tidies up.
        return (*kept, *(_discard(old, out) if moved else ()))


def remove_trees(folder: Path) -> list[Path]:
    """Remove the generated trees of a folder with their reports, but for those in which something
    is their owner's; returns these.
    """
    stay: list[Path] = []
    for tree in sorted(manifest.parent for manifest in folder.glob(f"*/{MANIFEST}")):
        if foreign(tree) or os.path.lexists(tree / HISTORY):
            stay.append(tree)
        else:
            shutil.rmtree(tree)
            shutil.rmtree(tree.with_name(f"{tree.name}.reports"), ignore_errors=True)
    return stay


def refuse_foreign(place: Path, names: Sequence[str], way: str = _FORCE) -> None:
    """End a run that would replace what is its owner's, named in a folder.

    Raises InputError where there are names; `way` is what may be done about it, besides moving it
    away.
    """
    if not names:
        return
    said = f"{place} holds {len(names)} file(s) that shrinker did not write, or that changed since:"
    more = [f"  … and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    raise InputError(
        "\n".join([said, *(f"  {name}" for name in names[:_SHOWN]), *more]),
        f"nothing was touched; move them away, {way.format(place.name)}",
    )


def _discard(old: Path, out: Path) -> tuple[Path, ...]:
    """Remove a tree that was replaced; what in it is its owner's goes to a folder beside `out`,
    which is returned.
    """
    owned = [*foreign(old), *([HISTORY] if os.path.lexists(old / HISTORY) else [])]
    aside = _aside(out)
    try:
        for name in owned:
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (old / name).rename(aside / name)
    except OSError as error:
        raise InputError(
            f"cannot move {old / name} to {aside}: {error.strerror or error}",
            f"the new tree is in place and nothing of yours was removed: take it from {old}",
        ) from error
    # Under a name of what is nobody's: one that is removed by half has no manifest any more to say
    # what it was.
    rest = out.with_name(f".{out.name}.{_NEW}.{os.getpid()}.old")
    with suppress(OSError):
        old.rename(rest)
        shutil.rmtree(rest)
    return (aside,) if owned else ()


def _aside(place: Path) -> Path:
    """Return a name beside a folder for what is moved out of it, which nothing has."""
    first = place.with_name(f"{place.name}.backup-{time.strftime('%Y%m%d-%H%M%S')}")
    names = (
        first if number == 1 else first.with_name(f"{first.name}-{number}") for number in count(1)
    )
    return next(name for name in names if not os.path.lexists(name))


def _restore(source: Path, target: Path) -> None:
    with suppress(OSError):
        source.rename(target)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keep the signals that ask a run to end from ending it between two renames."""
    if threading.current_thread() is not threading.main_thread():
        # Python runs signal handlers in the main thread alone: there is nothing to hold back here.
        yield
        return
    # Not ignored for good: what arrives is dropped because the run is over a few milliseconds
    # later.
    handlers = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            # None stands for a handler that Python did not install.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _refuse_foreign(out: Path, force: bool) -> None:
    if out.is_symlink():
        raise InputError(
            f"{out} is a link to {os.readlink(out)}", f"name the folder itself: OUT={out.resolve()}"
        )
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is not a folder", "choose another OUT")
    if (
        out.is_dir()
        and not (out / MANIFEST).is_file()
        and any(entry.name != HISTORY for entry in out.iterdir())
    ):
        raise InputError(
            f"{out} is not empty and not a generated tree (it has no {MANIFEST})",
            "choose another OUT, or empty the folder",
        )
    if not force:
        refuse_foreign(out, foreign(out))


def _tidy(out: Path) -> None:
    for left in sorted(out.parent.glob(f".{glob.escape(out.name)}.*")):
        kind, _, rest = left.name.removeprefix(f".{out.name}.").partition(".")
        process = rest.partition(".")[0]
        if kind not in (_NEW, _OLD) or not process.isdigit() or _is_alive(int(process)):
            continue
        if kind == _NEW:
            shutil.rmtree(left, ignore_errors=True)
        elif not out.exists():
            left.rename(out)
        else:
            if os.path.lexists(left / HISTORY) and not os.path.lexists(out / HISTORY):
                (left / HISTORY).rename(out / HISTORY)
            _discard(left, out)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        # Of somebody else, it is there.
        return isinstance(error, PermissionError)
    return True
