"""docs/rules.md from the models of the rules: `python -m tools.rules_page` writes it, a test
compares it.
"""

from pathlib import Path

from shrinker.report.place import cell, templates
from shrinker.ruleset.load import KINDS
from shrinker.ruleset.models import Claim, Rule

PAGE = Path(__file__).resolve().parents[1] / "docs/rules.md"


def page() -> str:
    """Return the page: what every rule has, then each kind with its keys."""
    kinds = (
        (f"`[[{kind}]]`", model, Claim if issubclass(model, Claim) else Rule)
        for kind, (_, model) in KINDS.items()
    )
    own = [(title, model, wider.model_fields) for title, model, wider in kinds]
    environment = templates(Path(__file__).parent)
    environment.filters["plain"] = lambda text: cell(text.replace("``", "`"))
    sections = [("Every rule", Rule, ()), ("Facts and domains", Claim, Rule.model_fields), *own]
    return environment.get_template("rules_page.md.jinja").render(sections=sections)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
