"""The transformer that applies all kinds of edits."""

from shrinker.emit.rewrite.branches import Branches
from shrinker.emit.rewrite.chains import Chains
from shrinker.emit.rewrite.definitions import Definitions
from shrinker.emit.rewrite.elements import Elements


class Transformer(Branches, Definitions, Elements, Chains):
    """Applies edits, one construct a base class."""
