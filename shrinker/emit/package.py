"""The files that are shrinker's own: `pyproject.toml` and `_version.py`, which make the generated
tree an installable package, and NOTICE; and the header of modified files: what Apache-2.0, section
4(b), asks of a changed copy.
"""

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from packaging.version import InvalidVersion, Version

from shrinker.values.distributions import Distributions
from shrinker.values.upstream import DeclaredPackage, Identity, compiled_modules

NOTE = (
    "Modified by shrinker: parts not used by this profile were removed. See NOTICE and SHRINK.json."
)
"""The same for every upstream, so that a release and its commit give the same Python."""
HEADER = f"# {NOTE}"


def pyproject(
    declared: DeclaredPackage, version: str | None, kept: Collection[str], required: Distributions
) -> str:
    """Return text of `python/pyproject.toml`.

    Args:
        version: of the package; ``0.0.0`` when it is not known.
        kept: paths of the tree; an entry point of a module that went is left out.
        required: requirements and extras that are left.
    """
    scripts: dict[str, str] = {}
    for name, target in declared.scripts.items():
        path = "python/" + target.partition(":")[0].strip().replace(".", "/")
        if f"{path}.py" in kept or f"{path}/__init__.py" in kept:
            scripts[name] = target
    built_for = declared.tag.split("-") if declared.tag and compiled_modules(kept) else []
    return _render(
        "pyproject.toml.jinja",
        declared=declared,
        version=version or "0.0.0",
        required=required,
        scripts=scripts,
        python_tag=built_for[0] if built_for else "",
        platform=built_for[-1] if built_for else "",
    )


def version_module(version: str) -> str:
    """Return text of `python/sglang/_version.py`: the names that the version tool of upstream's
    build defines, nothing else.

    A release carries the file that its build made, a commit carries none: one canonical text for
    both.
    """
    return (
        f"__version__ = version = {version!r}\n__version_tuple__ = version_tuple = "
        f"{version_tuple(version)!r}\n"
    )


def version_tuple(version: str) -> tuple[int | str, ...]:
    """As setuptools-scm writes it: ``0.5.15.post1`` is ``(0, 5, 15, 'post1')``."""
    try:
        parsed = Version(version)
    except InvalidVersion:
        return (version,)
    pre = "".join(map(str, parsed.pre or ()))
    post, dev = (
        f"{kind}{n}" if n is not None else ""
        for kind, n in (("post", parsed.post), ("dev", parsed.dev))
    )
    epoch = [parsed.epoch] if parsed.epoch else []
    return (*epoch, *parsed.release, *filter(None, (pre, post, dev, parsed.local)))


def environment(*folders: Path, escaped: bool = False) -> Environment:
    """Templates of some folders, for texts that keep their lines; `escaped` for HTML."""
    return Environment(
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=escaped,
    )


@cache
def _templates() -> Environment:
    """Make the templates ready once: many small trees are written in one process of the tests."""
    templates = environment(Path(__file__).with_name("templates"))
    # A basic string of TOML: JSON's escapes are TOML's too.
    templates.filters["toml"] = lambda text: json.dumps(text, ensure_ascii=False).replace(
        "\x7f", "\\u007f"
    )
    return templates


def _render(template: str, **values: object) -> str:
    return _templates().get_template(template).render(values)


def notice(
    identity: Identity,
    *,
    profile: str,
    tool_version: str,
    compiled: Mapping[str, str],
    upstream_notice: str | None = None,
) -> str:
    """Return text of the NOTICE file, with upstream's own, which section 4(d) asks to pass on;
    `compiled` has the SHA-256 of each compiled module.
    """
    known = [f"release {identity.version}"] if identity.version else []
    known += [f"commit {identity.commit}"] if identity.commit else []
    known += ["with local changes"] if identity.dirty else []
    return _render(
        "NOTICE.jinja",
        known=", ".join(known) or identity.spec,
        profile=repr(profile),
        tool_version=tool_version,
        compiled=compiled,
        upstream_notice=(upstream_notice or "").rstrip(),
    )
