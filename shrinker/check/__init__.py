"""Independent evidence about a generated tree: one module a level, a stricter level after the
other; `levels.py` names them.

This package judges by upstream, the generated files, the manifest and, where it is given them, the
rules alone: a judge does not share the defendant's reasoning. What needs a GPU or a server runs
where only the standard library is: this file loads nothing.
"""
