"""Emission: apply what was decided to the files that change, copy the others, put the tree in its place."""

from shrinker.emit.rewrite import RewriteError, UnappliedEdit, rewrite_file

__all__ = ["RewriteError", "UnappliedEdit", "rewrite_file"]
