"""Where the upstream tree comes from: a release, a commit, the submodule or a folder, all giving
the same value.
"""

from collections.abc import Callable
from pathlib import Path

from packaging.version import Version

from shrinker.source.cache import default_folder
from shrinker.source.git import open_commit, open_folder
from shrinker.source.pins import load_pins
from shrinker.source.spec import GitSpec, parse_spec
from shrinker.values.errors import InputError
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree


def open_upstream(
    spec: str | None,
    *,
    cache: Path | None = None,
    repository: Path,
    progress: Callable[[str], None] = lambda line: None,
) -> UpstreamTree:
    """Open an upstream tree; its files then lie in the cache folder.

    Equal sources give equal files, whatever the machine, the Python version and the way they came.
    Raises InputError for anything that keeps the tree from being had.

    Args:
        spec: an UPSTREAM value; ``None`` or empty for the submodule when it is checked out, else
            the default of upstream.toml.
        cache: the cache folder, see `cache.default_folder`.
        repository: root of the checkout of shrinker, which holds upstream.toml and perhaps
            `upstream/`.
        progress: called with one line for each thing that a person should know.
    """
    pins = load_pins(repository)
    folder = (cache or default_folder()).absolute()
    submodule, where = repository / pins.submodule_path, f"submodule {pins.submodule_path}/"
    if not spec:
        there = (submodule / PACKAGE_PREFIX / "__init__.py").is_file()
        spec = "submodule" if there else pins.default_spec
        why = (
            "UPSTREAM not given"
            if there
            else f"UPSTREAM not given and {pins.submodule_path}/ not checked out"
        )
        progress(f"upstream: {f'the {where}' if there else spec} ({why})")
        if there and pins.default_commit is None and not pins.has_submodule_of_default:
            pinned = f"release:{pins.default_release}"
            progress(
                f"the {where} is not known to be {pinned}, the pin: UPSTREAM={pinned} reads that"
            )
    try:
        match parse_spec(spec):
            case Version() as release:
                # Here and not above: the package index needs http, ssl and more, a commit or a
                # folder does not.
                from shrinker.source.wheels import open_release

                return open_release(str(release), pins, folder, progress)
            case GitSpec() as asked:
                return open_commit(asked, pins, folder, progress)
            case Path() as place:
                return open_folder(
                    "path", place.absolute(), f"path:{place}", pins, folder, progress
                )
            case "submodule":
                if not any(submodule.glob("*")):
                    raise InputError(
                        f"the {where} is not checked out",
                        "run `make upstream`, or give UPSTREAM=release:VERSION",
                    )
                return open_folder("submodule", submodule, where, pins, folder, progress)
    except OSError as error:
        place = error.filename or folder
        raise InputError(
            f"{place}: {error.strerror or error}",
            "check permissions and free space, or set SHRINKER_CACHE to another folder",
        ) from error
