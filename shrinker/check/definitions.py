"""Definitions that went from kept native files: no kept native file names them; and declarations: none needs them.

Read as text: what lines went, what stood in them outside of all braces, and every word that is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from shrinker.check.operators import WORD, bodies, plain_text, sayings
from shrinker.check.registry import Seen
from shrinker.check.trees import Trees

_PARENTHESES, _BRACES = re.compile(rb"\([^(){}]*\)"), re.compile(rb"\{[^{}]*\}")
_DEFINED = re.compile(
    rb"\b(?!(?:noexcept|decltype|requires|if|for|while|switch|catch)\b)([A-Za-z_]\w*)\s*\x01[^;()\x00\x01]*[\x00{]"
    rb"|\b(?:struct|class)\s+([A-Za-z_]\w*)[^;()\x00\x01]*[\x00{]"
    rb"|\bconstexpr\b[^;=()\x00\x01]*?\b([A-Za-z_]\w*)\s*="
)
"""A function with its parameters and body, a class with its body, a constant; what is in parentheses and braces is one sign."""
_DECLARED = re.compile(rb"[\w>*&]\s+[*&]*([A-Za-z_]\w*)\s*\x01[^;{}()\x00\x01]*;")
"""A function with its parameters and no body."""


def lost_definitions(
    trees: Trees, seen: Seen, before: Mapping[str, bytes], texts: Mapping[str, bytes], plain: Mapping[str, bytes]
) -> None:
    """Look for what changed files no longer define in all that is kept.

    Args:
        trees: both.
        seen: gets what is found.
        before: upstream's text of those that changed, by path.
        texts: of the native sources that are kept, by path.
        plain: the same, see `plain_text`.
    """
    if not before:
        return
    words = {path: frozenset(WORD.findall(data)) for path, data in plain.items()}
    declared = {name for data in plain.values() for name in _DECLARED.findall(_less(data, _PARENTHESES))}
    gone: dict[bytes, str] = {}
    for path, theirs in before.items():
        ours = [*filter(bytes.strip, texts[path].split(b"\n")[1:])]
        went = [*map(_flat, _stretches(theirs.split(b"\n"), plain_text(theirs).split(b"\n"), ours))]
        for verb, names in (("defines", _names(went, _DEFINED)), ("declares", _names(went, _DECLARED) - declared)):
            for name in sorted(names):
                seen.look(check="definitions")
                users = (other for other, said in words.items() if name in said)
                if verb == "declares":
                    # Where it is defined nobody needs to have it declared.
                    users = (other for other in users if name not in bodies(plain[other]))
                if user := next(users, None):
                    message = f"no longer {verb} {name.decode()}, which {user} names"
                    seen.find(path, 0, message, check="definitions")
                elif verb == "defines":
                    gone[name] = path
    # A kernel that is compiled when it is first asked for is named in a text.
    for path, line, name in sayings(trees, gone):
        seen.find(path, line, f"says {name.decode()}, which {gone[name]} no longer defines", check="definitions")


def _names(stretches: Iterable[bytes], pattern: re.Pattern[bytes]) -> set[bytes]:
    """Names that lines say which went."""
    return {name for stretch in stretches for match in pattern.finditer(stretch) for name in match.groups() if name}


def _stretches(theirs: Sequence[bytes], plain: Sequence[bytes], ours: Sequence[bytes]) -> Iterator[bytes]:
    """Lines next to each other that went, without texts and comments; blank lines are alike and say nothing."""
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
    before, brace, _ = _less(text, _PARENTHESES, _BRACES).rpartition(b"}")[2].partition(b"{")
    return before + brace


def _less(text: bytes, *patterns: re.Pattern[bytes]) -> bytes:
    """With one sign in place of what is in parentheses, and another in place of what is in braces."""
    before = b""
    while text != before:
        before = text
        for pattern in patterns:
            text = pattern.sub(b"\x01" if pattern is _PARENTHESES else b"\x00", text)
    return text
