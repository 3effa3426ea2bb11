"""What is left of other platforms in the kept Python of a generated tree, judged by its text alone.

The scan shares nothing with folding: it knows the words of the rules and the syntax tree of each file, and
gives every leftover its kind and its place. Whether it is right is for the `[[leftover]]` rules to say.
"""

from shrinker.check.leftovers.collect import find_leftovers

__all__ = ["find_leftovers"]
