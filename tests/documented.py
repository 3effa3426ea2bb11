"""Every command that README names, and how it runs in a clone of this checkout (`tests/clones.py`).

`make readme` runs all of them, `make test` the quick ones. A command that is new in README needs its row in `ROWS`. It is run as it is
written; `instead` says what runs where that cannot be, and `why`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

REPORTS = ("reports/", "README.md")
LISTINGS = ("dist/sglang_deepseek/", "reports/deepseek/")
"""First lines of blocks that list files and hold no command."""
_PROGRAMS = ("make ", ".venv/bin/", "shrinker ", "pip ", "python ", "PYTHONPATH=", "uv ", "uvx ", "pipx ", "docker ")
"""How a command begins that stands within a sentence."""


@dataclass(frozen=True)
class Row:
    """A command of README.

    Texts may name `{tmp}` (a folder beside the clone), `{remote}` (an empty bare repository) and `{simulated}` (the Python of the
    environment of simulated runs).
    """

    command: str
    instead: str = ""
    why: str = ""
    """Why it does not run as it is written."""
    slow: bool = False
    """Only `make readme` runs it."""
    code: int = 0
    says: str = ""
    """Text of what it prints."""
    writes: tuple[str, ...] = ()
    """What of the repository it is there to write; all else is as before."""
    then: str = ""
    """What makes the tree again that later commands ask about."""
    env: Mapping[str, str] = field(default_factory=dict)


_GITHUB = "needs GitHub"
_HOURS = "takes hours"
_HISTORY = "needs a clone of upstream"
_GPUS = "needs GPUs"
_MACHINE = "would take what other work on this machine uses"

ROWS = (
    Row("make shrink", says="evidence: references", writes=REPORTS),
    Row("make test", "make --dry-run test", "is what runs this"),
    Row(
        "PYTHONPATH=dist/sglang_deepseek/python python -m sglang.launch_server …",
        "{simulated} -m equivalence.simulation dist/sglang_deepseek/python -- -m sglang.launch_server --help",
        _GPUS,
        slow=True,
        says="--model-path",
    ),
    Row(
        "pip install ./dist/sglang_deepseek/python",
        "{simulated} -m pip install --quiet --no-deps --target {tmp}/installed ./dist/sglang_deepseek/python"
        " && .venv/bin/shrinker verify --level form",
        "all that the server requires is tens of gigabytes; and the tree must be as it was",
        slow=True,
        says="form: passed",
        then="rm -rf dist/sglang_deepseek && make shrink",
    ),
    Row(
        "pip install .",
        "{simulated} -m pip install --quiet --no-deps --target {tmp}/tool . && cd {tmp} && PYTHONPATH={tmp}/tool"
        " {tmp}/checkout/.venv/bin/python -m shrinker.cli profiles",
        "beside the environment, not in it",
        says="tool/shrinker/rules/profiles/deepseek.toml",
    ),
    Row("make upstream", "make --dry-run upstream", _GITHUB, says="submodule update"),
    Row(".venv/bin/shrinker explain RadixCache.match_prefix", says="kept: sglang.srt.mem_cache.radix_cache"),
    Row(".venv/bin/shrinker explain sglang.srt.utils.get_device_count", says="imports it from sglang.srt.utils.common"),
    Row(".venv/bin/shrinker explain --retained srt/lora/", says="leaves: python/sglang/srt/lora/"),
    Row(".venv/bin/shrinker explain --attention-backend", says="refuse-attention-backends"),
    Row(".venv/bin/shrinker why sglang.srt.layers.moe.topk", says="module:sglang.srt.layers.moe.topk"),
    Row(".venv/bin/shrinker why RadixCache.match_prefix", says="RadixCache.match_prefix"),
    Row(
        ".venv/bin/shrinker why-not --why-live is_multimodal_chunked_prefill_supported",
        says="is_multimodal_chunked_prefill_supported",
    ),
    Row(".venv/bin/shrinker why-not mem_cache/common.py:181", says="mem_cache/common.py:181"),
    Row(".venv/bin/shrinker why rmsnorm", says="rmsnorm"),
    Row(".venv/bin/shrinker why-not sglang.srt.models.qwen3", says="models/qwen3.py"),
    Row(".venv/bin/shrinker why --sample 20", says="symbol:"),
    Row(".venv/bin/shrinker dependencies", says="torch"),
    Row(".venv/bin/shrinker kernels", says="kernels reached"),
    Row(".venv/bin/shrinker profiles", says="deepseek-r1-minimal: "),
    Row(".venv/bin/shrinker rules", says="platform-hip "),
    Row(".venv/bin/shrinker rules platform-hip", says='id = "platform-hip"'),
    Row(".venv/bin/shrinker ablate switch-aiter", slow=True, says="switch-aiter: without it"),
    Row(".venv/bin/shrinker cross-check", slow=True),
    Row(".venv/bin/shrinker leftovers", slow=True),
    Row(".venv/bin/shrinker diff release:0.5.14 release:0.5.15.post1", slow=True, code=1, says="0.5.15.post1"),
    Row(".venv/bin/shrinker verify --level form --level references", says="references: passed"),
    Row(
        "shrinker verify --level embedders",
        ".venv/bin/shrinker verify --level embedders",
        "in the environment",
        slow=True,
        says="embedders: passed",
    ),
    Row(
        "shrinker verify --program FOLDER",
        ".venv/bin/shrinker verify --program equivalence",
        "a folder that is here",
        says="embedders: passed",
    ),
    Row(
        "shrinker verify --tests FOLDER",
        ".venv/bin/shrinker verify --tests docs",
        "a folder that is here, and has none",
        code=2,
        says="has no test that calls",
    ),
    Row(
        "shrinker verify --level native",
        ".venv/bin/shrinker verify --level native",
        "in the environment; a release has no kernel library",
        says="sgl-kernel is not in the tree",
    ),
    Row(".venv/bin/shrinker verify --all", slow=True, says="trace: passed", writes=REPORTS),
    Row(
        ".venv/bin/shrinker mutate --count 200 --seed 0 --seed 1",
        ".venv/bin/shrinker mutate --count 5 --seed 0 --seed 1",
        _HOURS,
        slow=True,
        writes=REPORTS,
    ),
    Row(".venv/bin/shrinker mutate --breakages", slow=True, writes=REPORTS),
    Row(".venv/bin/shrinker verify --level gpu -- --help", says="--checkpoints"),
    Row(".venv/bin/shrinker --help", says="Commands:"),
    Row(
        ".venv/bin/shrinker --install-completion",
        "bash -c '.venv/bin/shrinker --install-completion; exit $?'",
        "asks which shell it runs in",
        says="completion installed in {tmp}/home",
        env={"HOME": "{tmp}/home"},
    ),
    Row(
        "python -m shrinker", ".venv/bin/python -m shrinker --version", "ends with what may be asked", says="shrinker "
    ),
    Row(
        "make diff OLD=release:0.5.14 NEW=release:0.5.15.post1",
        "make diff OLD=release:0.5.14 NEW=release:0.5.15.post1 PAGES=dist/pages && test -s dist/pages/diff.html",
        "with its pages",
        slow=True,
        says="pages: dist/pages/diff.md",
    ),
    Row("make diff", "make --dry-run diff", "has no sides here; the one above is run"),
    Row(
        "make bump COMMIT=main SUMMARY=dist/summary.md",
        "make bump RELEASE=0.5.14 SUMMARY=dist/summary.md && test -s dist/summary.md",
        _GITHUB,
        slow=True,
        writes=(*REPORTS, "shrinker/upstream.toml"),
        then="make shrink",
    ),
    Row(
        "make publish REMOTE=git@host:me/tree.git BRANCH=deepseek",
        "make publish REMOTE={remote} BRANCH=deepseek && git -C {remote} show --stat --oneline deepseek -- SHRINK.json",
        "to a repository of this machine",
        says="SHRINK.json",
    ),
    Row(
        "make check-upstream UPSTREAM=release:0.5.16",
        "make check-upstream UPSTREAM=release:0.5.14",
        "a release that there is",
        slow=True,
    ),
    Row("make check-upstream", "make --dry-run check-upstream", "has no upstream here; the one above is run"),
    Row("make sweep", "make sweep UPSTREAM=release:0.5.15.post1", _HOURS, slow=True, writes=("benchmarks/",)),
    Row(
        "make review BASE=commit",
        "make review BASE=HEAD",
        "a commit that there is",
        slow=True,
        says="pages: dist/review",
    ),
    Row(
        "make comment",
        "make comment NUMBER=1 PAGES=dist && cat {tmp}/asked",
        "a program stands for GitHub's",
        says="pr comment 1",
    ),
    Row("make propose", "make propose SUMMARY=dist/summary.md", "nothing is there to propose", says="newest already"),
    Row("make workflows", "make --dry-run workflows", _GITHUB, says="actionlint"),
    Row("make pairs SOURCE=…", ".venv/bin/python -m benchmarks.pairs --help", _HISTORY, says="--repository"),
    Row("python -m benchmarks.kills", ".venv/bin/python -m benchmarks.kills --help", _HOURS, says="usage"),
    Row(
        "python -m benchmarks.readme", ".venv/bin/python -m benchmarks.readme", "in the environment that make prepares"
    ),
    Row("make bench", ".venv/bin/python -m benchmarks --help", _MACHINE, says="usage"),
    Row("make clean-cache", env={"SHRINKER_CACHE": "{tmp}/cache"}),
    Row("make simulation", "make --dry-run simulation", "2 GB, and the one of this checkout is used"),
    Row("make verify", "make --dry-run verify", "is `shrinker verify --all`, which is run above", says="--all"),
    Row("make verify LEVEL=imports", slow=True, says="imports: passed"),
    Row(
        "python -m equivalence.simulation TREE/python --capability 10.0 -- -m sglang.launch_server --help",
        "{simulated} -m equivalence.simulation dist/sglang_deepseek/python --capability 10.0 -- -m sglang.launch_server --help",
        "in the environment of simulated runs",
        slow=True,
        says="--model-path",
    ),
    Row(
        'make verify-gpu GPU="--python ENVIRONMENT/bin/python --checkpoints DIR --gpus 0,1"',
        'make verify-gpu GPU="--help"',
        _GPUS,
        says="--checkpoints",
    ),
    Row(
        "pip install sglang==…",
        "{simulated} -m pip download --quiet --no-deps --dest {tmp}/wheels sglang==0.5.15.post1",
        "all that it requires is tens of gigabytes",
        slow=True,
    ),
    Row("python -m equivalence.gpu", ".venv/bin/python -m equivalence.gpu --help", _GPUS, says="--checkpoints"),
    Row(
        "python -m equivalence.gpu.checkpoint --out DIR v3-bf16 v3-fp8 v32-bf16 v2-lite",
        "{simulated} -m equivalence.gpu.checkpoint --help",
        "needs PyTorch for CUDA, and gigabytes",
        slow=True,
        says="--out",
    ),
)


def documented(text: str) -> list[str]:
    """The commands of a Markdown page, each once: lines of its code blocks, and what in a sentence begins with a program's name."""
    found: list[str] = []
    fenced = listing = False
    # Whether the line before ends a paragraph: an indented line begins a block there.
    free = True
    for line in text.splitlines():
        if line.startswith("```"):
            fenced, listing, free = not fenced, False, True
        elif not line.strip():
            listing, free = False, True
        elif fenced or (free and line.startswith("    ")):
            listing = listing or line.strip() in LISTINGS
            command = re.split(r"\s+#\s", line)[0].strip()
            if command and not listing and not command.startswith("#"):
                found.append(command)
        else:
            found += [span for span in re.findall(r"`([^`]+)`", line) if span.startswith(_PROGRAMS)]
            free = False
    return list(dict.fromkeys(found))
