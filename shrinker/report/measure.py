"""Files and lines before and after, each with its area and its language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass

from shrinker.emit.writer import count_lines
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree

_LANGUAGES = {
    "py": "Python",
    "pyi": "Python",
    "cu": "CUDA",
    "cuh": "CUDA",
    "c": "C++",
    "cc": "C++",
    "cpp": "C++",
    "h": "C++",
    "hpp": "C++",
    "inl": "C++",
    "cxx": "C++",
    "go": "Go",
    "rs": "Rust",
    "json": "JSON",
    "jinja": "templates",
    "jinja2": "templates",
    "md": "documents",
    "mdx": "documents",
    "rst": "documents",
    "ipynb": "documents",
    "toml": "configuration",
    "yaml": "configuration",
    "yml": "configuration",
    "cfg": "configuration",
    "cmake": "configuration",
}


CODE = ("Python", "C++", "CUDA")
"""Languages of what serves: the package, its kernels and their wrappers."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One upstream file, before and after."""

    path: str
    area: str
    language: str
    before: int
    """Lines; 0 for a binary file."""
    after: int
    kept: bool


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over a group of files."""

    name: str
    files_before: int
    files_after: int
    lines_before: int
    lines_after: int

    @property
    def percent(self) -> str:
        """Lines left, in percent of the lines before."""
        return f"{100 * self.lines_after / self.lines_before:.1f} %" if self.lines_before else "-"


def measure(tree: UpstreamTree, manifest: Manifest) -> list[Measured]:
    """Measure every file of the tree, in its order. Files that shrinker itself writes are no upstream files."""
    emitted = {file.path: file for file in manifest.files}
    out: list[Measured] = []
    for file in tree.files:
        kept = emitted.get(file.path)
        if kept is not None:
            before, after = kept.lines_before, kept.lines_after
        else:
            before, after = count_lines(tree.read(file.path)), 0
        out.append(Measured(file.path, area(file.path), language(file.path), before, after, kept is not None))
    return out


def area(path: str) -> str:
    """First folder below ``python/sglang/srt`` or ``python/sglang``; outside the package the first folder."""
    rest = path.removeprefix(PACKAGE_PREFIX)
    parts = rest.split("/")
    if rest == path:
        return parts[0] + "/" if len(parts) > 1 else "(top)"
    if parts[0] == "srt":
        return f"srt/{parts[1]}" if len(parts) > 2 else "srt"
    return f"sglang/{parts[0]}" if len(parts) > 1 else "sglang"


def language(path: str) -> str:
    """Language by suffix; ``other`` for what has none in the table."""
    return _LANGUAGES.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "other")


def tally(files: Iterable[Measured], key: Callable[[Measured], str]) -> list[Tally]:
    """Sums by key, the largest before first."""
    sums: dict[str, list[int]] = {}
    for file in files:
        row = sums.setdefault(key(file), [0, 0, 0, 0])
        row[0] += 1
        row[1] += file.kept
        row[2] += file.before
        row[3] += file.after
    tallies = [Tally(name, *row) for name, row in sums.items()]
    return sorted(tallies, key=lambda t: (-t.lines_before, t.name))


def as_json(tallies: Iterable[Tally]) -> Mapping[str, Mapping[str, int]]:
    """Tallies by name, for summary.json."""
    return {
        t.name: {key: value for key, value in asdict(t).items() if key != "name"}
        for t in sorted(tallies, key=lambda t: t.name)
    }
