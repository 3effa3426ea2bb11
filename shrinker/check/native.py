"""Native sources: what they include, what their build lists name, and the operators and definitions
that others name are there.

Definitions are read as text: what lines went, what stood in them outside of all braces, and every
word that is left.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from shrinker.check import operators
from shrinker.check.operators import WORD, Native, bodies, less, line_at, plain_text, sayings
from shrinker.check.trees import Seen, Trees
from shrinker.syntax.native.conditionals import without_refuted
from shrinker.values.relations import grouped

_SOURCES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inc", ".inl")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.MULTILINE)
_LISTED = re.compile(rb"(?<![\w./}-])([\w./-]+\.(?:c|cc|cpp|cu))(?![\w./-])")
_BUILD_LISTS = ("CMakeLists.txt", ".cmake")
_BUILD_SCRIPTS = (*_BUILD_LISTS, ".py", ".toml", ".sh", "Makefile")
NATIVE = (
    "includes",
    "build lists",
    "operators",
    "links",
    "callers",
    "definitions",
    "macros",
    "whole sources",
)
_DEFINED = re.compile(
    rb"\b(?!(?:noexcept|decltype|requires|if|for|while|switch|catch)\b)([A-Za-z_]\w*)\s*\x01[^;()\x00\x01]*[\x00{]"
    rb"|\b(?:struct|class)\s+([A-Za-z_]\w*)[^;()\x00\x01]*[\x00{]"
    rb"|\bconstexpr\b[^;=()\x00\x01]*?\b([A-Za-z_]\w*)\s*="
)
"""A function with its parameters and body, a class with its body, a constant; what is in
parentheses and braces is one sign.
"""
_DECLARED = re.compile(rb"[\w>*&]\s+[*&]*([A-Za-z_]\w*)\s*\x01[^;{}()\x00\x01]*;")
"""A function with its parameters and no body."""
_SCOPE = re.compile(
    rb'\b(?:namespace\b[^;{}()]*|extern\s*""\s*|(?:\w*TORCH_LIBRARY\w*|\w*MODULE)\s*\([^{}]*)\Z'
)
"""What stands before the brace of a block whose statements go one by one."""


def lost_sources(trees: Trees, seen: Seen) -> None:
    """What kept native sources include, what kept build lists name, and what registered operators
    are defined by.
    """
    undefined, upstream = (
        trees.stated.undefined,
        {path for path in trees.source.by_path if path.endswith(_SOURCES)},
    )
    kept = [
        each
        for each in trees.manifest.files
        if each.path.endswith(_SOURCES) and (trees.out / each.path).is_file()
    ]
    changed = [each for each in kept if each.changed and each.path in upstream]
    before = {
        each.path: without_refuted(trees.source.read(each.path), undefined) for each in changed
    }
    texts = {
        each.path: without_refuted((trees.out / each.path).read_bytes(), undefined) for each in kept
    }
    native = Native(trees, upstream, before, texts)
    own = operators.lost_definitions, operators.lost_registrations, operators.lost_offers
    for check in (_macros, _includes, _build_lists, *own, _definitions):
        check(native, seen)


def _macros(native: Native, seen: Seen) -> None:
    """Macros that rules say no build defines, and that a kept source or a script of the
    build does.
    """
    undefined = native.trees.stated.undefined
    scripts = [
        path for path in native.trees.recorded if undefined and path.endswith(_BUILD_SCRIPTS)
    ]
    others = {path: (native.trees.out / path).read_bytes() for path in scripts}
    for name, rule in undefined.items():
        seen.look(check="macros")
        for texts, pattern in (
            (native.texts, rb"^[ \t]*#[ \t]*define[ \t]+%s\b"),
            (others, rb"-D\s*%s\b"),
        ):
            for path, data in texts.items():
                for match in re.finditer(pattern % name.encode(), data, re.MULTILINE):
                    message = f"defines {name}, which no build defines by rule {rule}"
                    seen.find(path, line_at(data, match.start()), message, check="macros")


def _build_lists(native: Native, seen: Seen) -> None:
    trees, kept = native.trees, native.texts.keys()
    lists = sorted(path for path in trees.recorded if path.endswith(_BUILD_LISTS))
    for path in lists:
        # A list that another one includes names what lies beside that one.
        folders = {
            each.rpartition("/")[0]
            for each in (path, *lists)
            if each == path or each.endswith(_BUILD_LISTS[0])
        }
        listed = _listed((trees.out / path).read_bytes(), folders)
        for named, line in sorted(listed.items()):
            if named in native.upstream:
                seen.look(check="build lists")
                if named not in kept:
                    seen.find(
                        path, line, f"lists {named}, which is not in this tree", check="build lists"
                    )
        theirs = (
            _listed((trees.source.root / path).read_bytes(), folders)
            if path in trees.source.by_path
            else {}
        )
        for named in sorted((theirs.keys() - listed.keys()) & kept):
            seen.find(
                path, 0, f"no longer lists {named}, which is in this tree", check="build lists"
            )


def _listed(data: bytes, folders: Collection[str]) -> dict[str, int]:
    """Sources that a build list names, with the line: as from each of these folders."""
    places = ((folder, match) for match in _LISTED.finditer(data) for folder in folders)
    return {
        f"{folder}/{each[1].decode()}".lstrip("/"): line_at(data, each.start(1))
        for folder, each in places
    }


def _includes(native: Native, seen: Seen) -> None:
    """Includes of files that upstream has and this tree has not, but for what a rule removes, which
    is for its platform; and includes that went though what they name did not.
    """
    texts = native.texts
    by_name = grouped((path.rpartition("/")[2], path) for path in sorted(native.upstream))

    def meant(text: str, source: str) -> list[str]:
        """Below any folder, but of the same top folder."""
        end, top = re.sub(r"^(\.\.?/)+", "", text), source.partition("/")[0]
        files = by_name.get(text.rpartition("/")[2], ())
        return [
            file
            for file in files
            if f"/{file}".endswith(f"/{end}") and file.partition("/")[0] == top
        ]

    for path, data in texts.items():
        for match in _INCLUDE.finditer(data):
            text = match.group(1).decode("utf-8", "replace")
            beside = posixpath.normpath(posixpath.join(path.rpartition("/")[0], text))
            # The compiler looks beside the source first.
            named = [beside] if beside in native.upstream else meant(text, path)
            seen.look(bool(named), "includes")
            if named and texts.keys().isdisjoint(named) and any(map(native.spared, named)):
                message = f"includes {text}, which is not in this tree: {named[0]}"
                seen.find(path, line_at(data, match.start()), message, check="includes")
    for path, theirs in native.before.items():
        for included in sorted(
            Counter(_INCLUDE.findall(theirs)) - Counter(_INCLUDE.findall(texts[path]))
        ):
            name = included.decode("utf-8", "replace")
            named = meant(name, path)
            seen.look(check="includes")
            if not named or not texts.keys().isdisjoint(named):
                seen.find(path, 0, f"no longer includes {name}, which did not go", check="includes")


def _definitions(native: Native, seen: Seen) -> None:
    """Look for what changed files no longer define in all that is kept."""
    if not native.before:
        return
    words = {path: frozenset(WORD.findall(data)) for path, data in native.plain.items()}
    declared = {name for data in native.plain.values() for name in _DECLARED.findall(less(data))}
    gone: dict[bytes, str] = {}
    rules = native.trees.rules
    libraries = (
        None
        if rules is None
        else tuple(f"{rule.sources}/" for rule in rules.companions if rule.sources)
    )
    for path, theirs in native.before.items():
        ours = [*filter(bytes.strip, native.texts[path].split(b"\n")[1:])]
        read, rows = plain_text(theirs), theirs.split(b"\n")
        gone_lines = _gone(rows, ours)
        for line in _lines_of_bodies(read, gone_lines):
            seen.find(path, line + 1, "is gone from a body that stays", check="definitions")
        if libraries is not None and not path.startswith(libraries):
            # Outside of these nothing goes of a source that a build reads: the build may be another
            # project's.
            seen.look(check="whole sources")
            if line := next(
                (number + 1 for number in sorted(gone_lines) if rows[number].strip()), 0
            ):
                message = "is gone, though no rule names a library that holds this source"
                seen.find(path, line, message, check="whole sources")
        went = [*_stretches(read.split(b"\n"), gone_lines)]
        for verb, names in (
            ("defines", _names(went, _DEFINED)),
            ("declares", _names(went, _DECLARED) - declared),
        ):
            for name in sorted(names):
                seen.look(check="definitions")
                users = (other for other, said in words.items() if name in said)
                if verb == "declares":
                    # Where it is defined nobody needs to have it declared.
                    users = (other for other in users if name not in bodies(native.plain[other]))
                if user := next(users, None):
                    message = f"no longer {verb} {name.decode()}, which {user} names"
                    seen.find(path, 0, message, check="definitions")
                elif verb == "defines":
                    gone[name] = path
    # A kernel that is compiled when it is first asked for is named in a text.
    sayings(native, gone, "defines", "definitions", seen)


def _lines_of_bodies(theirs: bytes, gone: Collection[int]) -> list[int]:
    """Return lines, from 0, that are `gone` from a body which stays, of upstream's text without
    texts and comments and without what no build reads; none of a text whose braces do not close.
    """
    found: list[int] = []
    opened: list[tuple[int, bool]] = []
    before = b""
    for number, row in enumerate(theirs.split(b"\n")):
        if number in gone and row.strip(b" \t\r;}") and opened:
            at, divisible = opened[-1]
            if at not in gone and not divisible:
                found.append(number)
        for part in re.split(rb"([{}])", row):
            if part == b"{":
                opened.append((number, _SCOPE.search(before[-400:]) is not None))
            elif part == b"}":
                if not opened:
                    return []
                opened.pop()
            before = b"" if part in (b"{", b"}") else before + part
        before += b"\n"
    return [] if opened else found


def _names(stretches: Sequence[bytes], pattern: re.Pattern[bytes]) -> set[bytes]:
    """Return names that lines say which went."""
    return {
        name
        for stretch in stretches
        for match in pattern.finditer(stretch)
        for name in match.groups()
        if name
    }


def _gone(theirs: Sequence[bytes], ours: Sequence[bytes]) -> set[int]:
    """Return lines that went, from 0; blank lines are alike and say nothing."""
    rest = iter(ours)
    wanted, gone = next(rest, None), set[int]()
    for number, line in enumerate(theirs):
        if line == wanted:
            wanted = next(rest, None)
        else:
            gone.add(number)
    return gone


def _stretches(plain: Sequence[bytes], gone: Collection[int]) -> Iterator[bytes]:
    """Yield lines next to each other that went: what stands outside of all braces, also where a
    line that both have divides a body.
    """
    for went, rows in groupby(enumerate(plain), lambda row: row[0] in gone):
        if went:
            text = less(b"\n".join(text for _, text in rows), braces=True)
            before, brace, _ = text.rpartition(b"}")[2].partition(b"{")
            yield before + brace
