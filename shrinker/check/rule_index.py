"""What the rules say that goes, by the names that code writes: a second reading of them, apart from the one that folds. No test is decided here."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_name_matches
from shrinker.ruleset.models import Shape

_TABLE = re.compile(r"E=(\d+),N=(\d+),")


@dataclass(frozen=True)
class RuleIndex:
    """The rules of a profile, as far as a judge asks them. Can be sent to another process."""

    rules: Ruleset

    def unregistered(self, function: str, text: str) -> bool:
        """True when a rule says that nothing is asked for which this function files under this text."""
        return any(
            (text in rule.never or (bool(rule.only) and text not in rule.only))
            and any_name_matches(rule.registers, function)
            for rule in self.rules.domains
        )

    @cached_property
    def _members(self) -> tuple[str, ...]:
        return tuple(".".join(p.split(".")[-2:]) for rule in self.rules.removes for p in rule.members)

    def removes_member(self, written: str) -> bool:
        """True when a rule names a member of an enumeration, by its class as modules write it, as a removed one."""
        # Where the class is does not matter: a module may have it from anywhere.
        return written.count(".") == 1 and any_name_matches(self._members, written)

    def removes_module(self, dotted: str) -> bool:
        """True when a rule names this module, or one that it would be in, as a removed one."""
        return any(rule.takes_module(dotted) for rule in self.rules.removes)

    def walked_past(self, module: str) -> bool:
        """True for a module of a package that code walks, which by the rules does not find it."""
        return any(
            module.startswith(f"{package}.") and not any(f"{module}.".startswith(f"{package}.{name}.") for name in kept)
            for package, kept in self.rules.walked().items()
        )

    def removes(self, path: str) -> bool:
        """True when a rule names this file as a removed one: neither it spares it, nor may one of its shapes ask for the table."""
        taking = (rule for rule in self.rules.removes if rule.takes_path(path))
        return any(not (rule.shapes and _may_be_asked_for(path, rule.shapes)) for rule in taking)


def _may_be_asked_for(path: str, shapes: Iterable[Shape]) -> bool:
    """True for a tuning table whose experts and width are a rank's share of one of these models, and for what names no shape.

    Read from the table's side: its experts times the ranks are the routed ones and at most 128 redundant ones, where up to eight of
    them may be shared ones.
    """
    named = _TABLE.match(path.rpartition("/")[2])
    if named is None:
        return True
    experts, width = map(int, named.groups())
    return any(
        shape.width % width == 0
        and shape.width // width <= 64
        and any(
            # The fewest ranks whose shares are all experts, and the redundant ones that these make.
            -(-shape.experts // share) <= 320 and -shape.experts % share <= 128
            for share in range(max(1, experts - 8), experts + 1)
        )
        for shape in shapes
    )
