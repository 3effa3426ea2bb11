"""A small upstream, rules for it, and the command run as a process of its own."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from shrinker.cli import main
from tests.small import content, python, read_archive, rule, write

REPOSITORY = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("driver.py")

FILES = read_archive(Path(__file__).with_suffix(".txtar"))

BACKEND = "The backend of another platform."
RULES = {
    "world.toml": "\n".join(
        (
            rule("root", "root", modules=["sglang"]),
            rule("fact", "npu", calls=["sglang.**.is_npu"], value=False),
            rule(
                "remove",
                "remove-npu",
                why=BACKEND,
                feature="Ascend NPU",
                modules=["sglang.srt.npu"],
            ),
        )
    ),
    "profiles/small.toml": 'description = "The small world."\ninclude = ["world"]\n',
}


PARTS = 20


def large() -> dict[str, str]:
    """Enough bytes for worker processes to be worth it in every phase, most of them comments."""
    code = "\n\ndef f():\n    if is_npu():\n        return 1\n    return 2\n"
    files = {
        f"python/sglang/srt/part{n}.py": f"from sglang.srt.utils import is_npu\n\nNUMBER = {n}\n{code}"
        + "# padding\n" * 6000
        for n in range(PARTS)
    }
    names = "".join(f"from sglang.srt import part{n}\n" for n in range(PARTS))
    # All of them are used: the tree is as large as what it was made of.
    used = ", ".join(f"part{n}.f() + part{n}.NUMBER" for n in range(PARTS))
    return (
        FILES
        | files
        | {"python/sglang/srt/cuda.py": f"{names}\n\ndef start():\n    return 'cuda', {used}\n"}
    )


@dataclass(frozen=True)
class Done:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    def expect(self, code: int) -> "Done":
        """The same, which must have ended with this code."""
        assert self.code == code, self.out + self.err
        return self


@dataclass(frozen=True)
class World:
    """A folder with an upstream, rules, a cache and an output."""

    folder: Path
    profile: str = "small"

    @property
    def upstream(self) -> Path:
        return self.folder / "upstream"

    @property
    def rules(self) -> Path:
        return self.folder / "rules"

    @property
    def out(self) -> Path:
        return self.folder / "dist/tree"

    @property
    def reports(self) -> Path:
        return self.folder / "dist/tree.reports"

    def environment(self, **extra: str) -> dict[str, str]:
        """Of the command: no index, cache or proxy of this machine."""
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.lower().endswith("_proxy")
            and not k.startswith(("UV_", "PIP_", "GIT_", "PYTEST_", "COV_"))
        }
        own = {
            "HOME": str(self.folder / "home"),
            "SHRINKER_CACHE": str(self.folder / "cache"),
            "PYTHONPATH": str(REPOSITORY),
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        }
        return kept | own | extra

    def arguments(self, *more: str, upstream: str | None = None, jobs: int = 1) -> list[str]:
        """Of `shrink` in this world."""
        spec = f"path:{self.upstream}" if upstream is None else upstream
        places = [
            "--out",
            str(self.out),
            "--rules",
            str(self.rules),
            "--profile",
            self.profile,
            "--jobs",
            str(jobs),
        ]
        return ["shrink", "--upstream", spec, *places, *more]

    def run(self, arguments: Sequence[str], **extra: str) -> Done:
        """Run a command in this process; `process` is the same in one of its own, a second
        slower.
        """
        out, err = io.StringIO(), io.StringIO()
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with (
                mock.patch.dict(os.environ, self.environment(**extra), clear=True),
                mock.patch.object(sys, "argv", ["shrinker", *arguments]),
                mock.patch("shrinker.cli.ending.answer_signals"),
                mock.patch("shrinker.cli.ending.leave", sys.exit),
                mock.patch("shrinker.source.index.time.sleep"),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                main()
        except SystemExit as end:
            assert isinstance(end.code, int)
            return Done(end.code, out.getvalue(), err.getvalue())
        finally:
            os.chdir(before)
        raise AssertionError("the command did not end")

    def process(self, arguments: Sequence[str], **extra: str) -> Done:
        done = python(self.folder, "-m", "shrinker", *arguments, env=self.environment(**extra))
        return Done(done.returncode, done.stdout, done.stderr)

    def shrink(self, *more: str, upstream: str | None = None, **extra: str) -> Done:
        return self.run(self.arguments(*more, upstream=upstream), **extra)

    def ask(self, command: str, *more: str) -> Done:
        """Run a command about the tree that is there."""
        return self.run([command, "--out", str(self.out), *more])

    def verify(self, *more: str) -> Done:
        """Judge the tree that is there against its upstream."""
        return self.ask("verify", "--upstream", f"path:{self.upstream}", *more)

    def add(self, path: str, text: str) -> None:
        """Write a text at the end of a file of the folder."""
        with (self.folder / path).open("a") as file:
            file.write(text)

    def paused(self, at: str, jobs: int = 1, then: str = "", more: Sequence[str] = ()) -> "Paused":
        """A `shrink` that waits when a phase begins (`fold and graph`) or is at work (`emit+`).

        Args:
            at: the phase.
            then: what the process does to itself later (see `driver.py`).
        """
        # All is to be worked on, whatever an earlier run left in the cache.
        command = [
            sys.executable,
            str(DRIVER),
            at,
            then,
            *self.arguments(*more, "--no-cache", jobs=jobs),
        ]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment(),
            start_new_session=True,
        )
        assert process.stderr is not None
        seen: list[str] = []
        for line in process.stderr:
            if line.startswith("PAUSED"):
                return Paused(process, [int(word) for word in line.split()[1:]])
            seen.append(line)
        process.communicate()
        raise AssertionError("never paused:\n" + "".join(seen))

    def left(self) -> dict[str, bytes]:
        """Every file below the output's parent: the tree, its reports, and what should not be
        there; not what was rejected.
        """
        files = content(self.out.parent)
        return {
            name: data
            for name, data in files.items()
            if not name.startswith(f"{self.out.name}.rejected")
        }

    def hidden(self) -> list[str]:
        """Temporary folders beside the output."""
        return sorted(p.name for p in self.out.parent.iterdir() if p.name.startswith("."))


@dataclass(frozen=True)
class Paused:
    """A run that waits to be told to go on."""

    process: subprocess.Popen[str]
    workers: list[int]

    def signal(self, number: signal.Signals, group: bool = False) -> Done:
        if group:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        return self.end()

    def go_on(self) -> Done:
        return self.end()

    def end(self) -> Done:
        out, err = self.process.communicate("\n", timeout=120)
        return Done(self.process.returncode, out, err)


def small_world(
    folder: Path, files: dict[str, str] = FILES, rules: dict[str, str] = RULES
) -> World:
    """The world of these files and rules."""
    write(folder / "upstream", files)
    write(folder / "rules", rules)
    return World(folder)
