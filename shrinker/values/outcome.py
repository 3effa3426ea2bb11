"""What `emit` and `verify` return."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class EmittedFile:
    """One file of the generated tree."""

    path: str
    sha256: str
    lines_before: int
    """0 for a file that shrinker writes itself (NOTICE, SHRINK.json …)."""
    lines_after: int
    changed: bool
    digest: str | None
    """`values.form.digest` of the decided tree for a changed Python file."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that evidence found wrong (or noteworthy)."""

    check: str
    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Result of one evidence level."""

    level: str
    """``form``, ``references`` …"""
    passed: bool
    checks: tuple[tuple[str, int], ...]
    """Name of each check and how many things it looked at: a check that looked at nothing proves
    nothing.
    """
    findings: tuple[Finding, ...]
    """Why it failed; empty when passed."""
    inherited: tuple[Finding, ...]
    """What is wrong in upstream in the same place too, and so is not held against the tree."""
    open: tuple[Finding, ...] = ()
    """What a person has to say something about: held against the tree only where somebody answers
    for the upstream, see `held`.
    """

    def asked(self) -> "Evidence":
        """Return the same, with what was found as questions."""
        return replace(self, passed=True, findings=(), open=(*self.findings, *self.open))

    def held(self) -> "Evidence":
        """Return the same, with what is open held against the tree."""
        return replace(
            self,
            passed=self.passed and not self.open,
            findings=(*self.findings, *self.open),
            open=(),
        )


@dataclass(frozen=True, slots=True)
class LevelResult:
    """Evidence, with what a person reads beside it."""

    evidence: Evidence
    figures: tuple[tuple[str, str], ...] = ()
    """Name and value in words: times, sizes, numbers that are no checks."""
    limits: tuple[str, ...] = ()
    """What this run could not show, a sentence each."""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return self.evidence.passed

    @property
    def ran(self) -> bool:
        """Whether anything was looked at; a level that cannot run here says so in `limits` and
        finds nothing.
        """
        return bool(self.evidence.checks or self.evidence.findings)
