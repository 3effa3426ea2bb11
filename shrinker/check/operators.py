"""Operators of native code: what kept Python calls is registered, what is registered is defined, what is called is linked.

Read as text and by nobody else's grammar: whoever decides what goes has one.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from shrinker.check.trees import Seen, Trees
from shrinker.syntax.parsing import parsed

_REGISTERED = re.compile(rb"\b(?:impl|def)\s*\([^;]*?&\s*(?:\w+::)*([A-Za-z_]\w*)\s*\)+\s*;")
_NAMED = re.compile(rb'\b(impl|def)\s*\(\s*"(?:\w+::)?([A-Za-z_]\w*)')
_OFFERED = re.compile(rb'\b(?:def\s*\(\s*"|TVM_FFI_DLL_EXPORT_TYPED_FUNC\(\s*)([A-Za-z_]\w*)"?\s*,')
"""What a module of pybind11 offers, without a schema, and one of TVM."""
WORD = re.compile(rb"[A-Za-z_]\w*")
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:<[^;{}()]*>\s*)?\(")
_UNREAD = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Texts and comments: an operator's schema has the look of a call."""
_PROMISED = re.compile(
    rb"^(?:extern\s+)?[A-Za-z_][\w:<>,*& ]*[\s*&]([A-Za-z_]\w*)\s*\((?:[^(){};]|\([^(){};]*\))*\)\s*;", re.MULTILINE
)
"""At the start of a line: within a function it would be a call."""
_SPELLED = re.compile(r"[A-Za-z_]\w*::([A-Za-z_]\w*)(?:\.\w+)?")
_OPERATORS = "torch.ops."
COMPILED = frozenset({"c", "cc", "cpp", "cu"})


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

    @cached_property
    def compiled(self) -> dict[str, bytes]:
        """Those of them that a compiler is given."""
        return {path: data for path, data in self.plain.items() if suffix(path) in COMPILED}

    @cached_property
    def removed(self) -> dict[str, bytes]:
        """The same of upstream's that are gone though no rule removes them."""
        gone = (path for path in sorted(self.upstream) if path not in self.texts and suffix(path) in COMPILED)
        return {path: plain_text((self.trees.source.root / path).read_bytes()) for path in gone if self.spared(path)}

    @cached_property
    def _called(self) -> dict[str, set[bytes]]:
        return {path: set(_CALLED.findall(data)) for path, data in self.compiled.items()}

    def is_called(self, name: bytes, path: str) -> bool:
        """True when another compiled source than this one has a parenthesis after the name."""
        return any(name in names for other, names in self._called.items() if other != path)


def lost_definitions(native: Native, seen: Seen) -> None:
    """Functions that kept sources register, or declare and call, and that upstream's removed sources alone define: symbols that the loader misses."""
    named = {name: path for path, data in native.removed.items() for name in _CALLED.findall(data)}
    defined = {name: path for path, data in native.removed.items() for name in bodies(data)}
    for path, data in native.compiled.items():
        for match in _REGISTERED.finditer(data):
            name = match.group(1)
            seen.look(check="operators")
            if name in named and not native.is_called(name, path):
                message = f"registers {name.decode()}, which only {named[name]} defines in upstream"
                seen.find(path, line_at(data, match.start(1)), message, check="operators")
        for match in _PROMISED.finditer(data):
            name = match.group(1)
            seen.look(check="links")
            called = name in defined and len(re.findall(rb"\b%s\b" % name, data)) > 1
            if called and name not in bodies(data) and not native.is_called(name, path):
                message = f"calls {name.decode()}, which only {defined[name]} defines in upstream"
                seen.find(path, line_at(data, match.start(1)), message, check="links")


def lost_registrations(native: Native, seen: Seen) -> None:
    """Operators that kept Python names and that upstream registers for this platform; and those that are declared and not implemented, or the
    other way round, where upstream does both."""
    trees = native.trees
    spared = filter(native.spared, native.upstream)
    theirs = {said for path in spared for said in _NAMED.findall((trees.source.root / path).read_bytes())}
    ours = {statement: path for path, data in native.texts.items() for statement in _NAMED.findall(data)}
    # A release comes without the library: then what it registers is not to be judged here.
    if not ours or not theirs:
        return
    # Kind and name of each statement.
    for (kind, operator), path in sorted(ours.items()):
        other, does = (b"impl", "declares") if kind == b"def" else (b"def", "implements")
        seen.look(check="operators")
        if (other, operator) in theirs and (other, operator) not in ours:
            other_half = "whose other half upstream registers and this tree does not"
            seen.find(path, 0, f"{does} the operator {operator.decode()}, {other_half}", check="operators")
    known, offered = ({name for _, name in side} for side in (theirs, ours))
    for path in sorted(trees.python):
        data = (trees.out / path).read_bytes()
        for line, name in _calls(data) if b"torch.ops" in data or b"::" in data else ():
            if name.encode() in known:
                seen.look(check="callers")
                if name.encode() not in offered:
                    message = f"names the operator {name}, which nothing in this tree registers"
                    seen.find(path, line, message, check="callers")


def lost_offers(native: Native, seen: Seen) -> None:
    """Names that kept sources no longer offer to Python, and that kept Python says."""
    lost = {
        name: path
        for path, theirs in native.before.items()
        for name in {*_OFFERED.findall(theirs)} - {*_OFFERED.findall(native.texts[path])}
    }
    seen.look(len(lost), "callers")
    for path, line, name in sayings(native.trees, lost):
        seen.find(path, line, f"says {name.decode()}, which {lost[name]} no longer offers", check="callers")


def sayings(trees: Trees, names: Collection[bytes]) -> Iterator[tuple[str, int, bytes]]:
    """Where kept Python of upstream's says one of these names, in code or in a text: path, line of the first place, name."""
    for path in sorted(trees.python & trees.source.by_path.keys()) if names else ():
        data = (trees.out / path).read_bytes()
        for name in sorted(set(WORD.findall(data)).intersection(names)):
            yield path, 1 + next(i for i, row in enumerate(data.split(b"\n")) if name in WORD.findall(row)), name


def _calls(data: bytes) -> Iterator[tuple[int, str]]:
    """Operators that a Python file names, each with its line."""
    for node in ast.walk(parsed(data) or ast.Module([], [])):
        match node:
            case ast.Attribute() if (whole := ast.unparse(node)).startswith(_OPERATORS) and whole.count(".") == 3:
                yield node.lineno, node.attr
            case ast.Constant(value=str() as text) if (found := _SPELLED.fullmatch(text)) is not None:
                yield node.lineno, found.group(1)


def bodies(data: bytes) -> set[bytes]:
    """Names that a parenthesis and a body follow."""
    found: set[bytes] = set()
    for match in _CALLED.finditer(data):
        depth, at = 1, match.end()
        while at < len(data) and depth:
            depth += {40: 1, 41: -1}.get(data[at], 0)
            at += 1
        if re.match(rb"\s*(?:const\s*|noexcept\s*)*\{", data[at : at + 80]):
            found.add(match.group(1))
    return found


def plain_text(data: bytes) -> bytes:
    """Without texts and comments, line for line."""
    return _UNREAD.sub(lambda match: b'""' + b"\n" * match.group(0).count(b"\n"), data)


def suffix(path: str) -> str:
    """What the name of a file ends in, without the dot."""
    return path.rpartition(".")[2]


def line_at(data: bytes, at: int) -> int:
    """Line of a place in a text, from 1."""
    return data.count(b"\n", 0, at) + 1
