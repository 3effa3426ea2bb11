"""What importing the server costs, by distribution and by the import of the tree that pulls it in:
`python -m benchmarks.imports`.

    python -m benchmarks.imports UPSTREAM/python GENERATED/python --out reports/deepseek/imports.md

Runs in the simulated environment with `-X importtime`, each tree twice. Seconds of one import
follow how busy the machine is; the share of the whole says more, and modules and memory are the
same on every run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equivalence.simulation.environment import simulation

PACKAGE = "sglang"
_SERVER = "sglang.srt.entrypoints.http_server"
_ROW = re.compile(r"import time:\s+(\d+) \|\s+\d+ \| ( *)(\S+)")
_PROGRAM = """
import importlib, json, os, resource, sys, time
names = json.load(sys.stdin)
begin = time.process_time()
for name in names:
    try:
        importlib.import_module(name)
    except Exception:
        if len(names) == 1:
            raise
took = time.process_time() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print("@" + json.dumps([took, peak, list(sys.modules)]), flush=True)
sys.stderr.flush()
os._exit(0)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """One import of the server.

    Attributes:
        seconds: of the processor.
        peak: bytes of memory.
        modules: all that are loaded, in the order in which they were begun.
        shares: package → its part of the time of all modules.
        pulled: (package outside, module of the tree whose import brings it first) → part of the
            time, with all it imports.
    """

    seconds: float
    peak: int
    modules: Sequence[str]
    shares: Mapping[str, float]
    pulled: Mapping[tuple[str, str], float]


def read(text: str) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Microseconds by package, and by package outside and the module of the tree that brings it, of
    what `-X importtime` printed.

    A module is printed behind those that it imports, each two spaces further in: read backwards,
    what imports comes first.
    """
    packages: Counter[str] = Counter()
    pulled: Counter[tuple[str, str]] = Counter()
    open_: list[tuple[int, str, tuple[str, str] | None]] = []
    for line in reversed(text.splitlines()):
        if (row := _ROW.match(line)) is None:
            continue
        took, depth, name = int(row[1]), len(row[2]), row[3]
        while open_ and open_[-1][0] >= depth:
            open_.pop()
        package, above = name.partition(".")[0], open_[-1] if open_ else None
        entry = None
        if package != PACKAGE:
            entry = above[2] if above and above[2] else (package, above[1] if above else "")
            pulled[entry] += took
        packages[package] += took
        open_.append((depth, name, entry))
    return packages, pulled


def measure(tree: Path, modules: Sequence[str] = (_SERVER,)) -> Cost:
    """Import modules once, a tree's server where nothing else is said.

    Of several those that are not there are passed over, as the tree does.

    Raises:
        CalledProcessError: the one does not import.
    """
    made = simulation()
    done = subprocess.run(
        [made.python, "-X", "importtime", "-c", _PROGRAM],
        input=json.dumps(modules),
        env={**os.environ, **made.variables(tree.resolve())},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, peak, loaded = json.loads(
        next(line[1:] for line in done.stdout.splitlines() if line.startswith("@"))
    )
    packages, pulled = read(done.stderr)
    whole = sum(packages.values())
    return Cost(
        seconds,
        peak,
        loaded,
        {name: took / whole for name, took in packages.items()},
        {entry: took / whole for entry, took in pulled.items()},
    )


def page(upstream: Cost, generated: Cost, alone: Cost, most: int = 20) -> str:
    """Return the report.

    Args:
        upstream, generated: the servers.
        alone: what the generated tree's server loads from outside, without any module of the tree.
        most: rows of each table.
    """
    parts = [
        "# Importing the server",
        "",
        (
            "Written by `python -m benchmarks.imports`, in the simulated environment. Shares are "
            "of the time of all modules of the same tree"
        ),
        "and follow how busy the machine was; memory and modules do not.",
        "",
        "| | upstream | generated | ratio | packages alone | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        _row("seconds of the processor", upstream.seconds, generated.seconds, alone.seconds, ".1f"),
        _row("MB of memory", upstream.peak / 1e6, generated.peak / 1e6, alone.peak / 1e6, ".0f"),
        _row("modules", len(upstream.modules), len(generated.modules), len(alone.modules), ",.0f"),
        "",
        (
            "*packages alone*: the modules of other packages that the generated tree's server "
            "has loaded, in the same order, without any module"
        ),
        (
            "of the tree. A tree that needs these packages cannot cost less than that, however "
            "little code it has."
        ),
        "",
        "## By package",
        "",
        "| package | upstream | generated |",
        "| --- | ---: | ---: |",
    ]
    ordered = sorted(generated.shares, key=lambda name: -generated.shares[name])[:most]
    parts += [
        f"| {name} | {upstream.shares.get(name, 0):.1%} | {generated.shares[name]:.1%} |"
        for name in ordered
    ]
    parts += [
        "",
        "## By the kept import that brings it",
        "",
        "| package | first imported by | upstream | generated |",
    ]
    parts += ["| --- | --- | ---: | ---: |"]
    entries = sorted(generated.pulled, key=lambda entry: -generated.pulled[entry])[:most]
    parts += [
        (
            f"| {entry[0]} | `{entry[1]}` | {upstream.pulled.get(entry, 0):.1%} | "
            f"{generated.pulled[entry]:.1%} |"
        )
        for entry in entries
    ]
    gone = sorted(
        upstream.shares.keys() - generated.shares.keys(), key=lambda name: -upstream.shares[name]
    )
    parts += [
        "",
        (
            "Packages that upstream imports and the generated tree does not: "
            f"{', '.join(gone) or 'none'}."
        ),
    ]
    return "\n".join(parts) + "\n"


def _row(name: str, upstream: float, generated: float, alone: float, form: str) -> str:
    cells = (upstream, generated), (upstream, alone)
    shown = " | ".join(f"{value:{form}} | {value / whole:.2f}" for whole, value in cells)
    return f"| {name} | {upstream:{form}} | {shown} |"


def main(words: Sequence[str] | None = None) -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.imports", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "trees",
        type=Path,
        nargs=2,
        metavar="PYTHON",
        help="upstream's folder, then the generated one",
    )
    parser.add_argument("--out", type=Path, required=True, help="the page")
    given = parser.parse_args(words)
    # Whoever comes first reads the files from the disk: the second round counts.
    upstream, generated = [[measure(tree) for tree in given.trees] for _ in range(2)][-1]
    outside = [
        name for name in generated.modules if name.partition(".")[0] not in (PACKAGE, "__main__")
    ]
    alone = measure(given.trees[1], outside)
    given.out.write_text(page(upstream, generated, alone), "utf-8")


if __name__ == "__main__":
    main()
