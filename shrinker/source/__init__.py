"""Where the upstream tree comes from: a release, a commit, the submodule or a folder, all giving the same value."""

from shrinker.source.open import open_upstream
from shrinker.source.spec import parse_spec

__all__ = ["open_upstream", "parse_spec"]
