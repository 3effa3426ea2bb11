"""Native code of a tree without a GPU: how a library is built, read from its build lists, and its
sources through a compiler's front end.

A source is preprocessed, then read with all its types; no code is made. Device code is checked as
far as the front end goes, which is every name and type of it; what only the back end rejects
(registers, shared memory, instructions of an architecture) is not seen.
"""

import hashlib
import os
import posixpath
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from equivalence.processes import execute
from equivalence.simulation.environment import find_python
from shrinker.source.cache import default_folder
from shrinker.syntax.cmake import Command, read_cmake
from shrinker.values.errors import InputError

VARIABLE = "SHRINKER_HEADERS"
"""Folder with the sources that build lists fetch, each as ``NAME@TAG``: ``cutlass@57e3cfb…``."""
_FETCHED = re.compile(r"\$\{([\w-]+)_SOURCE_DIR\}/(.*)")
_DEFINE = re.compile(r"-D[A-Za-z_]\w*(=[\w.-]*)?")
_TAKES_HEADERS = ("set", "target_include_directories")
_COMPILED = (".c", ".cc", ".cpp", ".cu")
_LIMIT = 900
"""Seconds for one step."""
_MARKER = re.compile(rb'^# \d+ "[^"\n]*"[^\n]*\n', re.MULTILINE)
_BLANK = re.compile(rb"\s+")
_STUBS = Path(__file__).resolve().parent / "stubs"
"""Headers that torch's include and that come with libraries which nothing here calls; a real one is
found first.
"""


@dataclass(frozen=True, slots=True)
class Build:
    """One library of one tree."""

    folder: Path
    sources: tuple[str, ...]
    """Below the folder, sorted."""
    headers: tuple[Path, ...]
    defines: tuple[str, ...]
    """``-DNAME=value``."""
    missing: tuple[str, ...]
    """What is fetched and not there: a folder and where it comes from."""


def read_build(folder: Path) -> Build:
    """Read the build lists of a library."""
    lists = sorted([*folder.glob("CMakeLists.txt"), *folder.glob("cmake/*.cmake")])
    commands = [command for path in lists for command in read_cmake(path.read_text("utf-8"))]
    fetched = dict(_fetched(commands))
    headers = [folder / "include", folder / "csrc"]
    sources, defines = set[str](), set[str]()
    missing: dict[str, None] = {}
    for name, text in (
        (command.name, each.text) for command in commands for each in command.arguments
    ):
        path = posixpath.normpath(text)
        if path.endswith(_COMPILED) and "$" not in path and (folder / path).is_file():
            sources.add(path)
        elif _DEFINE.fullmatch(text):
            defines.add(text)
        elif name in _TAKES_HEADERS and (third := _FETCHED.match(text)) and third[1] in fetched:
            place, origin = fetched[third[1]]
            if not place.is_dir() and not text.endswith(_COMPILED):
                missing[f"{place} ({origin})"] = None
            headers.append(place / third[2])
    known = dict.fromkeys(path for path in headers if path.is_dir())
    return Build(
        folder, tuple(sorted(sources)), tuple(known), tuple(sorted(defines)), tuple(missing)
    )


def _fetched(commands: Iterable[Command]) -> Iterator[tuple[str, tuple[Path, str]]]:
    folder = Path(os.environ.get(VARIABLE) or default_folder() / "headers")
    for command in commands:
        if command.name == "fetchcontent_declare":
            name, *rest = (argument.text for argument in command.arguments)
            given = dict(zip(rest[::2], rest[1::2], strict=False))
            archive, _, packed = given.get("URL", "").partition("/archive/")
            origin = given.get("GIT_REPOSITORY", archive)
            tag = given.get("GIT_TAG", packed.removesuffix(".tar.gz"))
            base = origin.rstrip("/").rpartition("/")[2].removesuffix(".git")
            yield name, (folder / f"{base}@{tag}", f"{origin} at {tag}")


_ASK = (
    "import sysconfig as s, importlib.util as u; print(u.find_spec('torch').origin); "
    "print(s.get_path('include'))"
)


def torch_headers() -> tuple[Path, ...]:
    """Of the environment of simulated runs: a wheel for the CPU has the headers of CUDA code, too.
    Raises InputError where there is no such environment, or it has no torch."""
    lines = execute([str(find_python()), "-c", _ASK], seconds=600).stdout.splitlines()
    if len(lines) != 2:
        raise InputError(
            "torch's headers were not found", "make the environment with `make simulation`"
        )
    include = Path(lines[0]).parent / "include"
    return include, include / "torch/csrc/api/include", Path(lines[1])


