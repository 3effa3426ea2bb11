"""Results of earlier runs, found again by the content of all that they depend on.

A key is a hash over the tool, the layer's name and everything that the result was computed from:
nothing is ever out of date, an entry is found or it is not. What is read is checked, and what fails
the check is computed anew.
"""

from shrinker.cache.layer import (
    Cache,
    Layer,
    Question,
    Recorded,
    Variants,
    digest_of,
    hash_of,
    pack,
    unpack,
)

__all__ = [
    "Cache",
    "Layer",
    "Question",
    "Recorded",
    "Variants",
    "digest_of",
    "hash_of",
    "pack",
    "unpack",
]
