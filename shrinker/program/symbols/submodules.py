"""Which submodules live code reads through the package around them.

`import xml` and `xml.dom.minidom.parse(path)` work because some import, perhaps in another file
and of a name that nobody uses, loads `xml.dom.minidom`: loading a submodule sets it as an attribute
of its package. Such an import stays, whatever else is known of it.
"""

import sys
from collections.abc import Collection
from itertools import takewhile

from shrinker.program.symbols.program import Program
from shrinker.program.symbols.types import Found, Value
from shrinker.ruleset.match import any_name_matches
from shrinker.values.upstream import enclosing

_STANDARD_PACKAGES = frozenset(
    {"asyncio", "collections", "concurrent", "ctypes", "curses", "dbm", "distutils", "email"}
    | {"encodings", "ensurepip", "html", "http", "importlib", "json", "logging", "multiprocessing"}
    | {"os", "pathlib", "pydoc_data", "re", "sqlite3", "string", "sysconfig", "tomllib", "unittest"}
    | {"urllib", "venv", "wsgiref", "xml", "xmlrpc", "zoneinfo"}
)
"""What of the standard library has submodules, in any Python from 3.10 on; `os` has `os.path`."""


class SubmoduleReads:
    """Collects what live code reads of packages, of the tree and from outside."""

    def __init__(self, program: Program, loaded: tuple[str, ...]) -> None:
        """Take the submodules, as patterns, that are loaded with the package around them."""
        self._program = program
        self._loaded = loaded
        self._read: set[str] = set()
        """Dotted names that live code follows from a package downwards."""
        self._values: set[str] = set()
        """Packages that are handed on: any name may be looked up on them."""
        self._enumerated: set[str] = set()
        """Packages of which all names may be looked up."""

    def note(self, found: Found, root: Found) -> None:
        """Note what one path of live code reads.

        Args:
            found: the result of following the whole path.
            root: that of its first name. The import that binds it loads that much by itself.
        """
        for touch in found.touches - root.touches:
            if touch.kind == "module":
                self._read.add(touch.module)
        own = {value.module for value in root.values if value.kind == "outside"}
        for value in found.values:
            if value.kind == "outside":
                chain = (value.module, *enclosing(value.module))
                self._read.update(takewhile(lambda name: name not in own, chain))
            if value.kind in ("outside", "module"):
                self._values.add(value.module)

    def enumerate(self, value: Value) -> None:
        """Note that live code may look up every name of a module."""
        self._enumerated.add(value.module)

    def spell(self, module: str) -> None:
        """Note that a text of live code names a module: `sys.modules` has it once it is loaded."""
        self._read.add(module)

    def is_read(self, name: str, looked_up: Collection[str]) -> bool:
        """Tell whether live code may read a module through the package around it.

        Args:
            name: dotted name of the module.
            looked_up: names that live code looks up on something of which nothing is proven.
        """
        if self._is_there_anyway(name):
            return False
        if name in self._read or self.is_handed_on(name, looked_up):
            return True
        # `sys.modules["xml.dom.minidom"]`.
        return name in looked_up

    def is_handed_on(self, name: str, looked_up: Collection[str]) -> bool:
        """Tell whether live code may hold a module as a value, since it holds its package."""
        package, _, last = name.rpartition(".")
        return package in self._enumerated or (package in self._values and last in looked_up)

    def _is_there_anyway(self, name: str) -> bool:
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names and top not in _STANDARD_PACKAGES:
            return True
        return any_name_matches(self._loaded, name)
