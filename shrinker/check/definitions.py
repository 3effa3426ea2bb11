"""Definitions that went from kept native files: no kept native file names them.

Read as text: what lines went, what stood in them outside of all braces, and every word that is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from shrinker.check.operators import plain_text
from shrinker.check.registry import Seen
from shrinker.check.trees import Trees

_WORD = re.compile(rb"[A-Za-z_]\w*")
_PARENTHESES, _BRACES = re.compile(rb"\([^(){}]*\)"), re.compile(rb"\{[^{}]*\}")
_DEFINED = re.compile(
    rb"\b(?!(?:noexcept|decltype|requires|if|for|while|switch|catch)\b)([A-Za-z_]\w*)\s*\x01[^;()\x00\x01]*[\x00{]"
    rb"|\b(?:struct|class)\s+([A-Za-z_]\w*)[^;()\x00\x01]*[\x00{]"
    rb"|\bconstexpr\b[^;=()\x00\x01]*?\b([A-Za-z_]\w*)\s*="
)
"""A function with its parameters and body, a class with its body, a constant; what is in parentheses and braces is one sign."""


def lost_definitions(trees: Trees, seen: Seen, texts: Mapping[str, bytes], plain: Mapping[str, bytes]) -> None:
    """Look for what changed files no longer define in all that is kept.

    Args:
        trees: both.
        seen: gets what is found.
        texts: of the native sources that are kept, by path.
        plain: the same, see `plain_text`.
    """
    changed = [e.path for e in trees.manifest.files if e.changed and e.path in texts and e.path in trees.source.by_path]
    if not changed:
        return
    named: dict[bytes, str] = {}
    for path, data in plain.items():
        named |= dict.fromkeys(_WORD.findall(data), path)
    for path in changed:
        theirs = (trees.source.root / path).read_bytes()
        for name in sorted(_lost(theirs.split(b"\n"), plain_text(theirs).split(b"\n"), texts[path].split(b"\n"))):
            seen.look(check="definitions")
            if name in named:
                message = f"no longer defines {name.decode()}, which {named[name]} names"
                seen.find(path, 0, message, check="definitions")


def _lost(theirs: Sequence[bytes], plain: Sequence[bytes], ours: Sequence[bytes]) -> set[bytes]:
    """Names that stretches of lines defined which went; blank lines are alike and say nothing."""
    return {
        name
        for stretch in _stretches(theirs, plain, [*filter(bytes.strip, ours[1:])])
        for match in _DEFINED.finditer(_flat(stretch))
        for name in match.groups()
        if name
    }


def _stretches(theirs: Sequence[bytes], plain: Sequence[bytes], ours: Sequence[bytes]) -> Iterator[bytes]:
    """Lines next to each other that went, without texts and comments."""
    at, gone = 0, list[bytes]()
    for line, said in zip(theirs, plain, strict=True):
        if at < len(ours) and line == ours[at]:
            at += 1
            yield b"\n".join(gone)
            gone = []
        else:
            gone.append(said)
    yield b"\n".join(gone)


def _flat(text: bytes) -> bytes:
    """What stands outside of all braces, also where a line that both have divides a body."""
    while (less := _BRACES.sub(b"\x00", _PARENTHESES.sub(b"\x01", text))) != text:
        text = less
    before, brace, _ = text.rpartition(b"}")[2].partition(b"{")
    return before + brace
