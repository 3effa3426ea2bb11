"""The run of one upstream: in a process of its own, whose end says what became of it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.process import measure
from benchmarks.sweep.choose import Chosen
from benchmarks.sweep.rows import Row

_CAUSE_LINES = 12
_REPOSITORY = Path(__file__).resolve().parents[2]


def run_one(
    chosen: Chosen,
    profile: str,
    jobs: int,
    rules: Path | None,
    limit: float,
    identity: tuple[str, str],
) -> Row:
    """Generate the tree of one upstream and look at it; the tree is thrown away.

    Args:
        limit: seconds after which the run is killed.
        identity: hash of the rules and identity of the tool, for the row.
    """
    with tempfile.TemporaryDirectory(prefix="shrinker-sweep-") as name:
        folder = Path(name)
        words = [chosen.spec, profile, str(folder / "tree"), str(jobs), str(rules or "")]
        found = measure(
            [sys.executable, "-m", "benchmarks.sweep.one", *words],
            folder=folder,
            environment=os.environ | {"PYTHONPATH": str(_REPOSITORY)},
            limit_seconds=limit,
        )
        known: dict[str, Any] = {
            "name": chosen.name,
            "profile": profile,
            "rules_hash": identity[0],
            "tool": identity[1],
            "wall_seconds": round(found.wall_seconds, 1),
            "cpu_seconds": round(found.cpu_seconds, 1),
            "memory_bytes": found.memory_bytes,
        }
        said = (folder / "stderr").read_text("utf-8", "replace").strip().splitlines()
        try:
            answer = json.loads((folder / "stdout").read_text("utf-8"))
        except ValueError:
            why = (
                f"not done after {limit:.0f} s"
                if found.timed_out
                else f"ended with {found.exit_code}"
            )
            cause = "\n".join([why, *said[-_CAUSE_LINES:]])
            return Row(**known, outcome="killed", cause=cause)
    for key in ("unknown_predicates", "rescued"):
        answer[key] = tuple(answer.get(key, ()))
    return Row(**{**known, **answer})


def main(spec: str, profile: str, out: str, jobs: str, rules: str) -> None:
    """Print the row's own part as JSON."""
    from shrinker.cli.options import LineProgress
    from shrinker.pipeline import Request, shrink
    from shrinker.report.fit import fit_lines
    from shrinker.report.place import reports_beside
    from shrinker.values.errors import ShrinkerError

    try:
        place, folder = Path(out), Path(rules) if rules else None
        asked = Request(
            spec, profile, place, int(jobs), reports=reports_beside(place), rules=folder, look=True
        )
        found = shrink(asked, LineProgress())
    except ShrinkerError as error:
        print(json.dumps({"outcome": "failed", "cause": _short(error.message)}))
        return
    finally:
        shutil.rmtree(out, ignore_errors=True)
    package = found.summary["package_python"]
    assert found.fit is not None
    # Strict mode refuses what is open, too: what the judge asks and no rule answers.
    refused = (*found.strict, *(question for item in found.evidence for question in item.open))
    # Of a loss where it is, and not what upstream wrote there.
    told = (f.message.partition("`" if f.check == "losses" else "\n")[0].strip() for f in refused)
    cause = [
        f"{f.path}:{f.line}: [{f.check}] {said}" for f, said in zip(refused, told, strict=True)
    ]
    unknown = [
        f.message.split("`")[1]
        for f in refused
        if f.check == "unnamed-predicate" and "`" in f.message
    ]
    answer = {
        "outcome": "clean" if found.fit.fits else "generated",
        "cause": _short("\n".join([*cause, *(fit_lines(found.fit) if not found.fit.fits else ())])),
        "files_before": package["files_before"],
        "files": package["files_after"],
        "lines_before": package["lines_before"],
        "lines": package["lines_after"],
        "undefined_names": sum(
            f.check == "undefined names" for e in found.evidence for f in e.findings
        ),
        "unknown_predicates": unknown,
        "findings": dict(sorted(Counter(f.check for f in refused).items())),
        "rescued": [f"{module}: {where}" for module, where in sorted(found.rescued.items())],
    }
    print(json.dumps(answer))


def _short(text: str) -> str:
    rows = text.replace("```", "'''").splitlines()
    more = [f"… and {len(rows) - _CAUSE_LINES} more lines"] if len(rows) > _CAUSE_LINES else []
    return "\n".join([*(row[:300] for row in rows[:_CAUSE_LINES]), *more])


if __name__ == "__main__":
    main(*sys.argv[1:])
