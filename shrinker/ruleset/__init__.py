"""The rules in `rules/*.toml`: their models, strict loading, and matching of names."""

from shrinker.ruleset.load import load_profile as load_profile
from shrinker.ruleset.load import with_rule as with_rule
from shrinker.ruleset.load import without as without
from shrinker.ruleset.match import module_matches as module_matches
from shrinker.ruleset.match import path_matches as path_matches
from shrinker.ruleset.models import *  # noqa: F403 -- One list of all kinds is enough.
