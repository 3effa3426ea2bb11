"""Operators of native code: what kept Python calls is registered, what is registered is defined,
what is called is linked.

Read as text and by nobody else's grammar: whoever decides what goes has one.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from shrinker.check.trees import Seen, Trees

_REGISTERED = re.compile(rb"\b(?:impl|def)\s*\([^;]*?&\s*(?:\w+::)*([A-Za-z_]\w*)\s*\)+\s*;")
_NAMED = re.compile(rb'\b(impl|def)\s*\(\s*"(?:\w+::)?([A-Za-z_]\w*)')
_OFFERED = re.compile(rb'\b(?:def\s*\(\s*"|TVM_FFI_DLL_EXPORT_TYPED_FUNC\(\s*)([A-Za-z_]\w*)"?\s*,')
"""What a module of pybind11 offers, without a schema, and one of TVM."""
WORD = re.compile(rb"[A-Za-z_]\w*")
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:<[^;{}()]*>\s*)?\(")
_PARENTHESES, _BRACES = re.compile(rb"\([^()]*\)"), re.compile(rb"\{[^{}]*\}")
_BODY = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:<[^;{}()]*>\s*)?\x01\s*(?:const\s*|noexcept\s*)*\{")
_UNREAD = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Texts and comments: an operator's schema has the look of a call."""
_PROMISED = re.compile(
    rb"^(?:extern\s+)?[A-Za-z_][\w:<>,*& ]*[\s*&]([A-Za-z_]\w*)\s*\((?:[^(){};]|\([^(){};]*\))*\)\s*;",
    re.MULTILINE,
)
"""At the start of a line: within a function it would be a call."""
_COMPILED = (".c", ".cc", ".cpp", ".cu")


@dataclass(frozen=True)
class Native:
    """The native sources of both trees, as every check of them gets them."""

    trees: Trees
    upstream: Collection[str]
    """Paths of all of upstream's."""
    before: Mapping[str, bytes]
    """Upstream's text of kept ones that changed, by path."""
    texts: Mapping[str, bytes]
    """Of those that are kept, by path."""

    def spared(self, path: str) -> bool:
        """True for what no rule removes: it would be for another platform."""
        return not self.trees.index.removes(path)

    @cached_property
    def plain(self) -> dict[str, bytes]:
        """Texts of those that are kept, see `plain_text`."""
        return {path: plain_text(data) for path, data in self.texts.items()}


def lost_definitions(native: Native, seen: Seen) -> None:
    """Functions that kept sources register, or declare and call, and that upstream's removed
    sources alone define: symbols that the loader misses.
    """
    compiled = {path: data for path, data in native.plain.items() if path.endswith(_COMPILED)}
    calls = {path: {*_CALLED.findall(data)} for path, data in compiled.items()}
    callers = Counter(chain.from_iterable(calls.values()))
    gone = (
        path
        for path in sorted(native.upstream)
        if path not in native.texts and path.endswith(_COMPILED)
    )
    removed = {
        path: plain_text((native.trees.source.root / path).read_bytes())
        for path in filter(native.spared, gone)
    }
    named = {name: path for path, data in removed.items() for name in _CALLED.findall(data)}
    defined = {name: path for path, data in removed.items() for name in bodies(data)}
    kinds = ("operators", "registers", _REGISTERED, named), ("links", "calls", _PROMISED, defined)
    for path, data in compiled.items():
        for check, verb, pattern, theirs in kinds:
            for match in pattern.finditer(data):
                name = match[1]
                seen.look(check=check)
                used = name in theirs and (
                    theirs is named or len(re.findall(rb"\b%s\b" % name, data)) > 1
                )
                # Where another source calls it, too, the place of its definition is not told.
                if used and name not in bodies(data) and callers[name] == (name in calls[path]):
                    message = (
                        f"{verb} {name.decode()}, which only {theirs[name]} defines in upstream"
                    )
                    seen.find(path, line_at(data, match.start(1)), message, check=check)


def lost_registrations(native: Native, seen: Seen) -> None:
    """Operators that kept Python names and that upstream registers for this platform; and those
    that are declared and not implemented, or the other way round, where upstream does both.
    """
    trees = native.trees
    spared = filter(native.spared, native.upstream)
    theirs = {
        said for path in spared for said in _NAMED.findall((trees.source.root / path).read_bytes())
    }
    ours = {
        statement: path for path, data in native.texts.items() for statement in _NAMED.findall(data)
    }
    # A release comes without the library: then what it registers is not to be judged here.
    if not ours or not theirs:
        return
    for (kind, operator), path in sorted(ours.items()):
        other, does = (b"impl", "declares") if kind == b"def" else (b"def", "implements")
        seen.look(check="operators")
        if (other, operator) in theirs and (other, operator) not in ours:
            other_half = "whose other half upstream registers and this tree does not"
            seen.find(
                path, 0, f"{does} the operator {operator.decode()}, {other_half}", check="operators"
            )
    known, offered = ({name.decode() for _, name in side} for side in (theirs, ours))
    for path, symbols in trees.kept.items():
        for line, name in symbols.operators:
            seen.look(name in known, "callers")
            if name in known - offered:
                message = f"names the operator {name}, which nothing in this tree registers"
                seen.find(path, line, message, check="callers")


def lost_offers(native: Native, seen: Seen) -> None:
    """Names that kept sources no longer offer to Python, and that kept Python says."""
    lost: dict[bytes, str] = {}
    for path, theirs in native.before.items():
        lost |= dict.fromkeys(
            {*_OFFERED.findall(theirs)} - {*_OFFERED.findall(native.texts[path])}, path
        )
    seen.look(len(lost), "callers")
    sayings(native, lost, "offers", "callers", seen)


def sayings(native: Native, lost: Mapping[bytes, str], verb: str, check: str, seen: Seen) -> None:
    """Kept Python of upstream's says one of these names, in code or in a text, which a source no
    longer defines or offers.
    """
    for path in sorted(native.trees.python & native.trees.source.by_path.keys()) if lost else ():
        data = (native.trees.out / path).read_bytes()
        for name in sorted(lost.keys() & WORD.findall(data)):
            line = 1 + next(
                i for i, row in enumerate(data.split(b"\n")) if name in WORD.findall(row)
            )
            seen.find(
                path,
                line,
                f"says {name.decode()}, which {lost[name]} no longer {verb}",
                check=check,
            )


def bodies(data: bytes) -> set[bytes]:
    """Return names that a parenthesis and a body follow."""
    return set(_BODY.findall(less(data)))


def less(text: bytes, *, braces: bool = False) -> bytes:
    """With one sign in place of what is in parentheses, and on request another in place of what is
    in braces.
    """
    before = b""
    while text != before:
        before, text = text, _PARENTHESES.sub(b"\x01", text)
        text = _BRACES.sub(b"\x00", text) if braces else text
    return text


def plain_text(data: bytes) -> bytes:
    """Without texts and comments, line for line."""
    return _UNREAD.sub(lambda match: b'""' + b"\n" * match[0].count(b"\n"), data)


def line_at(data: bytes, at: int) -> int:
    """Return line of a place in a text, from 1."""
    return data.count(b"\n", 0, at) + 1
