"""A clone of this checkout in which README's commands run.

`python -m tests.clones` (`make readme`) runs all of them, with a log.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tests.documented import ROWS, Row
from tests.small import git, without_other

REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Clone:
    """A copy of this checkout, changes that are not committed yet included, in a folder of its own.

    Nothing is pushed or written back.
    """

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "checkout"

    def make(self) -> "Clone":
        git(self.folder, "clone", "-q", str(REPOSITORY), str(self.root))
        listed = git(
            REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"
        ).split("\0")
        for name in [
            name for name in git(self.root, "ls-files", "-z").split("\0") if name not in listed
        ]:
            (self.root / name).unlink()
        for name in filter(None, listed):
            if (source := REPOSITORY / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, self.root / name)
            elif not source.exists():
                (self.root / name).unlink(missing_ok=True)
        self.keep()
        git(self.folder, "init", "-q", "--bare", "remote.git")
        # A clone's origin is this checkout: a command that pushes must not reach it.
        git(self.root, "remote", "set-url", "origin", str(self.folder / "remote.git"))
        for place in ("home", "bin", "tree.git"):
            (self.folder / place).mkdir()
        git(self.folder / "tree.git", "init", "-q", "--bare")
        program = self.folder / "bin/gh"
        program.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/asked\n')
        program.chmod(0o755)
        # As if it had been made here: its own would be 2 GB, and the Python below is that of this
        # checkout.
        (self.root / ".venv-simulate").mkdir()
        (self.root / ".venv-simulate/.ready").touch()
        return self

    def environment(self, row: Row) -> dict[str, str]:
        around = without_other(os.environ).items()
        kept = {
            name: value
            for name, value in around
            if not name.startswith(("MAKE", "PYTEST_", "COV_"))
        }
        kept |= {
            "PATH": os.pathsep.join(
                [str(self.folder / "bin"), str(REPOSITORY / ".venv-uv/bin"), kept["PATH"]]
            )
        }
        kept |= {"SHRINKER_SIMULATION_PYTHON": self.named("{simulated}")}
        # make hands its variables down: README's commands name their own.
        own = ("PROFILE", "OUT", "UPSTREAM", "STRICT", "LEVEL", "NAME", "GPU")
        for name in ("PYTHONPATH", "VIRTUAL_ENV", "MFLAGS", *own):
            kept.pop(name, None)
        return kept | {name: self.named(value) for name, value in row.env.items()}

    def named(self, text: str) -> str:
        """A text of a row with its places."""
        places = {
            "tmp": self.folder,
            "remote": self.folder / "tree.git",
            "simulated": REPOSITORY / ".venv-simulate/bin/python",
        }
        return re.sub(r"\{(tmp|remote|simulated)\}", lambda match: str(places[match[1]]), text)

    def keep(self) -> None:
        """Commit all."""
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "--no-verify", "-m", "As it is")

    def run(self, row: Row) -> tuple[str, list[str]]:
        """What a command printed, and what is wrong with it."""
        words = ["sh", "-c", self.named(row.instead or row.command)]
        done = subprocess.run(
            words,
            cwd=self.root,
            env=self.environment(row),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        wrong = []
        if done.returncode != row.code:
            wrong.append(f"ends with {done.returncode} instead of {row.code}")
        if self.named(row.says) not in done.stdout + done.stderr:
            wrong.append(f"does not say {row.says!r}")
        if "Traceback (most recent call last)" in done.stderr:
            wrong.append("ends in a traceback")
        named = (
            git(self.root, "diff", "--name-only", "HEAD"),
            git(self.root, "ls-files", "--others", "--exclude-standard"),
        )
        changed = [path for paths in named for path in paths.splitlines()]
        wrong += [
            f"leaves {path} changed"
            for path in changed
            if not path.startswith(tuple(row.writes) or ("\0",))
        ]
        if row.command == "make shrink":
            self.keep()
        elif changed:
            git(self.root, "reset", "-q", "--hard")
            git(self.root, "clean", "-fdq")
        if row.then:
            subprocess.run(
                ["sh", "-c", row.then],
                cwd=self.root,
                env=self.environment(row),
                capture_output=True,
                check=True,
            )
            self.keep()
        return done.stdout + done.stderr, wrong


def told(row: Row, seconds: float, said: str, wrong: list[str]) -> Iterator[str]:
    """Lines of the log."""
    yield f"{'FAILED' if wrong else 'ok':<6} {seconds:7.1f} s  {row.command}"
    if row.instead:
        yield f"{'':18}as: {row.instead} ({row.why})"
    yield from (f"{'':18}{line}" for line in wrong)
    printed = [line for line in said.splitlines() if line.strip()]
    yield from (f"{'':18}| {line[:200]}" for line in printed[-25 if wrong else -1 :])


def run_all(clone: Clone, log: TextIO, only: str = "") -> int:
    """Run all commands, or those that hold a text, in README's order; how many failed."""
    failed = 0
    for row in ROWS:
        if only in row.command or row.command == "make shrink":
            start = time.monotonic()
            said, wrong = clone.run(row)
            failed += bool(wrong)
            lines = "\n".join(told(row, time.monotonic() - start, said, wrong))
            print(lines, flush=True)
            print(lines, file=log, flush=True)
    return failed


def main() -> int:
    """Run all commands of README and write the log; exit 1 when one does not do what it should."""
    parser = argparse.ArgumentParser(prog="python -m tests.clones", description=main.__doc__)
    parser.add_argument("--log", type=Path, default=REPOSITORY / "dist/readme.log")
    parser.add_argument("--only", default="", help="text that the commands hold")
    asked = parser.parse_args()
    asked.log.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="shrinker-readme-", ignore_cleanup_errors=True) as work,
        asked.log.open("w") as log,
    ):
        return int(run_all(Clone(Path(work)).make(), log, asked.only) > 0)


if __name__ == "__main__":
    sys.exit(main())
