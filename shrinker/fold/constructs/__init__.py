"""One construct a file: each registers the nodes that it folds, with `folds` or `folds_expression`.

A new construct is a file here and an archive in `tests/programs`.
"""

import importlib
import pkgutil


def load() -> None:
    """Import every file here, so that what it folds is registered."""
    for found in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{found.name}")
