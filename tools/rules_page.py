"""docs/rules.md from the models of the rules: `python -m tools.rules_page` writes it, a test compares it."""

import re
from pathlib import Path

from shrinker.ruleset.load import KINDS
from shrinker.ruleset.models import Claim, Rule

PAGE = Path(__file__).resolve().parents[1] / "docs/rules.md"
_HEAD = """# Rules

Written by `python -m tools.rules_page` from `shrinker/ruleset/models/`.

Rules lie below `shrinker/rules/`, one file a subject. A profile (`profiles/NAME.toml`) says which files count: `include` names files and folders,
`extends` another profile, `drop` what of it goes. Names are qualified (`sglang.srt.utils.is_hip`); `*` stands for a part of a name, `**` for several names.
A broken rule ends the run with file, line and the nearest valid name.
"""


def page() -> str:
    """The page: what every rule has, then each kind with its keys."""
    parts = [_HEAD, _section("Every rule", Rule, set()), _section("Facts and domains", Claim, set(Rule.model_fields))]
    parts += [
        _section(f"`[[{kind}]]`", model, set((Claim if issubclass(model, Claim) else Rule).model_fields))
        for kind, (_, model) in KINDS.items()
    ]
    return "\n".join(parts)


def _section(title: str, model: type[Rule], known: set[str]) -> str:
    rows = [
        f"| `{field.alias or name}` | {'yes' if field.is_required() else ''} | {_plain(field.description or '')} |\n"
        for name, field in model.model_fields.items()
        if name not in known
    ]
    table = "| key | required | meaning |\n| --- | --- | --- |\n" + "".join(rows) if rows else ""
    return f"## {title}\n\n{_plain(model.__doc__ or '')}\n\n{table}"


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("``", "`").replace("|", "\\|")).strip()


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
