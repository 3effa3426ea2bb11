"""Imports of which folding took the last use, and why each of them stays all the same.

An import statement does two things: it binds a name, which code elsewhere may read, and it runs a module. Where neither
matters the import is a fault of folding, and has no reason here. Judged by the generated tree alone.
"""

from shrinker.check.orphaned.explain import explain_imports

__all__ = ["explain_imports"]
