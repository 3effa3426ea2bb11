"""Pieces for a machine without network, from a folder of wheels."""

import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

from equivalence.gpu.bundle import main, thin
from tests.small import write


def wheel(folder: Path, name: str, data: bytes) -> None:
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-cp312-cp312-manylinux2014_x86_64.whl", "w") as file:
        file.writestr(f"{name}/data.bin", data)
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-manylinux2014_x86_64\n",
        )
        file.writestr(f"{info}/RECORD", "")


def packed(folder: Path) -> list[str]:
    wheel(folder / "wheels", "kernels", random.Random(0).randbytes(200_000))
    write(folder / "tree", {"a.py": "A = 1\n", "__pycache__/a.pyc": ""})
    given = [
        "pack",
        str(folder / "out"),
        "--package",
        "kernels",
        "--folder",
        str(folder / "tree"),
        "--mib",
        "0.05",
    ]
    return [*given, "--pip=--no-index", f"--pip=--find-links={folder / 'wheels'}"]


def test_what_is_packed_comes_out_of_pieces_of_the_size_asked_for(tmp_path, capsys):
    assert main(packed(tmp_path)) == 0
    sizes = [int(line.split()[-1]) for line in capsys.readouterr().out.splitlines()]
    assert len(sizes) > 3 and max(sizes) <= 0.05 * 2**20
    assert main(["unpack", str(tmp_path / "out"), str(tmp_path / "there")]) == 0
    assert (tmp_path / "there/site/kernels/data.bin").read_bytes() == random.Random(0).randbytes(
        200_000
    )
    assert [path.name for path in (tmp_path / "there/tree").iterdir()] == ["a.py"]


def test_a_piece_that_broke_or_is_missing_writes_nothing(tmp_path, capsys):
    assert main(packed(tmp_path)) == 0
    second = tmp_path / "out/piece001"
    second.write_bytes(b"x" + second.read_bytes()[1:])
    assert main(["unpack", str(tmp_path / "out"), str(tmp_path / "there")]) == 1
    second.unlink()
    assert main(["unpack", str(tmp_path / "out"), str(tmp_path / "there")]) == 1
    assert not (tmp_path / "there").exists() and "piece001" in capsys.readouterr().err


def test_no_wheel_and_a_full_folder_are_errors(tmp_path, capsys):
    given = packed(tmp_path)
    assert main([*given, "--package", "nowhere"]) == 1
    (tmp_path / "out/kept").write_text("")
    assert main(given) == 1 and "not empty" in capsys.readouterr().err


def container(*entries: tuple[int, bytes]) -> bytes:
    """GPU code as a library holds it: by architecture."""
    parts = [
        struct.pack("<HHIQIIHHI", 2, 0x101, 64, len(code), 0, 0, 0, 0, arch).ljust(64, b"\0") + code
        for arch, code in entries
    ]
    body = b"".join(parts)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_code_for_other_cards_is_zeroed(tmp_path):
    library = tmp_path / "ops.so"
    text = container((80, b"compiled there"))
    library.write_bytes(
        b"ELF"
        + container((80, b"a" * 40), (90, b"b" * 40), (100, b"c" * 40))
        + b"between"
        + text
        + b"\x50\xed\x55\xba"
    )
    size = library.stat().st_size
    assert thin(library, 90) == 80
    left = library.read_bytes()
    assert (
        len(left) == size
        and b"b" * 40 in left
        and text in left
        and b"a" * 5 not in left
        and b"c" * 5 not in left
    )
    assert thin(library, 90) == 80, "the same again"
    assert thin(library, 70) == 0


def test_the_command_packs_for_an_architecture(tmp_path):
    wheel(tmp_path / "wheels", "kernels", b"x")
    ops = container((80, random.Random(0).randbytes(90_000)), (90, b"b" * 100))
    with zipfile.ZipFile(next((tmp_path / "wheels").iterdir()), "a") as file:
        file.writestr("kernels/ops.so", ops)
    program, out = ["-m", "shrinker", "gpu-bundle"], str(tmp_path / "out")
    given = [*program, "--", "pack", out, "--package", "kernels", "--mib", "0.05"]
    given += ["--pip=--no-index", f"--pip=--find-links={tmp_path / 'wheels'}", "--arch", "90"]
    done = subprocess.run(
        [sys.executable, *given], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1, "90,000 bytes of another card's code are gone"
    unpack = [*program, "unpack", out, str(tmp_path / "there")]
    assert subprocess.run([sys.executable, *unpack], timeout=300, check=False).returncode == 0
    assert (tmp_path / "there/site/kernels/ops.so").read_bytes().count(b"b" * 100) == 1
