"""Everything that is measured: each file here with a `SUBJECTS` takes part."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from benchmarks.subjects.base import NotInstalledError, Place, Subject


def all_subjects() -> list[Subject]:
    """Return the reference first, then by file name and by the order in the file."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__, f"{__name__}."))
    found: list[Subject] = [
        subject for name in names for subject in getattr(import_module(name), "SUBJECTS", ())
    ]
    return sorted(found, key=lambda subject: not subject.reference)


__all__ = ["NotInstalledError", "Place", "Subject", "all_subjects"]
