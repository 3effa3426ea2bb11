"""Emission: apply what was decided to the files that change, copy the others, put the tree in its place.

Nothing is imported here: LibCST takes a third of a second to load, and only the workers that rewrite need it.
"""
