"""Top-level names of the standard library, the same set on every Python version that runs the tool."""

from __future__ import annotations

import sys

# Gone since 3.11 or come since: without them the list of external distributions would depend on the interpreter.
_NAMES = """
aifc annotationlib asynchat asyncore audioop cgi cgitb chunk compression crypt distutils imghdr imp lib2to3 mailcap
msilib nis nntplib ossaudiodev pipes sndhdr smtpd spwd sunau telnetlib tomllib uu xdrlib
"""
_OTHER_VERSIONS = frozenset(_NAMES.split())


def is_standard(name: str) -> bool:
    """True for the top-level name of a module that ships with CPython 3.11 or later."""
    return name in sys.stdlib_module_names or name in _OTHER_VERSIONS
