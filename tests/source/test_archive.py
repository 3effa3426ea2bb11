from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shrinker.source import archive, layout
from shrinker.source.archive import members
from shrinker.values.errors import InputError
from tests.source.upstreams import make_sdist, make_wheel

BAD_PATHS = [
    "/etc/passwd",
    "../x",
    "sglang/../../x",
    "sglang/./x",
    "sglang//x",
    "C:/x",
    "sglang\\..\\x",
    "sglang/a\nb",
    "sglang/.git/config",
    "..",
]


def _zip_link(opened: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("sglang/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    opened.writestr(info, "/etc/passwd")


def _tar(**fields: object) -> Callable[[tarfile.TarFile], None]:
    def add(opened: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("sglang-1.2.0/sglang/x")
        for name, value in fields.items():
            setattr(info, name, value)
        opened.addfile(info, io.BytesIO(b"x" * info.size))

    return add


def _read(tmp_path: Path, name: str, content: bytes) -> dict[str, bytes]:
    (tmp_path / name).write_bytes(content)
    return dict(members(tmp_path / name))


def _refused(tmp_path: Path, said: str, *archives: bytes) -> None:
    """A wheel, a source distribution, or one after the other."""
    for content in archives:
        with pytest.raises(InputError, match=said):
            _read(tmp_path, "x.whl" if content.startswith(b"PK") else "x.tar.gz", content)


def _wheel(name: str, content: bytes = b"x") -> bytes:
    return make_wheel(extra=lambda opened: opened.writestr(zipfile.ZipInfo(name), content))


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_that_leaves_the_folder(path: str, tmp_path: Path) -> None:
    _refused(tmp_path, "refused the path", _wheel(path), make_sdist(_tar(name=path)))


@pytest.mark.parametrize("path", ["../x/", "/x/"])
def test_folder_entries_are_checked_too(path: str, tmp_path: Path) -> None:
    folder = make_sdist(_tar(name=path.rstrip("/"), type=tarfile.DIRTYPE))
    _refused(tmp_path, "refused the path", _wheel(path, b""), folder)


def test_wheel_link(tmp_path: Path) -> None:
    _refused(tmp_path, "link", make_wheel(extra=_zip_link))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_sdist_link_or_device(kind: bytes, tmp_path: Path) -> None:
    _refused(tmp_path, "link or a device", make_sdist(_tar(type=kind, linkname="/etc/passwd")))


@pytest.mark.parametrize("name", ["sglang/__init__.py", "sglang/__INIT__.py"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name(name: str, tmp_path: Path) -> None:
    _refused(tmp_path, "two members", _wheel(name), make_sdist(_tar(name=f"sglang-1.2.0/{name}")))


def test_oversized_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_MEMBER_BYTES", 1000)
    _refused(tmp_path, "more than 1,000", _wheel("sglang/big", b"x" * 1001), make_sdist(_tar(size=1001)))


def test_oversized_whole_and_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_TOTAL_BYTES", 50)
    _refused(tmp_path, "more than 50 bytes", make_wheel())
    monkeypatch.setattr(layout, "MAX_TOTAL_BYTES", 10**9)
    monkeypatch.setattr(layout, "MAX_MEMBERS", 3)
    _refused(tmp_path, "3 files", make_sdist())


def test_member_that_lies_about_its_size(tmp_path: Path) -> None:
    content = make_wheel(extra=lambda opened: opened.writestr("sglang/z", b"z" * 5000, zipfile.ZIP_DEFLATED))
    # The central directory's last record of 5,000 bytes says 50.
    place = content.rindex((5000).to_bytes(4, "little"))
    _refused(tmp_path, "cannot be read", content[:place] + (50).to_bytes(4, "little") + content[place + 4 :])


@pytest.mark.parametrize("name", ["x.whl", "x.tar.gz"])
@pytest.mark.parametrize("cut", [0, 10, 300])
def test_truncated(name: str, cut: int, tmp_path: Path) -> None:
    content = make_wheel() if name == "x.whl" else make_sdist()
    with pytest.raises(InputError, match="cannot be read"):
        _read(tmp_path, name, content[:cut])


def test_a_sound_archive_is_read_whole(tmp_path: Path) -> None:
    assert _read(tmp_path, "x.whl", make_wheel())["sglang/srt/server.py"] == b"PORT = 30000\n"
    assert _read(tmp_path, "x.tar.gz", make_sdist())["sglang-1.2.0/sglang/srt/server.py"] == b"PORT = 30000\n"


@given(st.text(alphabet="ab./\\:\0\n ", max_size=12))
def test_whatever_is_admitted_lies_below_the_folder(path: str) -> None:
    try:
        archive.Guard("test").admit(path, 0)
    except InputError:
        return
    assert not PurePosixPath(path).is_absolute()
    assert ".." not in PurePosixPath(path).parts
    assert str(PurePosixPath(path)) == path
