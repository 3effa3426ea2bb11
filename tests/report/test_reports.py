"""The reports of one small tree."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from shrinker.check.trees import Trees
from shrinker.emit.tree import Emitted
from shrinker.program.decided import Analysis
from shrinker.program.distributions import decide_distributions
from shrinker.program.saved import load_report
from shrinker.program.symbols.why import FORMAT
from shrinker.program.written import written_imports
from shrinker.report.dependencies import removed_importers
from shrinker.report.fit import Fit
from shrinker.report.summary import area, language, summary_table
from shrinker.report.verification import write_index
from shrinker.report.write import write_reports, write_run
from shrinker.ruleset import Fact, Remove, Root, Ruleset, Walk
from shrinker.syntax.ranges import count_lines
from shrinker.values.edits import Cut
from shrinker.values.errors import InputError
from shrinker.values.folded import Decision, FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.interface import GONE, KEPT, NEVER, Effect, Entries, Interface, Judged
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile, Evidence, Finding
from shrinker.values.upstream import UpstreamTree
from tests.program.small_tree import build, write_tree

WHY = "a rule of a | test"
SOURCES = {
    "__init__.py": "",
    "launch_server.py": "import sglang.srt.models.deepseek_v2\n\nimport sglang.gone\n",
    "gone.py": "A = 1\n",
    "srt/models/deepseek_v2.py": "import sglang.srt.layers.moe.topk\nimport torch\nEntryClass = 1\n",
    "srt/models/llama.py": "A = 1\n" * 10,
    "srt/layers/moe/topk.py": (
        "from sgl_kernel import topk_softmax\n"
        "from sglang.srt.layers.attention import mla_backend\nX = 't.json'\n"
    ),
    "srt/layers/attention/mla_backend.py": "import flashinfer\nimport sglang.srt.layers.moe.topk\n",
    "srt/layers/moe/t.json": "{}\n",
    "srt/layers/moe/README.md": "text\n",
    "/docs/x.md": "text\n",
}
RULES = Ruleset(
    facts=(Fact(id="no-hip", why=WHY, calls=("sglang.is_hip",), value=False),),
    roots=(Root(id="entry", why=WHY, modules=("sglang.launch_server",)),),
    removes=(
        Remove(id="models", why=WHY, feature="other models", modules=("sglang.srt.models.llama",)),
    ),
    walks=(Walk(id="idle", why=WHY, package="sglang.none"),),
)
ENTRIES = Entries(
    (Judged("no-hip", ("another platform", "flag --hip (refused by refuse-hip)")),),
    (Effect("fast", KEPT), Effect("use_hip", GONE, "refuse-hip"), Effect("old", NEVER)),
)
EVIDENCE = (
    Evidence("form", True, (("files", 5),), (), ()),
    Evidence("references", False, (("names", 7),), (Finding("F821", "a.py", 1, "x"),), ()),
)


def run(
    folder: Path, out: Path, seconds: float = 1.0
) -> tuple[dict[str, Any], UpstreamTree, Graph, dict[str, FoldedModule]]:
    tree = write_tree(folder, SOURCES)
    graph, folded = build(tree, RULES)
    launch = "python/sglang/launch_server.py"
    # As if folding had taken the third line away.
    decision = Decision(line=2, rule="no-hip", kind="if", text="is_hip()", outcome="false", lines=1)
    folded[launch] = replace(
        folded[launch], decisions=(decision,), imports=folded[launch].imports[:1]
    )
    graph = replace(
        graph,
        kept={path: reason for path, reason in graph.kept.items() if not path.endswith("gone.py")},
        removed={
            **graph.removed,
            "python/sglang/gone.py": graph.removed["python/sglang/srt/layers/moe/README.md"],
        },
    )
    del folded["python/sglang/gone.py"]
    rows = (
        (path, tree.by_path[path].sha256, count_lines(tree.read(path)), path == launch)
        for path in graph.kept
    )
    files = [
        EmittedFile(path, sha, lines, lines - 1 if cut else lines, cut, None)
        for path, sha, lines, cut in rows
    ]
    files.append(EmittedFile("NOTICE", "", 0, 3, False, None))
    manifest = Manifest(
        "0", "deepseek", "hash", tree.identity, tuple(sorted(files, key=lambda file: file.path))
    )
    required = decide_distributions(tree, RULES, graph, folded, written := written_imports(tree))
    empty: dict[str, list[object]] = {
        key: [] for key in ("modules", "units", "others", "kinds", "best", "gone")
    }
    symbols, cut = {"format": FORMAT, **empty}, Cut(2, 4, "definition f")
    analysis = Analysis(
        graph, folded, {}, written, required, symbols, [], {}, {"docs/x.md": (cut,)}
    )
    trees, emitted = Trees(tree, folder, manifest, RULES), Emitted(manifest, Interface(), {})
    fit = Fit(pinned=True, rows=())
    summary = write_reports(out, trees, analysis, emitted, EVIDENCE, ENTRIES, fit)
    write_run(out, trees.cache, {"fold": seconds}, 1024)
    write_index(out, folder)
    return summary, tree, graph, folded


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    run(folder, folder / "reports")
    return folder / "reports"


def test_lines_of_other_files_that_went_are_decisions(reports: Path) -> None:
    saved = load_report(reports / "graph.json")["decisions"]["docs/x.md"]
    assert saved == [
        [2, "unreachable", "lines", "definition f", "needed by nothing that is kept", 3, 2, 4]
    ]


def test_lists(reports: Path) -> None:
    kept = reports.joinpath("keep.txt").read_text().splitlines()
    assert kept[0] == "# path\tlines before\tlines after\tfirst reason"
    assert "python/sglang/launch_server.py\t3\t2\troot from root:entry" in kept
    assert not any("NOTICE" in row for row in kept)
    removed = reports.joinpath("remove.txt").read_text().splitlines()
    assert "python/sglang/srt/models/llama.py\t10\tmodels\tremoved feature: other models" in removed
    assert removed[1].startswith("docs/x.md\t1\tunreachable\tout of scope")


def test_summary(reports: Path) -> None:
    summary = json.loads(reports.joinpath("summary.json").read_text())
    assert summary["package_python"] == {
        "files_before": 7,
        "files_after": 5,
        "lines_before": 22,
        "lines_after": 10,
    }
    assert summary["by_area"]["srt/models"]["files_after"] == 1
    assert summary["by_language"]["JSON"] == {
        "files_before": 1,
        "files_after": 1,
        "lines_before": 1,
        "lines_after": 1,
    }
    assert summary["decisions"] == {"total": 1, "by_kind": {"if": 1}, "by_rule": {"no-hip": 1}}
    # The launch script lost one line; what shrinker writes itself (NOTICE) is no touched file.
    assert summary["folding"] == {"conditions_decided": 1, "files_touched": 1, "lines_removed": 1}
    assert [item["passed"] for item in summary["evidence"]] == [True, False]
    assert summary["removed_by_rule"]["models"] == 1


def test_dependencies(reports: Path) -> None:
    page = reports.joinpath("DEPENDENCIES.md").read_text()
    assert "srt.models" not in page.split("## Models")[1].split("## Layers")[0]
    assert "| `models.deepseek_v2` | 3 | 3 |" in page
    assert "| deepseek_v2 (1) | sgl_kernel 1 | models.deepseek_v2:1 → layers.moe.topk |" in page
    assert "| `mla_backend` | 1 | 2 | deepseek_v2 (2) | flashinfer 1 |" in page
    assert "| `sgl_kernel.topk_softmax` | 1 | python/sglang/srt/layers/moe/topk.py:1 |" in page
    assert "| `torch` | 1 | yes | python/sglang/srt/models/deepseek_v2.py:2 |" in page
    assert "1 groups of modules import each other in a circle" in page
    assert "```mermaid\nflowchart LR" in page


def test_rules(reports: Path) -> None:
    page = reports.joinpath("rules.md").read_text()
    assert (
        "| `no-hip` | fact | 1 | 1 | 0 | 0 | 0 | another platform; flag --hip (refused by "
        "refuse-hip) | a rule of a \\| test |"
    ) in page
    assert "| `models` | remove | 0 | 0 | 1 | 10 | 0 |" in page
    assert "These rules did nothing in this tree: `idle`." in page


def test_what_flags_do(reports: Path) -> None:
    page = reports.joinpath("interface.md").read_text()
    assert "Of 3 flags that the server still takes, 1 are read as in upstream." in page
    assert (
        "| `--use-hip` | gone | `refuse-hip` |\n| `--old` | none in upstream |  |" in page
        and "--fast" not in page
    )
    effects = json.loads(reports.joinpath("interface.json").read_text())["effects"]
    assert [(row["flag"], row["effect"]) for row in effects] == [
        ("use_hip", "gone"),
        ("old", "none in upstream"),
    ]


def test_removed_page(reports: Path) -> None:
    page = reports.joinpath("REMOVED_FILES.md").read_text()
    assert "| `models` | other models | 1 | 10 |" in page
    assert "| srt/models | 1 | 2 | 10 | 13 | 23.1 % |" in page


def test_the_page_to_look_at(reports: Path) -> None:
    page = reports.joinpath("index.html").read_text("utf-8")
    start = page.index('type="application/json">') + len('type="application/json">')
    data = json.loads(page[start : page.index("</script>", start)])
    files = {path: (before, after, kept) for path, before, after, kept, _ in data["files"]}
    assert files["python/sglang/launch_server.py"] == (3, 2, 1)
    assert files["python/sglang/srt/models/llama.py"] == (10, 0, 0)
    rules = {row[0]: row[2:] for row in data["rules"]}
    assert rules["no-hip"] == ["a rule of a | test", 1, 1, 0, 0] and rules["idle"][1:] == [
        0,
        0,
        0,
        0,
    ]
    assert [row[:2] for row in data["evidence"]] == [["form", "passed"], ["references", "failed"]]
    assert not re.search(
        r"""<(script|link|img|iframe)[^>]+(src|href)=|@import|url\(""",
        page.replace(data_script(page), ""),
    )


def data_script(page: str) -> str:
    """The library, whose texts speak of addresses that it never asks."""
    start = page.index("<script>\n/*") if "<script>\n/*" in page else page.index("<script>")
    return page[start : page.index("</script>", start)]


def test_importers_name_the_decision(tmp_path: Path) -> None:
    _, tree, graph, folded = run(tmp_path, tmp_path / "out")
    rows = removed_importers(graph, folded, written_imports(tree))["python/sglang/gone.py"]
    assert rows == [
        ("python/sglang/launch_server.py", 3, "folded away by no-hip: `is_hip()` is false (line 2)")
    ]


def test_only_the_run_file_changes_with_time(tmp_path: Path) -> None:
    run(tmp_path / "tree", tmp_path / "a", 1.0)
    run(tmp_path / "tree", tmp_path / "b", 2.0)
    different = {
        p.name
        for p in (tmp_path / "a").iterdir()
        if p.read_bytes() != (tmp_path / "b" / p.name).read_bytes()
    }
    assert different == {"run.json"}


def test_table(tmp_path: Path) -> None:
    summary = run(tmp_path, tmp_path / "out")[0]
    console = Console(width=100, record=True, file=open(tmp_path / "log", "w"))  # noqa: SIM115
    console.print(summary_table(summary))
    text = console.export_text()
    assert "7 → 5" in text
    for label in ("conditions decided", "lines removed by folding", "files touched by folding"):
        assert any(row.startswith(f"│ {label}") and "1" in row for row in text.splitlines()), text
    assert "FAILED: 1 findings" in text


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "tree", tmp_path / "out")
    before = (tmp_path / "out" / "keep.txt").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(InputError, match="No space left"):
        run(tmp_path / "tree", tmp_path / "out")
    assert (tmp_path / "out" / "keep.txt").read_bytes() == before
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_measures() -> None:
    assert [count_lines(data) for data in (b"", b"a", b"a\n", b"a\nb", b"\0a\n")] == [0, 1, 1, 2, 0]
    assert area("python/sglang/srt/layers/moe/x.py") == "srt/layers"
    assert area("python/sglang/srt/server_args.py") == "srt"
    assert area("python/sglang/lang/x.py") == "sglang/lang"
    assert area("python/sglang/x.py") == "sglang"
    assert area("sgl-kernel/csrc/x.cu") == "sgl-kernel/"
    assert (language("a/x.cuh"), language("LICENSE")) == ("CUDA", "other")
