"""Asks a compiler's front end about native code of both trees, without a GPU."""
