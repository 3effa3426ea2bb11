"""`python -m equivalence.gpu`: see --help."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from equivalence.gpu.cells import CELLS, Environment, Plan, Tree, describe
from equivalence.gpu.schedule import run
from equivalence.gpu.verdict import document, lines, page, passed


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(
        prog="python -m equivalence.gpu",
        description="Serve the same checkpoints with upstream's tree and the generated one, and compare. What --out holds "
        "already is not run again. Exit code 1: a cell differs, or fails in one tree alone.",
        # What is not said is as `Plan` has it.
        argument_default=argparse.SUPPRESS,
    )
    add = result.add_argument
    several: dict[str, Any] = {"action": "append", "default": []}
    add(
        "--upstream", type=_place, required=True, help="folder that holds upstream's package sglang"
    )
    add(
        "--generated",
        type=_place,
        required=True,
        help="folder that holds the generated package sglang",
    )
    made = "folder of checkpoints (equivalence.gpu.checkpoint makes them)"
    add("--checkpoints", type=_place, required=True, help=made)
    add("--out", type=_place, required=True, help="where results go")
    add("--python", default=sys.executable, help="interpreter of the servers' environment")
    add(
        "--packages",
        type=_place,
        **several,
        help="folder of packages behind the tree; may be repeated",
    )
    add("--set", **several, metavar="NAME=VALUE", help="environment variable of every server")
    cells = (
        f"only these, with N servers of each tree, N blocks of what is timed; of {', '.join(CELLS)}"
    )
    add("--cell", **several, metavar="NAME[:N]", help=cells)
    add(
        "--gpus",
        type=lambda text: [int(gpu) for gpu in text.split(",")],
        help="ids of GPUs, with commas",
    )
    add("--seconds", type=float, help="time for all")
    add("--cell-seconds", type=float, help="time for one server")
    add("--at-once", type=int, help="servers at a time; above 1 the times mean little")
    add("--stagger", type=float, help="seconds between two starts, with --at-once")
    add("--no-profile", dest="profile", action="store_false", help="do not list GPU kernels")
    add("--reports", type=Path, default=None, help="folder that gets gpu.json and gpu.md, too")
    judged = "run nothing: judge and write again what --out holds, whichever trees it was seen of"
    add("--report-only", dest="recorded", action="store_true", help=judged)
    add(
        "--servers",
        type=int,
        help="servers of each tree and cell; one more where a verdict is in doubt",
    )
    add("--passes", type=int, help="how often each server is asked the script")
    add("--retry", action="store_true", help="run again what failed before")
    return result


def _place(text: str) -> Path:
    return Path(text).absolute()


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table, write gpu.json and gpu.md; returns the exit code."""
    given = vars(parser().parse_args(arguments))
    chosen = dict(name.partition(":")[::2] for name in given.pop("cell"))
    if unknown := [name for name in chosen if name not in CELLS]:
        print(f"error: no cell {', '.join(unknown)}; cells: {', '.join(CELLS)}", file=sys.stderr)
        return 2
    upstream, generated = (Tree(name, given.pop(name)) for name in ("upstream", "generated"))
    for tree in (upstream, generated):
        if not (tree.root / "sglang" / "__init__.py").is_file():
            print(f"error: {tree.root} holds no package sglang", file=sys.stderr)
            return 2
    variables = dict(item.partition("=")[::2] for item in given.pop("set"))
    environment, reports = (
        Environment(given.pop("python"), given.pop("packages"), variables),
        given.pop("reports"),
    )
    counts = {name: int(count) for name, count in chosen.items() if count}
    cells = [CELLS[name] for name in chosen or CELLS]
    plan = Plan((upstream, generated), environment, cells=cells, counts=counts, **given)
    rows = run(plan)
    found = document(rows, _hardware(plan))
    texts = {"gpu.json": json.dumps(found, indent=1, ensure_ascii=True) + "\n"}
    try:
        texts["gpu.md"] = page(found, "Evidence on GPUs")
    except ImportError as error:
        print(f"gpu.md is not written: {error}", file=sys.stderr)
    for folder in (plan.out, *([reports] if reports else [])):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, "utf-8")
    print("\n".join(lines(rows)))
    return 0 if passed(rows) else 1


def _hardware(plan: Plan) -> dict[str, Any]:
    """Return what the cells ran on; where nothing is run, what was written down when they did."""
    path = plan.out / "hardware.json"
    if plan.recorded and path.is_file():
        return dict(json.loads(path.read_text("utf-8")))
    found = describe(plan.environment, plan.trees)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return found


if __name__ == "__main__":
    sys.exit(main())
