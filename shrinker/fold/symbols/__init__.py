"""From a folded syntax tree to its units: the removable pieces of a module, and what each of them
names.
"""
