"""The level *embedders*, as runs ask it: with the wheels that are here, or with those that the package index gives."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zipfile import BadZipFile

from shrinker.cache import hash_of
from shrinker.check.embedders import LEVEL as EMBEDDERS
from shrinker.check.embedders import Read, verify_embedders
from shrinker.check.embedders.uses import sources_of
from shrinker.check.trees import Trees
from shrinker.pipeline.progress import Progress
from shrinker.project import project_folder
from shrinker.source.cache import default_folder
from shrinker.source.pins import load_pins
from shrinker.source.wheels import cached_wheel, load_wheels, open_wheel
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import LevelResult
from shrinker.values.upstream import PACKAGE

_GET_WHEELS = "(not in the cache; `shrinker verify --level embedders` downloads them)"


def is_pinned(manifest: Manifest) -> bool:
    """Whether somebody answers for this upstream: then nothing about it is open."""
    return load_pins(project_folder()).is_pinned(manifest.upstream)


def embedders_evidence(
    trees: Trees,
    progress: Progress,
    *,
    folder: Path | None = None,
    download: bool = False,
    programs: Sequence[Path] = (),
) -> LevelResult:
    """Judge a tree by what programs outside use of it.

    Args:
        trees: both trees; rules of another tree say nothing.
        progress: told which wheels are not here, and how to get them.
        folder: the cache folder, which holds the wheels.
        download: whether what is not there is asked of the package index.
        programs: wheels and folders that are judged in place of the pinned wheels.

    Raises:
        InputError: one of the programs is not there, or holds nothing that names the package.
    """
    if trees.rules is not None and trees.rules.digest != trees.manifest.rules_hash:
        trees = replace(trees, rules=None)
    if programs:
        return verify_embedders(trees, [_program(place) for place in programs], ())
    place = (folder or default_folder()).absolute()
    here: list[Read] = []
    missing: list[str] = []
    for wheel in load_wheels(project_folder()):
        file = None
        try:
            file = open_wheel(wheel, place, progress.note) if download else cached_wheel(wheel, place)
        except InputError as error:
            progress.note(f"{wheel.file} cannot be had: {error}")
        if file is not None:
            here.append(Read(wheel.name, wheel.sha256, file))
        else:
            missing.append(wheel.file)
    if missing and not download:
        which = f"for {len(missing)} of {len(missing) + len(here)} wheels" if here else ""
        progress.note(" ".join(filter(None, (f"{EMBEDDERS}: not run", which, _GET_WHEELS))))
    found = verify_embedders(trees, here, missing)
    # What an embedder takes from a release that nobody answers for is a question, as in `verify_tree`, but for who asks for this level.
    if download or is_pinned(trees.manifest):
        return found
    asked = found.evidence.asked()
    if asked.open:
        progress.note(f"{EMBEDDERS}: {len(asked.open)} open, `shrinker verify --level {EMBEDDERS}` lists them")
    return replace(found, evidence=asked)


def _program(place: Path) -> Read:
    try:
        sources = [*sources_of(place)]
    except (OSError, BadZipFile) as error:
        raise InputError(f"{place} is no program: {error}", "give a wheel, or a folder that holds Python") from error
    if not any(PACKAGE.encode() in source for _, source in sources):
        raise InputError(f"nothing in {place} names {PACKAGE}", "give the folder that holds the program's own files")
    content = hash_of(*(part for path, source in sources for part in (path, source.decode("latin-1")))).hex()
    return Read(place.absolute().name, content, place)


__all__ = ["EMBEDDERS", "embedders_evidence", "is_pinned"]
