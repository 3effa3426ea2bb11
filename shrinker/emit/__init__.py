"""Emission: apply what was decided to the files that change, copy the others, put the tree in its
place.
"""
