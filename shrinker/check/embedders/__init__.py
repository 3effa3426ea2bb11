"""Evidence level *embedders*: what programs outside import of the package is there, or a rule says that it is not.

Wheels of declared dependencies and known embedders, or a folder of somebody's own, are read, never installed and never run. Checks, by kind of use:
    imports: of modules and names, submodules and star imports included.
    attributes: below an imported module, class or function.
    keywords: of calls of imported functions and classes.
    heritage: members that a class outside, which inherits from one of the package, asks of itself or overrides.
    texts: dotted paths in strings.
    members: names looked up on any object, that a kept class of upstream lost and no class of the tree has any more.

Limits: what upstream lacks as well is not looked at: it belongs to another release. A name that a program computes, and an attribute of an
object that only running code would tell, is not seen.
"""

from __future__ import annotations

from shrinker.check.embedders.level import LEVEL, Read, verify_embedders
from shrinker.check.embedders.uses import Use, uses_of

__all__ = ["LEVEL", "Read", "Use", "uses_of", "verify_embedders"]
