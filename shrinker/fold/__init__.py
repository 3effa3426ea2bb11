"""Fold one module: decide its branches by the facts, cut what names removed features, say what is left."""

from shrinker.fold.module import fold_source

__all__ = ["fold_source"]
