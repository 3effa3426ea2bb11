"""Write the figures of the README from reports/deepseek/summary.json: `python -m
benchmarks.readme`.
"""

from __future__ import annotations

import json
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SUMMARY = REPOSITORY / "reports" / "deepseek" / "summary.json"
README = REPOSITORY / "README.md"
START = (
    "<!-- figures: generated from reports/deepseek/summary.json by `python -m benchmarks.readme`, "
    "checked by a test -->"
)
END = "<!-- end of figures -->"


def render(summary: dict[str, object]) -> str:
    """Return the table of figures, from the content of summary.json."""
    upstream, package, decisions = (
        summary["upstream"],
        summary["package_python"],
        summary["decisions"],
    )
    assert isinstance(upstream, dict) and isinstance(package, dict) and isinstance(decisions, dict)
    left = package["lines_after"] / package["lines_before"]
    rows = [
        (
            f"For SGLang {upstream['version'] or upstream['commit'][:12]}, profile "
            f"`{summary['profile']}`:"
        ),
        "",
        "| | upstream | generated |",
        "| --- | ---: | ---: |",
        (
            f"| Python files of the package | {package['files_before']:,} | "
            f"{package['files_after']:,} |"
        ),
        (
            f"| lines of these | {package['lines_before']:,} | {package['lines_after']:,} "
            f"({left:.1%}) |"
        ),
        "",
        f"{decisions['total']:,} conditions, imports and table rows decided in kept files; "
        f"{summary['uncertain']} places listed as uncertain.",
    ]
    return "\n".join(rows)


def updated(readme: str, summary: dict[str, object]) -> str:
    """Return the README with its figures replaced."""
    head, rest = readme.split(START)
    _, tail = rest.split(END)
    return f"{head}{START}\n{render(summary)}\n{END}{tail}"


def main() -> None:
    """Rewrite the README in place."""
    text = README.read_text("utf-8")
    README.write_text(updated(text, json.loads(SUMMARY.read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main()
