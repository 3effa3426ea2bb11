"""``index.html`` of a run: one file, without a network, to look at the tree before reading about it.

A map of all files by lines (ECharts, copied from its npm package: Apache-2.0), a search over files and symbols, and the tables of the other
reports. It is made of what the run has written beside it, so that the page says nothing that the reports do not.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shrinker.report.lists import questionable
from shrinker.report.pages import templates
from shrinker.values.graph import UNREACHABLE

PAGE = "index.html"
_HERE = Path(__file__).parent
_MOST = 800
"""Rows of a table that goes on for long."""


def index_page(folder: Path, earlier: Path) -> bytes:
    """The page of a folder of reports; `earlier`: where ``verify.json`` is, if it is anywhere. Raises OSError when a report cannot be read."""
    data = _data(folder, earlier)
    # `</script>` within a text would end the script that holds it.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    script = (_HERE / "echarts.min.js").read_text("utf-8")
    page = templates(_HERE, escaped=True).get_template("index.html.jinja")
    return page.render(head=data["head"], data=text, echarts=script).encode()


def _data(folder: Path, earlier: Path) -> dict[str, Any]:
    names = ("summary", "graph", "symbols", "rules", "dependencies")
    texts = ((folder / f"{name}.json").read_text("utf-8") for name in names)
    summary, graph, symbols, rules, required = map(json.loads, texts)
    place = earlier / "verify.json"
    verified = json.loads(place.read_text("utf-8")) if place.is_file() else {}
    # Path, lines before and after, whether it is kept, and why.
    files = [(path, int(before), int(after), 1, why) for path, before, after, why in _rows(folder, "keep.txt")]
    for path, before, rule, why in _rows(folder, "remove.txt"):
        files.append((path, int(before), 0, 0, why if rule == UNREACHABLE else f"{rule}: {why}"))
    lines = {path: after for path, _, after, _, _ in files}
    gone: dict[str, list[Any]] = defaultdict(list)
    for name, places in graph["gone"].items():
        for path, line in places:
            gone[path] += (name, line)
    # Names in their modules, and of each node the last step of its best chain.
    modules = symbols.get("modules", [])
    units = [[at, name[len(modules[at][0]) + 1 :], line, int(live)] for at, _, name, line, *_, live in symbols["units"]]
    best = [number for edge in symbols["best"] for number in edge or (-1, 0, 0)]
    searched = {
        "modules": modules,
        "units": units,
        "best": best,
        "others": symbols["others"],
        "kinds": symbols["kinds"],
    }
    effects, counted = rules["effects"], ("decisions", "folded_lines", "files", "lines")
    return {
        "head": {
            "profile": summary["profile"],
            "upstream": summary["upstream"]["spec"],
            "before": sum(row[1] for row in files),
            "after": sum(row[2] for row in files),
        },
        "files": files,
        "symbols": searched,
        "lost": [[f"{module}.{name}", line, rule, why] for module, name, line, _, rule, why in symbols.get("gone", ())],
        "gone": gone,
        "retained": graph["retained"],
        "optional": graph["optional"],
        "rules": [
            [id, kind, graph["whys"].get(id, ""), *(effects.get(id, {}).get(key, 0) for key in counted)]
            for id, (kind, _) in rules["rules"].items()
        ],
        "questionable": questionable(symbols, rules)[:_MOST],
        "uncertain": [[at, why, lines.get(at.partition(":")[0], 0)] for at, why in _rows(folder, "uncertain.txt")],
        "errors": [*_rows(folder, "errors.txt")],
        "distributions": [[name, row["kept"], row["reason"]] for name, row in required["distributions"].items()],
        "evidence": [*_evidence(summary, verified, graph["tree"])],
        "limits": verified.get("not_shown", []),
    }


def _rows(folder: Path, name: str) -> Iterator[list[str]]:
    return (line.split("\t") for line in (folder / name).read_text("utf-8").splitlines()[1:])


def _evidence(summary: Mapping[str, Any], verified: Mapping[str, Any], tree: str) -> Iterator[list[Any]]:
    """Level, what came of it, how much was looked at, and of which tree where it is not this one."""
    levels = {level["level"]: (level, True, "") for level in summary["evidence"]}
    for name, level in verified.get("levels", {}).items():
        other = "" if verified["tree"] == tree else f"another one, {verified['tree'][:12]}"
        levels.setdefault(name, (level, level["ran"], other))
    for name, (level, ran, other) in levels.items():
        said = "passed" if level["passed"] else "failed"
        yield [name, said if ran else "not run", sum(level["checks"].values()), other]
