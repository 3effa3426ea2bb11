"""Shrinker beside tools that fold flags away: the same predicates, the same files, one counter."""