@dataclass(frozen=True, slots=True)
class Compiler:
    """What is asked, and with which headers."""

    nvcc: str
    torch: tuple[Path, ...]
    """Folders of torch's and Python's headers."""

    @property
    def version(self) -> str:
        """Of the compiler: a result holds for no other."""
        return execute([self.nvcc, "--version"], seconds=_LIMIT).stdout

    def options(self, build: Build) -> list[str]:
        """Of both compilers."""
        later = [argument for path in (*self.torch, _STUBS) for argument in ("-isystem", str(path))]
        return ["-std=c++17", *build.defines, *(f"-I{path}" for path in build.headers), *later]


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """A source with all that it includes."""

    text: bytes
    error: str
    command: tuple[str, ...]
    """The front end that reads it, ``{}`` where the file goes; empty for plain C++."""

    @property
    def digest(self) -> str:
        """Of the text without the names and lines of files: blank lines say nothing."""
        plain = _BLANK.sub(b" ", _MARKER.sub(b"", self.text))
        return hashlib.sha256(plain).hexdigest()


def preprocess(compiler: Compiler, build: Build, source: str) -> Preprocessed:
    """Preprocess a source for the host, in which the front end reads the device's code, too."""
    path = build.folder / source
    with tempfile.TemporaryDirectory(prefix="shrinker-native-") as scratch:
        made, out, command = "x.ii", Path(scratch) / "x.ii", list[str]()
        step = ["g++", *compiler.options(build), *_cuda(compiler), "-E", str(path), "-o", made]
        if path.suffix == ".cu":
            steps = _steps(compiler, build, path)
            step = next((step for step in steps if step[0].endswith("gcc") and "-E" in step), [])
            command = next((step for step in steps if "cudafe++" in step[0]), [])
            if not step or not command:
                return Preprocessed(b"", "nvcc --dryrun names no front end", ())
            made = step[step.index("-o") + 1]
        error = first_error([str(out) if part == made else part for part in step], scratch)
        text = out.read_bytes() if out.is_file() else b""
        return Preprocessed(text, error, tuple("{}" if part == made else part for part in command))


def read(preprocessed: Preprocessed) -> str:
    """Return the front end's first error about a preprocessed source; empty when it has none."""
    with tempfile.TemporaryDirectory(prefix="shrinker-native-") as scratch:
        file = Path(scratch) / "x.ii"
        file.write_bytes(preprocessed.text)
        command = [part.replace("{}", str(file)) for part in preprocessed.command]
        for option in {
            "--gen_c_file_name",
            "--module_id_file_name",
            "--stub_file_name",
        }.intersection(command):
            at = command.index(option) + 1
            command[at] = str(Path(scratch) / Path(command[at]).name)
        plain = ["g++", "-std=c++17", "-fsyntax-only", "-w", "-x", "c++-cpp-output", str(file)]
        return first_error(command or plain, scratch)


def find_nvcc() -> str:
    """Return the compiler; empty where there is none."""
    found = [
        shutil.which("nvcc"),
        *(str(path) for path in sorted(Path("/usr/local").glob("cuda*/bin/nvcc"))),
    ]
    return next((path for path in found if path), "")


def _steps(compiler: Compiler, build: Build, path: Path) -> list[list[str]]:
    """Return what nvcc would run for one architecture."""
    flags = ["-arch=sm_100a", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-w"]
    asked = [
        compiler.nvcc,
        "--dryrun",
        "-c",
        *flags,
        *compiler.options(build),
        str(path),
        "-o",
        "x.o",
    ]
    lines = execute(asked, seconds=_LIMIT).stderr.splitlines()
    # Its own folder is where it says that it is.
    here = next((line.partition("_HERE_=")[2] for line in lines if "_HERE_=" in line), "")
    steps = [shlex.split(line[3:]) for line in lines if re.match(r'#\$ "?[\w./$+-]+"? ', line)]
    return [
        [str(own) if (own := Path(here, first)).is_file() else first, *rest]
        for first, *rest in steps
    ]


def _cuda(compiler: Compiler) -> list[str]:
    """Return the toolkit's headers, for sources that nvcc does not read."""
    folder = Path(compiler.nvcc).resolve().parent.parent
    places = [*folder.glob("include"), *Path("/usr/local").glob("cuda/include")]
    return [f"-I{path}" for path in places[-1:]]


def first_error(command: Sequence[str], scratch: str | None = None) -> str:
    """Return the first line in which a step says what is wrong; empty when nothing is."""
    done = execute(command, seconds=_LIMIT, folder=scratch)
    if done.returncode == 0:
        return ""
    lines = (done.stderr + done.stdout).splitlines() or [f"ended with {done.returncode}"]
    return next((line for line in lines if "error" in line.lower()), lines[0])
