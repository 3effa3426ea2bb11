"""Where things are that belong to no single run: the folder one works in, and what comes with the
package.

A project is a folder with `rules/profiles/` or an `upstream.toml` of its own: what it has comes
before what the package brings. Without one, the checkout of shrinker is the project, and where
shrinker is installed, the working folder.
"""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
"""What holds the package: the checkout, or where it is installed."""
RULES_FOLDER = PACKAGE / "rules" if (PACKAGE / "rules").is_dir() else CHECKOUT / "rules"
"""The rules that come with shrinker: in a wheel they lie in the package, in a checkout beside it.
"""
PINS = "upstream.toml"


def project_folder() -> Path:
    """Return the folder that holds reports and, where it has them, rules and pins of its own."""
    here = Path.cwd()
    if (here / PINS).is_file() or (here / "rules" / "profiles").is_dir():
        return here
    return CHECKOUT if (CHECKOUT / "pyproject.toml").is_file() else here


def rules_folder() -> Path:
    """Return the rules that are used when no folder is named."""
    own = project_folder() / "rules"
    return own if (own / "profiles").is_dir() else RULES_FOLDER


def pins_file(project: Path, name: str = PINS) -> Path:
    """Return what pins a project's upstream (or, by another name, something else): a file of its
    own, else that of the package.
    """
    own = project / name
    return own if own.is_file() else PACKAGE / name


def own_pins_file(project: Path) -> Path:
    """Return where the pins of a project are written: never into an installed package."""
    found = pins_file(project)
    return found if found.is_relative_to(project) else project / PINS


def default_out(profile: str) -> Path:
    """Return where a profile's tree goes when no place is named, below the working folder."""
    return Path("dist") / f"sglang_{profile.replace('-', '_')}"
