"""Level *native*: which file is judged how, with a compiler that is played; and with the real one
of C++ where there is one.
"""

import shutil
from pathlib import Path

import pytest

from equivalence.levels import native
from equivalence.levels.native import NativeSetting, run
from equivalence.native import frontend
from equivalence.native.frontend import (
    VARIABLE,
    Compiler,
    Preprocessed,
    preprocess,
    read,
    read_build,
)
from shrinker.cache import Cache
from tests.small import read_archive, write

LISTS = read_archive(Path(__file__).with_name("texts.txtar"))["CMakeLists.txt"]


def library(root: Path, **sources: str) -> Path:
    texts = {"a.cu": "int a;\n", "b.cpp": "int b;\n", **sources}
    return write(
        root,
        {"kernels/CMakeLists.txt": LISTS}
        | {f"kernels/csrc/{n}": text for n, text in texts.items()},
    )


ARCHIVE = "URL https://example.org/cut/archive/v1.tar.gz\n    URL_HASH SHA256=00"


@pytest.mark.parametrize("archive", [False, True], ids=["repository", "archive"])
def test_a_build_is_read_from_its_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, archive: bool
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "headers"))
    folder = library(tmp_path) / "kernels"
    lists = LISTS.replace(
        "GIT_REPOSITORY https://example.org/cut.git\n    GIT_TAG        v1", ARCHIVE
    )
    (folder / "CMakeLists.txt").write_text(lists if archive else LISTS)
    build = read_build(folder)
    assert build.sources == ("csrc/a.cu", "csrc/b.cpp")
    assert build.defines == ("-DFAST=1",)
    origin = "https://example.org/cut" if archive else "https://example.org/cut.git"
    assert [missing.partition(" (")[2] for missing in build.missing] == [f"{origin} at v1)"]
    (tmp_path / "headers/cut@v1/include").mkdir(parents=True)
    build = read_build(folder)
    assert (build.missing, build.headers[-1]) == ((), tmp_path / "headers/cut@v1/include")


def setting(cache: Cache | None = None) -> NativeSetting:
    compiler = Compiler("nvcc", ())
    return NativeSetting(
        compiler, ("kernels",), (cache or Cache()).layer("native"), lambda line: None
    )


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """A compiler that finds an error where a text says so; what it read."""
    asked: list[bytes] = []

    def preprocessed(compiler: Compiler, build: object, source: str) -> Preprocessed:
        text = (build.folder / source).read_bytes()  # type: ignore[attr-defined]
        return Preprocessed(text, "no such header" if b"#error" in text else "", ())

    def said(source: Preprocessed) -> str:
        asked.append(source.text)
        return "wrong type" if b"wrong" in source.text else ""

    monkeypatch.setattr(native, "preprocess", preprocessed)
    monkeypatch.setattr(native, "read", said)
    monkeypatch.setattr("equivalence.levels.native.shutil.which", lambda name: None)
    monkeypatch.setattr(Compiler, "version", "1")
    return asked


CASES = {
    "the same": ("int b;\n", "int b;\n\n", True, [], 2),
    "another, without an error": ("int b;\nint c;\n", "int b;\n", True, [b"int b;\n"], 2),
    "an error here alone": ("int b;\n", "wrong\n", False, [b"wrong\n", b"int b;\n"], 2),
    "an error in both": ("wrong int b;\n", "wrong\n", True, [b"wrong\n", b"wrong int b;\n"], 1),
    "a header that upstream's lacks, too": ("#error\n", "#error\n", True, [], 1),
    "a header that is gone here": ("int b;\n", "#error\n", False, [], 2),
}


@pytest.mark.parametrize(("theirs", "ours", "passes", "asked", "judged"), CASES.values(), ids=CASES)
def test_verdicts(
    tmp_path: Path,
    played: list[bytes],
    theirs: str,
    ours: str,
    passes: bool,
    asked: list[bytes],
    judged: int,
) -> None:
    upstream = library(tmp_path / "upstream", **{"b.cpp": theirs})
    generated = library(tmp_path / "generated", **{"b.cpp": ours})
    result = run(upstream, generated, setting())
    assert (result.passed, played) == (passes, asked)
    assert dict(result.evidence.checks)["sources"] == judged
    assert [f.path for f in result.evidence.findings] == ([] if passes else ["kernels/csrc/b.cpp"])


def test_verdicts_are_remembered(tmp_path: Path, played: list[bytes]) -> None:
    upstream = library(tmp_path / "upstream", **{"b.cpp": "int c;\n"})
    generated = library(tmp_path / "generated")
    cache = Cache(tmp_path / "cache")
    for _ in range(2):
        assert run(upstream, generated, setting(cache)).passed
    assert played == [b"int b;\n"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_the_compiler_of_c_plus_plus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "_cuda", lambda compiler: [])
    folder = (
        library(
            tmp_path,
            **{"b.cpp": '#include "h.h"\nint b = helper(1);\n', "h.h": "int helper(int);\n"},
        )
        / "kernels"
    )
    compiler = Compiler("nvcc", ())
    made = preprocess(compiler, read_build(folder), "csrc/b.cpp")
    assert (made.error, read(made)) == ("", "")
    (folder / "csrc/h.h").write_text("\n")
    again = preprocess(compiler, read_build(folder), "csrc/b.cpp")
    assert again.digest != made.digest
    assert "helper" in read(again)
    (folder / "csrc/h.h").unlink()
    assert "h.h" in preprocess(compiler, read_build(folder), "csrc/b.cpp").error
